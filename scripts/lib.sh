# shellcheck shell=bash
# What the scripts share. Source it first; it goes to the repository's root.
#
# Words for people go to standard error, so that standard output stays what
# was asked for.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

# A bare system has no locale set at all, and then neither Ruby nor ncurses
# knows UTF-8. C.UTF-8 is part of Debian's libc.
if [[ -z ${LC_ALL:-}${LC_CTYPE:-}${LANG:-} ]]; then
    export LANG=C.UTF-8
fi

say() {
    printf '%s\n' "$*" >&2
}

die() {
    say "${0##*/}: $*"
    exit 1
}

# usage STATUS: the comment at the top of the script, which is its help.
usage() {
    sed -n '2,/^$/ s/^# \{0,1\}//p' "$0"
    exit "$1"
}

# quietly WORDS COMMAND…: run it, saying only what is done and how long it
# took. What it printed is shown when it fails.
quietly() {
    local words=$1 log started=$SECONDS status=0
    shift
    log=$(mktemp)
    printf '%s … ' "$words" >&2
    "$@" >"$log" 2>&1 </dev/null || status=$?
    if ((status == 0)); then
        say "done ($((SECONDS - started)) s)"
    else
        say "failed (status $status): $*"
        tail -n 60 "$log" >&2
    fi
    rm -f "$log"
    return "$status"
}

# build_folder PRESET: where CMakePresets.json puts it.
build_folder() {
    if [[ $1 == default ]]; then
        echo build
    else
        echo "build-${1#ci-}"
    fi
}

# configure PRESET: read what there is to build.
configure() {
    quietly "configuring $(build_folder "$1")" cmake --preset "$1"
}

# compile PRESET: build what changed; make configures again by itself when it has to.
compile() {
    local folder
    folder=$(build_folder "$1")
    if [[ ! -e $folder/Makefile ]]; then
        configure "$1"
    fi
    quietly "building $folder" cmake --build "$folder" --parallel "$(nproc)"
}
