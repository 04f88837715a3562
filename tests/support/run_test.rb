# frozen_string_literal: true

require "test_helper"
require_relative "run"

# Who counts the tests has to be right about every way a program can go wrong.
class RunTest < Minitest::Test
  # Runs shell scripts as test programs; [passed, failed, skipped].
  def count(*scripts, seconds: 30)
    programs = scripts.map.with_index do |script, index|
      Program.new(name: "program #{index}", command: ["sh", "-c", script], env: {}, folder: ".",
                  seconds: seconds, serial: false)
    end
    tally(programs)
  end

  def tally(programs)
    report = Report.new(verbose: false)
    @good = nil
    @said, = capture_io do
      Runner.new(jobs: 2).run(programs) { |run| report.add(run) }
      @good = report.print
    end
    @said.lines.last.scan(/\d+/).map(&:to_i)
  end

  def test_counts_cases_not_programs
    assert_equal [3, 0, 0], count("echo 1..2; echo ok 1 - a; echo ok 2 - b", "echo 1..1; echo ok 1 - a")
    assert @good
  end

  def test_adds_up_the_groups_of_one_program
    assert_equal [2, 0, 0], count("for g in 1 2; do echo 1..1; echo ok 1 - a; done")
  end

  def test_shows_what_a_failing_program_printed
    assert_equal [1, 1, 0], count("echo 1..2; echo ok 1 - a; echo not ok 2 - b; echo '# 1 != 2'; exit 1")
    assert_includes @said, "1 != 2"
    refute @good
  end

  def test_says_why_a_case_was_skipped_as_cmocka_and_as_minitest_write_it
    assert_equal [0, 0, 2], count("echo 1..2; echo no such thing here; echo 'not ok 1 # SKIP a'; " \
                                  "echo 'ok 2 - b # SKIP not today'")
    assert_includes @said, "a: no such thing here"
    assert_includes @said, "b: not today"
  end

  def test_a_crash_is_a_failure_though_no_case_failed
    assert_equal [1, 1, 0], count("echo 1..2; echo ok 1 - a; kill -SEGV $$")
    assert_includes @said, "signal 11"
  end

  def test_a_good_ending_before_the_plan_is_done_is_a_failure
    assert_equal [1, 1, 0], count("echo 1..2; echo ok 1 - a")
  end

  def test_a_bad_ending_after_good_cases_is_a_failure
    assert_equal [1, 1, 0], count("echo 1..1; echo ok 1 - a; exit 3")
  end

  def test_an_empty_plan_is_a_failure
    assert_equal [0, 1, 0], count("echo 1..0")
  end

  def test_a_program_that_hangs_is_ended_and_fails
    assert_equal [0, 1, 0], count("sleep 60", seconds: 0.2)
    assert_includes @said, "longer than 0.2 s"
  end

  def test_a_program_that_is_not_there_is_a_failure
    missing = Program.new(name: "gone", command: ["/no/such/program"], env: {}, folder: ".",
                          seconds: 5, serial: false)
    assert_equal [0, 1, 0], tally([missing])
  end

  def test_a_program_without_tap_is_one_case
    assert_equal [1, 1, 0], count("true", "false")
  end

  def test_counts_what_pythons_unittest_ran
    assert_equal [3, 0, 0], count("echo 'Ran 3 tests in 0.1s'; echo OK")
    assert_equal [2, 1, 0], count("echo 'FAIL: test_a (x.Test)'; echo 'Ran 3 tests in 0.1s'; exit 1")
    assert_equal [3, 1, 0], count("echo 'Ran 3 tests in 0.1s'; exit 1")
  end

  def test_a_case_in_two_builds_counts_once_and_has_to_pass_in_both
    both = {nil => "echo ok 1 - a; echo ok 2 - b", "sanitized" => "echo ok 1 - a; echo not ok 2 - b"}
    programs = both.map do |origin, script|
      Program.new(name: "x", origin: origin, command: ["sh", "-c", "echo 1..2; #{script}"], env: {},
                  folder: ".", seconds: 5, serial: false)
    end
    assert_equal [1, 1, 0], tally(programs)
  end
end
