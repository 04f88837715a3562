# frozen_string_literal: true

require "test_helper"
require "open3"
require "tmpdir"

# scripts/demo without a terminal, as a pipe or CI meets it.
class DemoTest < Minitest::Test
  DEMO = File.expand_path("../../scripts/demo", __dir__)
  PATIENCE = 60 # seconds, for a busy machine

  def setup
    @folder = Dir.mktmpdir("demo-test")
  end

  def teardown
    FileUtils.remove_entry(@folder)
  end

  def test_prints_one_table_that_shows_the_leak_and_leaves_nothing_behind
    table, words, status = Open3.capture3(environment, DEMO, "--duration", "3", stdin_data: "")
    assert status.success?, words
    assert_match(/\bOrder$/, table)
    assert_nothing_left(words)
  end

  def test_ends_at_once_and_leaves_nothing_behind_when_it_is_told_to
    Open3.popen2e(environment, DEMO, "--duration", "600") do |stdin, out, waiter|
      stdin.close
      words = read_until(out, /the shop is open/)
      Process.kill(:TERM, waiter.pid)
      assert waiter.join(PATIENCE), "still runs"
      assert_equal 143, waiter.value.exitstatus
      assert_nothing_left(words)
    end
  end

  def test_a_kill_that_no_trap_sees_leaves_nothing_behind
    Open3.popen2e(environment, DEMO, "--duration", "600") do |stdin, out, waiter|
      stdin.close
      words = read_until(out, /the shop is open/)
      Process.kill(:KILL, waiter.pid)
      waiter.join
      ends = Process.clock_gettime(Process::CLOCK_MONOTONIC) + PATIENCE
      sleep 0.1 until (processes.empty? && Dir.empty?(@folder)) || Process.clock_gettime(Process::CLOCK_MONOTONIC) > ends
      assert_nothing_left(words)
    end
  end

  def test_says_what_an_option_wants
    _, words, status = Open3.capture3(DEMO, "--port", "http")
    assert_equal 1, status.exitstatus
    assert_includes words, "--port wants a whole number, not 'http'"
  end

  private

  # The folder is in the environment of all that the demo starts.
  def environment
    {"TMPDIR" => @folder, "TERM" => nil}
  end

  def read_until(out, pattern)
    words = +""
    words << out.readpartial(4096) until words.match?(pattern)
    words
  end

  def assert_nothing_left(words)
    assert_equal [], Dir.children(@folder), words
    assert_equal [], processes, words
  end

  # What of ours still runs. The watch over the demo sleeps up to a second more.
  def processes
    commands = Dir.glob("/proc/[0-9]*").filter_map do |process|
      ours = File.read("#{process}/environ").include?("TMPDIR=#{@folder}")
      File.read("#{process}/cmdline").tr("\0", " ").strip if ours
    rescue SystemCallError
      nil # it ended meanwhile, or is somebody else's
    end
    commands - ["sleep 1"]
  end
end
