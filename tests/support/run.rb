# frozen_string_literal: true

# Runs test programs and counts their cases: called by scripts/test, which says
# what the options mean.
#
# Almost everything speaks TAP: cmocka does when asked, Ruby tests through
# test_helper.rb. A case that runs in two builds is one case, and has to pass
# in both. Nothing is taken on trust: a program that ends badly, or before all
# its cases ran, or that has none, is a failure of its own.

require "etc"
require "json"
require "open3"
require "optparse"
require "rbconfig"
require "tempfile"

# A test program and how to start it. `origin` tells builds apart for people.
Program = Struct.new(:name, :origin, :command, :env, :folder, :seconds, :serial,
                     keyword_init: true) do
  def title
    origin ? "#{name} (#{origin})" : name
  end
end

# One test case: outcome is :passed, :failed or :skipped, words say why.
Case = Struct.new(:name, :outcome, :words, keyword_init: true)

# What a program did: its cases, and all it printed.
Run = Struct.new(:program, :cases, :output, keyword_init: true) do
  def failed?
    cases.any? { |test| test.outcome == :failed }
  end
end

# Reads what a program printed.
module Tap
  RESULT = /\A(?<not>not )?ok \d+(?: - (?<name>[^#]*))? ?(?:# SKIP ?(?<skip>.*))?\Z/.freeze
  PLAN = /\A1\.\.(\d+)\Z/.freeze

  module_function

  def cases(output)
    said = []
    output.each_line(chomp: true).with_object([]) do |line, found|
      if (match = RESULT.match(line))
        found << test_case(match, said)
        said = []
      elsif !line.start_with?("# ") && !PLAN.match?(line)
        said << line
      end
    end
  end

  # How many cases the program meant to run, nil when it does not say.
  def planned(output)
    plans = output.each_line(chomp: true).filter_map { |line| line[PLAN, 1] }
    plans.sum(&:to_i) unless plans.empty?
  end

  # cmocka writes "not ok 3 # SKIP name"; why is what the test said before it.
  def test_case(match, said)
    name = match[:name]&.strip
    return Case.new(name: name, outcome: match[:not] ? :failed : :passed) unless match[:skip]

    words = name ? match[:skip] : said.last
    Case.new(name: name || match[:skip], outcome: :skipped, words: words)
  end
end

# Python's unittest, which has no TAP: "Ran 3 tests", and a heading for each that
# did not pass.
module Unittest
  RAN = /^Ran (\d+) tests? in/.freeze
  BAD = /^(?:FAIL|ERROR): (\w+)/.freeze

  module_function

  def cases(output)
    bad = output.scan(BAD).flatten.map { |name| Case.new(name: name, outcome: :failed) }
    good = output[RAN, 1].to_i - bad.size
    bad + Array.new([good, 0].max) { Case.new(name: "unittest", outcome: :passed) }
  end
end

# Starts programs, several at a time, and never waits for one for ever.
class Runner
  def initialize(jobs:)
    @jobs = jobs
    @groups = {}
    @lock = Mutex.new
  end

  def run(programs)
    serial, parallel = programs.partition(&:serial)
    queue = Queue.new(parallel).close
    runs = Array.new(@jobs) do
      Thread.new { drain(queue) { |program| yield start(program) } }
    end
    runs.each(&:join)
    serial.each { |program| yield start(program) }
  ensure
    @groups.each_key { |group| kill(group) }
  end

  private

  def drain(queue)
    while (program = queue.pop)
      yield program
    end
  end

  def start(program)
    Tempfile.create("memtop-test") do |file|
      ending = wait(spawn(program, file), program.seconds)
      file.rewind
      output = file.read.scrub
      Run.new(program: program, cases: judge(program, output, ending), output: output)
    end
  rescue SystemCallError => e
    Run.new(program: program, cases: [broken("does not start: #{e.message}")], output: "")
  end

  # In a group of its own, so that what it started can be ended with it.
  def spawn(program, file)
    pid = Process.spawn(program.env, *program.command, chdir: program.folder, pgroup: true,
                                                       in: File::NULL, out: file, err: file)
    @lock.synchronize { @groups[pid] = true }
    pid
  end

  # Its ending in words, nil when it was a good one.
  def wait(pid, seconds)
    waiter = Process.detach(pid)
    late = waiter.join(seconds).nil?
    kill(pid)
    @lock.synchronize { @groups.delete(pid) }
    return "took longer than #{seconds} s" if late
    return if waiter.value.success?

    status = waiter.value
    status.signaled? ? "was ended by signal #{status.termsig}" : "exit status #{status.exitstatus}"
  end

  def kill(group)
    Process.kill(:KILL, -group)
  rescue Errno::ESRCH
    nil # it left nothing behind
  end

  def judge(program, output, ending)
    cases = Tap.cases(output)
    planned = Tap.planned(output)
    if planned.nil? && cases.empty?
      return [plain(program, ending)] unless output.match?(Unittest::RAN)

      cases = Unittest.cases(output)
      planned = cases.size
    end

    failed = cases.any? { |test| test.outcome == :failed }
    if ending && !failed
      cases << broken("#{ending}, although no case failed (#{cases.size} of #{planned || '?'} ran)")
    elsif planned != cases.size
      cases << broken("#{cases.size} of #{planned || '?'} cases ran; #{ending || 'exit status 0'}")
    elsif cases.empty?
      cases << broken("has no cases")
    end
    cases
  end

  # A program that does not speak TAP is one case.
  def plain(program, ending)
    return broken(ending) if ending
    return broken("printed no test results") if program.name.end_with?("_test.rb")

    Case.new(name: "the program as a whole", outcome: :passed)
  end

  def broken(words)
    Case.new(name: "the program itself", outcome: :failed, words: words)
  end
end

# What there is to run.
module Programs
  SECONDS = 300 # for one program, unless it says otherwise

  module_function

  # What ctest knows in a build folder.
  def of_build(folder, origin)
    output, status = Open3.capture2("ctest", "--test-dir", folder, "--show-only=json-v1")
    abort "run.rb: ctest does not list the tests of #{folder}" unless status.success?

    JSON.parse(output).fetch("tests").map { |test| from_ctest(test, origin) }
  end

  def from_ctest(test, origin)
    property = test.fetch("properties", []).to_h { |pair| [pair["name"], pair["value"]] }
    env = (property["ENVIRONMENT"] || []).to_h { |pair| pair.split("=", 2) }
    Program.new(name: test["name"], origin: origin,
                command: test.fetch("command") { ["(not built)"] },
                env: {"CMOCKA_MESSAGE_OUTPUT" => "TAP"}.merge(env),
                folder: property.fetch("WORKING_DIRECTORY", "."),
                seconds: property.fetch("TIMEOUT", SECONDS),
                serial: property.fetch("RUN_SERIAL", false))
  end

  def of_ruby(build, folder = "tests")
    Dir.glob("#{folder}/**/*_test.rb").sort.map do |file|
      Program.new(name: file.delete_prefix("tests/"), origin: nil,
                  command: [RbConfig.ruby, "-I", "#{build}/lib", "-I", "tests/support", file],
                  env: {"TEST_OUTPUT" => "tap"}, folder: ".", seconds: SECONDS,
                  serial: file.start_with?("tests/e2e"))
    end
  end
end

# Adds up, and prints what a person has to know.
class Report
  def initialize(verbose:)
    @verbose = verbose
    @outcomes = Hash.new { |cases, key| cases[key] = [] }
    @failed = []
    @lock = Mutex.new
  end

  def add(run)
    @lock.synchronize do
      run.cases.each_with_index { |test, index| @outcomes[key(run, test, index)] << test }
      @failed << run if run.failed?
      puts line(run) if run.failed? || @verbose
      puts indent(run.output) if @verbose
    end
  end

  # True when all went well.
  def print
    @failed.sort_by { |run| run.program.title }.each { |run| explain(run) }
    print_skipped
    passed, failed, skipped = %i[passed failed skipped].map { |outcome| count(outcome) }
    puts "#{passed} passed, #{failed} failed, #{skipped} skipped"
    failed.zero? && passed.positive?
  end

  private

  # Of two builds' results for a case the worse one counts.
  def verdict(tests)
    %i[failed passed skipped].find { |outcome| tests.any? { |test| test.outcome == outcome } }
  end

  # cmocka's groups may use a name twice, hence the position; the program itself has none.
  def key(run, test, index)
    nth = run.cases.first(index).count { |other| other.name == test.name }
    [run.program.name, test.name, nth]
  end

  def count(outcome)
    @outcomes.each_value.count { |tests| verdict(tests) == outcome }
  end

  def line(run)
    "#{run.failed? ? 'FAILED' : 'passed'}  #{run.program.title}, cases: #{run.cases.size}"
  end

  def explain(run)
    puts "", "== #{run.program.title}"
    run.cases.select { |test| test.outcome == :failed }.each do |test|
      puts "   failed: #{[test.name, test.words].compact.join(': ')}"
    end
    puts indent(run.output) unless @verbose
    puts "   by hand: #{run.program.command.join(' ')}"
  end

  def print_skipped
    @outcomes.each do |(program, name, _), tests|
      next unless verdict(tests) == :skipped

      puts "skipped: #{program}: #{name}: #{tests.first.words || 'no reason given'}"
    end
  end

  def indent(text)
    text.each_line.map { |line| "   | #{line.chomp}" }
  end
end

def main
  options = {build: "build", jobs: Etc.nprocessors, verbose: false, filter: ""}
  OptionParser.new do |parser|
    parser.on("--build FOLDER")
    parser.on("--sanitize FOLDER")
    parser.on("--filter WORD")
    parser.on("--only FOLDER") # Ruby tests of that folder, and no others
    parser.on("--jobs N", Integer)
    parser.on("--verbose")
  end.parse!(into: options)

  programs = if options[:only]
               Programs.of_ruby(options[:build], options[:only])
             else
               Programs.of_build(options[:build], nil) + Programs.of_ruby(options[:build])
             end
  programs += Programs.of_build(options[:sanitize], "sanitized") if options[:sanitize]
  programs.select! { |program| program.title.include?(options[:filter]) }
  abort "run.rb: no test program has \"#{options[:filter]}\" in its name" if programs.empty?

  ENV.delete_if { |name, _| name.start_with?("MEMTOP_") }
  ENV["XDG_CONFIG_HOME"] = "/nonexistent" # how somebody likes the viewer is no matter here
  report = Report.new(verbose: options[:verbose])
  Runner.new(jobs: options[:jobs]).run(programs) { |run| report.add(run) }
  report.print
end

exit main if $PROGRAM_NAME == __FILE__
