# Made by scripts/manual of what memtop says of itself.
# shellcheck shell=bash

# Processes that a probe listens in.
_memtop_pids() {
    local socket
    for socket in "${XDG_RUNTIME_DIR:-/nonexistent}/memtop/"*.sock "${TMPDIR:-/tmp}/memtop-$UID/"*.sock; do
        if [[ -S $socket && ${socket##*/} =~ ^[0-9]+\.sock$ ]]; then
            socket=${socket##*/}
            echo "${socket%.sock}"
        fi
    done
}

_memtop() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' words='' i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        tree|attach|tags|ps|record|replay|diff|export|run|check|verify|cut|doctor|help)
            command=${COMP_WORDS[i]}
            break
            ;;
        esac
    done
    case $prev in
    --theme|-t) mapfile -t COMPREPLY < <(compgen -W 'default mono colorblind' -- "$cur") && return ;;
    --format|-f) mapfile -t COMPREPLY < <(compgen -W 'folded speedscope pprof csv csv-paths json html' -- "$cur") && return ;;
    --socket|-s|--config|-c|--output|-o|--record|-R) mapfile -t COMPREPLY < <(compgen -f -- "$cur") && return ;;
    --wait|-w|--duration|-d|--max-size|-m|--speed|-x|--at|-@|--from|-F|--to|-T|--max-growth|-g|--warmup|-W|--mode|-O|--interval|-i|--budget|-B|--depth|-D|--trace|-C) return ;;
    esac
    case $command in
    '')
        words='--socket --once --json --all --plain --readonly --merged --ascii --no-mouse --theme --config --print-config --version --help'
        mapfile -t COMPREPLY < <(compgen -W 'tree attach tags ps record replay diff export run check verify cut doctor help' -- "$cur"; compgen -W "$(_memtop_pids)" -- "$cur")
        ;;
    tree)
        words='--socket --once --json --all --plain --readonly --wait --pin --ascii --no-mouse --theme --config --print-config --version --help'
        mapfile -t COMPREPLY < <(compgen -W "$(_memtop_pids)" -- "$cur")
        ;;
    attach)
        words='--once --json --all --plain --readonly --wait --mode --interval --budget --depth --trace --ascii --no-mouse --theme --config --print-config --version --help'
        mapfile -t COMPREPLY < <(compgen -W "$(_memtop_pids)" -- "$cur")
        ;;
    tags)
        words='--socket --json --ascii --no-mouse --theme --config --print-config --version --help'
        mapfile -t COMPREPLY < <(compgen -W "$(_memtop_pids)" -- "$cur")
        ;;
    ps)
        words='--json --wait --ascii --no-mouse --theme --config --print-config --version --help'
        ;;
    record)
        words='--socket --readonly --output --duration --max-size --ascii --no-mouse --theme --config --print-config --version --help'
        mapfile -t COMPREPLY < <(compgen -W "$(_memtop_pids)" -- "$cur")
        ;;
    replay)
        words='--once --json --all --speed --at --ascii --no-mouse --theme --config --print-config --version --help'
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        ;;
    diff)
        words='--json --all --from --to --view --ascii --no-mouse --theme --config --print-config --version --help'
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        ;;
    export)
        words='--all --output --at --format --bytes --ascii --no-mouse --theme --config --print-config --version --help'
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        ;;
    run)
        words='--json --all --readonly --output --record --ascii --no-mouse --theme --config --print-config --version --help'
        mapfile -t COMPREPLY < <(compgen -c -- "$cur")
        ;;
    check)
        words='--json --output --duration --from --to --max-growth --warmup --ascii --no-mouse --theme --config --print-config --version --help'
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        ;;
    verify)
        words='--ascii --no-mouse --theme --config --print-config --version --help'
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        ;;
    cut)
        words='--output --from --to --ascii --no-mouse --theme --config --print-config --version --help'
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        ;;
    doctor)
        words='--json --ascii --no-mouse --theme --config --print-config --version --help'
        ;;
    help)
        words='--socket --once --json --all --plain --readonly --wait --pin --ascii --no-mouse --theme --config --print-config --version --help'
        mapfile -t COMPREPLY < <(compgen -W 'tree attach tags ps record replay diff export run check verify cut doctor help' -- "$cur")
        ;;
    esac
    if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    fi
}

complete -o filenames -F _memtop memtop
