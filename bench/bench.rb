# frozen_string_literal: true

# Runs each load under each tool in turn, again and again, and compares medians.
# Interleaved, because the machine's speed drifts; CPU time, because others use
# the machine as well. See scripts/bench --help.

require "fileutils"
require "json"
require "open3"
require "optparse"
require "rbconfig"
require "tmpdir"

class Bench
  ROOT = File.expand_path("..", __dir__)
  BUILD = File.join(ROOT, "build")
  LOADS = { # name: [script, the most that count mode may take of an empty hook's time]
    "garbage" => ["garbage.rb", 1.20], "json" => ["json.rb", 1.10],
    "retain" => ["retain.rb", 1.10], "shop" => ["shop.rb", 1.10]
  }.freeze
  TOOLS = {
    "none" => [], "dormant" => ["-I", "#{BUILD}/lib", "-r", "memtop/auto"],
    "empty hook" => ["-r", "#{BUILD}/bench/empty_hook.so"],
    "count" => ["-I", "#{BUILD}/lib", "-r", "memtop/auto"],
    "objspace" => ["-r", "#{ROOT}/bench/objspace_tracing.rb"]
  }.freeze
  OBJECTS = 1_000_000 # that the load "retain" keeps
  BYTES_AIM = 6
  OBJSPACE_AIM = 3

  # seconds: CPU time, as the load itself measures it. instructions: counted by
  # valgrind, the same in every run on any machine, so that one run is enough.
  def initialize(runs:, loads:, instructions: false)
    @instructions = instructions
    @runs = instructions ? 1 : runs
    @loads = instructions ? loads - ["shop"] : loads # the shop is two processes
    @results = Hash.new { |hash, load| hash[load] = Hash.new { |inner, tool| inner[tool] = [] } }
  end

  def run
    total = @runs * @loads.size * TOOLS.size
    done = 0
    @runs.times do
      @loads.each do |load|
        TOOLS.each_key do |tool|
          progress("#{done += 1} of #{total}: #{load}, #{tool}")
          @results[load][tool] << run_one(load, tool)
        end
      end
    end
    progress("")
    self
  end

  def report
    {
      ruby: RUBY_DESCRIPTION, runs: @runs, unit: unit,
      loads: @loads.to_h { |load| [load, load_report(load)] },
      bytes_a_live_object: @loads.include?("retain") && !@instructions ? bytes_a_live_object.round(2) : nil
    }
  end

  def print_table(report)
    puts report[:ruby]
    puts @instructions ? "instructions, in thousand millions" : "medians of #{@runs} interleaved runs, CPU time"
    puts "", format("%-10s%-12s%10s%10s%14s", "load", "tool", unit, "of none", "of empty hook")
    report[:loads].each { |load, tools| print_load(load, tools) }
    bytes = report[:bytes_a_live_object]
    puts format("memory: %.1f bytes a live object (aim: at most %d)", bytes, BYTES_AIM) if bytes
  end

  private

  def run_one(load, tool)
    Dir.mktmpdir("memtop-bench") do |folder|
      env = { "MEMTOP_SOCKET" => File.join(folder, "s"), "MEMTOP_MODE" => tool == "dormant" ? "dormant" : "count" }
      script = File.join(ROOT, "bench", "loads", LOADS.fetch(load).first)
      # The shop is a process of its own: it is handed the tool's options.
      command = load == "shop" ? [script, *TOOLS.fetch(tool)] : [*TOOLS.fetch(tool), script]
      @instructions ? count_instructions(env, tool, script) : measure(env, command)
    end
  end

  def measure(env, command)
    output, status = Open3.capture2(env, RbConfig.ruby, *command)
    abort "#{command.join(" ")} failed" unless status.success?
    JSON.parse(output.lines.last)
  end

  # Of the load, without what starting Ruby and the tool takes.
  def count_instructions(env, tool, script)
    with, without = [script, "-e0"].map do |program|
      _, words, status = Open3.capture3(env, "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                                        RbConfig.ruby, "--disable-gems", *TOOLS.fetch(tool), program)
      abort "valgrind failed:\n#{words}" unless status.success?
      words[/Collected : (\d+)/, 1].to_i
    end
    { "seconds" => (with - without) / 1e9, "rss" => 0 }
  end

  def unit = @instructions ? "G instr" : "seconds"

  def median(load, tool, key = "seconds")
    sorted = @results[load][tool].map { |result| result[key] }.sort
    middle = sorted.size / 2
    sorted.size.odd? ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2.0
  end

  def load_report(load)
    TOOLS.to_h do |name, _|
      seconds = median(load, name)
      [name, { seconds: seconds.round(4), of_none: (seconds / median(load, "none")).round(3),
               of_empty_hook: (seconds / median(load, "empty hook")).round(3) }]
    end
  end

  def bytes_a_live_object
    (median("retain", "count", "rss") - median("retain", "empty hook", "rss")) / OBJECTS.to_f
  end

  def print_load(load, tools)
    tools.each do |tool, figures|
      puts format("%-10s%-12s%10.3f%10.2f%14.2f", load, tool, *figures.values)
    end
    count = tools["count"]
    added = tools["objspace"][:seconds] - tools["none"][:seconds]
    ours = count[:seconds] - tools["none"][:seconds]
    puts format("  count is %.2f of the empty hook (aim: at most %.2f); objspace adds %s (aim: %d times)",
                count[:of_empty_hook], LOADS.fetch(load).last,
                ours.positive? ? format("%.1f times as much", added / ours) : "more, count nothing measurable",
                OBJSPACE_AIM), ""
  end

  def progress(words)
    $stderr.print "\r\e[K#{words}" if $stderr.tty?
  end
end

options = { runs: 9, loads: Bench::LOADS.keys, json: false }
OptionParser.new do |parser|
  parser.banner = "scripts/bench [OPTIONS]: what the probe costs, beside nothing, an empty hook and objspace"
  parser.on("--quick", "fewer runs: within five minutes") { options[:runs] = 3 }
  parser.on("--instructions", "count instructions instead of time: once is enough, but it takes valgrind") do
    options[:instructions] = true
  end
  parser.on("--json", "for machines") { options[:json] = true }
  parser.on("--runs N", Integer, "how often each is run (default 9)") { |n| options[:runs] = n }
  parser.on("--loads A,B", Array, "only these of #{Bench::LOADS.keys.join(", ")}") do |names|
    wrong = names - Bench::LOADS.keys
    abort "no such load: #{wrong.join(", ")}" unless wrong.empty?
    options[:loads] = names
  end
end.parse!

json = options.delete(:json)
bench = Bench.new(**options).run
if json
  puts JSON.pretty_generate(bench.report)
else
  bench.print_table(bench.report)
end
