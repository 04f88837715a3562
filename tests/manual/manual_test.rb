# frozen_string_literal: true

require "test_helper"
require "fileutils"
require "open3"
require "pty"
require "socket"
require "timeout"
require "tmpdir"

# What man pages and completions say is what the program takes, and shells take it.
class ManualTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)
  PROGRAM = "#{ROOT}/build/bin/memtop"
  COMPLETIONS = "#{ROOT}/completions"

  def setup
    @folder = Dir.mktmpdir("memtop-manual")
    FileUtils.mkdir("#{@folder}/memtop")
    @server = UNIXServer.new("#{@folder}/memtop/4120.sock")
    FileUtils.touch("#{@folder}/night.memtop")
  end

  def teardown
    @server.close
    FileUtils.rm_rf(@folder)
  end

  def tables
    @tables ||= `#{PROGRAM} --tables`.lines(chomp: true).map { |line| line.split("\t", -1) }
  end

  def commands = tables.filter_map { |kind, name| name if kind == "command" && !name.empty? }

  # Long names of the options.
  def options = tables.filter_map { |kind, name| "--#{name}" if kind == "option" }

  # [output, status]
  def run_in(*command)
    environment = { "XDG_RUNTIME_DIR" => @folder, "PATH" => "#{File.dirname(PROGRAM)}:#{ENV['PATH']}", "LC_ALL" => "C.UTF-8" }
    Timeout.timeout(60) { Open3.capture2e(environment, *command, chdir: @folder) }
  end

  def test_manual_and_completions_are_what_the_program_says_of_itself
    said, status = Open3.capture2e("#{ROOT}/scripts/manual", "--check")
    assert status.success?, said
  end

  def test_the_manual_has_every_option_and_command_of_the_help
    help = `#{PROGRAM} --help`
    page = File.read("#{ROOT}/man/memtop.1")
    help.scan(/^  -(.), --([\w-]+)/) do |letter, name|
      assert_match(/Fl (\\&)?#{Regexp.escape(letter)} /, page)
      assert_match(/\\&-#{name}( Ar .*)?$/, page)
    end
    help[/^Use:\n(.*?)\n\n/m, 1].scan(/^  memtop ([a-z]+)/).flatten.each do |name|
      assert_includes page, ".Xr memtop-#{name} 1"
      assert_path_exists "#{ROOT}/man/memtop-#{name}.1"
    end
  end

  def test_man_shows_every_page_and_mandoc_has_no_complaint
    skip "mandoc is not installed: scripts/setup check" unless system("which mandoc", out: File::NULL)
    pages = Dir.glob("#{ROOT}/man/*")
    said, = run_in("mandoc", "-Tlint", "-W", "warning", *pages)
    assert_empty said
    pages.each do |page|
      shown, status = run_in("mandoc", "-Tutf8", page)
      assert status.success?
      assert_includes shown.gsub(/.\u0008/, ""), "DESCRIPTION"
    end
  end

  # What bash offers for a line, the last word of which may be begun.
  def bash(*words)
    script = "source #{COMPLETIONS}/memtop.bash; COMP_WORDS=(memtop \"$@\"); COMP_CWORD=$#; _memtop; printf '%s\\n' \"${COMPREPLY[@]}\""
    said, status = run_in("bash", "-euo", "pipefail", "-c", script, "bash", *words)
    assert status.success?, said
    said.split("\n")
  end

  def test_bash_completes_commands_processes_options_and_values
    assert_empty commands + ["4120"] - bash("")
    assert_equal ["verify"], bash("ver")
    assert_includes bash("tree", "Order", ""), "4120"
    assert_equal %w[default], bash("--theme", "de")
    assert_equal %w[pprof], bash("export", "night.memtop", "--format", "pp")
    assert_equal %w[night.memtop], bash("replay", "ni")
    assert_equal %w[--max-growth], bash("check", "night.memtop", "--max")
    every = (commands + [nil]).flat_map { |command| bash(*[command].compact, "--") }.uniq
    assert_equal options.sort, every.sort
  end

  def fish(line)
    said, status = run_in("fish", "--no-config", "-c", "source #{COMPLETIONS}/memtop.fish; complete -C #{line.inspect}")
    assert status.success?, said
    said.lines.map { |each| each.split("\t").first.chomp }
  end

  def test_fish_completes_commands_processes_options_and_values
    skip "fish is not installed: scripts/setup test" unless system("which fish", out: File::NULL)
    assert_empty commands + ["4120"] - fish("memtop ")
    assert_equal ["verify"], fish("memtop ver")
    assert_includes fish("memtop tree Order "), "4120"
    assert_equal %w[default], fish("memtop --theme de")
    assert_equal %w[pprof], fish("memtop export night.memtop --format pp")
    assert_equal %w[night.memtop], fish("memtop replay ni")
    every = (commands + [nil]).flat_map { |command| fish("memtop #{command} --") }.grep(/\A--/).uniq
    assert_equal options.sort, every.sort
  end

  # Type into a real zsh and read until it says the words.
  def zsh(typed, words)
    environment = { "XDG_RUNTIME_DIR" => @folder, "TERM" => "dumb", "HOME" => @folder, "PS1" => "ready>" }
    PTY.spawn(environment, "zsh", "-f", "-i", chdir: @folder) do |output, input, pid|
      read_until(output, "ready>")
      input.puts("fpath=(#{COMPLETIONS} $fpath); autoload -U compinit; compinit -D -u; setopt no_beep; PS1='go'on'>'")
      read_until(output, "goon>")
      input.write("memtop #{typed}\t")
      return read_until(output, words)
    ensure
      Process.kill(:KILL, pid)
    end
  end

  def read_until(output, words)
    said = +""
    Timeout.timeout(30) { said << output.readpartial(4096) until said.include?(words) }
    said
  rescue Timeout::Error
    flunk "zsh does not say #{words.inspect}, but #{said.inspect}"
  end

  def test_zsh_completes_commands_processes_options_and_values
    skip "zsh is not installed: scripts/setup test" unless system("which zsh", out: File::NULL)
    zsh("ver", "verify ")
    zsh("tree Order 41", "4120 ")
    zsh("--theme def", "default ")
    zsh("export night.memtop --format pp", "pprof ")
    zsh("replay ni", "night.memtop ")
    zsh("check night.memtop --max", "--max-growth ")
  end
end
