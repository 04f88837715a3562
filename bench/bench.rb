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
  PROBE = ["-I", "#{BUILD}/lib", "-r", "memtop/auto"].freeze
  OBJSPACE = ["-r", "#{ROOT}/bench/objspace_tracing.rb"].freeze
  Tool = Struct.new(:options, :env)
  COUNTING = { # what it costs to count
    "none" => Tool.new([], {}), "dormant" => Tool.new(PROBE, { "MEMTOP_MODE" => "dormant" }),
    "empty hook" => Tool.new(["-r", "#{BUILD}/bench/empty_hook.so"], {}),
    "count" => Tool.new(PROBE, { "MEMTOP_MODE" => "count" }), "objspace" => Tool.new(OBJSPACE, {})
  }.freeze
  # Without collections, whose moments move with whatever a program has loaded.
  UNCOLLECTED = %w[none dormant].to_h do |name|
    ["#{name}, no GC", Tool.new(COUNTING[name].options, { **COUNTING[name].env, "BENCH_GC" => "off" })]
  end.freeze
  TRACE = { "MEMTOP_MODE" => "trace", "MEMTOP_DEPTH" => "256" }.freeze
  EXACT = TRACE.merge("MEMTOP_BUDGET" => "100").freeze # whatever it costs
  TRACING = { # what it costs to take stacks
    "none" => Tool.new([], {}), "count" => Tool.new(PROBE, { "MEMTOP_MODE" => "count" }),
    "one class" => Tool.new(PROBE, TRACE.merge("MEMTOP_TRACE" => "Order")),
    "one, exact" => Tool.new(PROBE, EXACT.merge("MEMTOP_TRACE" => "Order")),
    "all" => Tool.new(PROBE, TRACE), "all, exact" => Tool.new(PROBE, EXACT),
    "objspace" => Tool.new(OBJSPACE, {})
  }.freeze
  Suite = Struct.new(:script, :env, :tools, :base, :aims)
  LOADS = { # aims: the most that a tool may take of the base's time
    "garbage" => Suite.new("garbage.rb", {}, COUNTING, "empty hook", { "count" => 1.20 }),
    "json" => Suite.new("json.rb", {}, COUNTING, "empty hook", { "count" => 1.10 }),
    "retain" => Suite.new("retain.rb", {}, COUNTING, "empty hook", { "count" => 1.10 }),
    "shop" => Suite.new("shop.rb", {}, COUNTING, "empty hook", { "count" => 1.10 }),
    **[10, 50, 200].to_h do |depth|
      ["depth #{depth}", Suite.new("stacks.rb", { "BENCH_DEPTH" => depth.to_s }, TRACING, "count",
                                   { "one class" => 1.10, "all" => 1.03 })]
    end,
    "paths" => Suite.new("paths.rb", {}, TRACING.slice("none", "count", "one, exact"), "count", {})
  }.freeze
  # The shop is two processes; loads with stacks run for a time, and so does the budget.
  COUNTABLE = %w[garbage json retain].freeze
  OBJECTS = 1_000_000 # that the load "retain" keeps
  PATHS = 100_000 # that the load "paths" allocates from
  BYTES_AIM = 6
  OBJSPACE_AIM = 3
  DORMANT_AIM = 1.01

  # seconds: CPU time, as the load itself measures it. instructions: counted by
  # valgrind, the same in every run on any machine, so that one run is enough.
  def initialize(runs:, loads:, instructions: false)
    @instructions = instructions
    @runs = instructions ? 1 : runs
    @loads = instructions ? loads & COUNTABLE : loads
    @results = Hash.new { |hash, load| hash[load] = Hash.new { |inner, tool| inner[tool] = [] } }
  end

  def run
    total = @runs * @loads.sum { |load| LOADS.fetch(load).tools.size }
    done = 0
    @runs.times do
      @loads.each do |load|
        LOADS.fetch(load).tools.each do |name, tool|
          progress("#{done += 1} of #{total}: #{load}, #{name}")
          @results[load][name] << run_one(load, tool)
        end
      end
    end
    count_dormant if @instructions
    progress("")
    self
  end

  def report
    {
      ruby: RUBY_DESCRIPTION, runs: @runs, unit: unit,
      loads: @loads.to_h { |load| [load, load_report(load)] },
      dormant: @dormant, bytes_a_live_object: bytes_a("retain", "count", "empty hook", OBJECTS),
      bytes_a_path: bytes_a("paths", "one, exact", "count", PATHS)
    }
  end

  def print_table(report)
    puts report[:ruby]
    puts @instructions ? "instructions, in thousand millions" : "medians of #{@runs} interleaved runs, CPU time"
    report[:loads].each { |load, tools| print_load(load, tools) }
    print_dormant(report)
    bytes, path = report.values_at(:bytes_a_live_object, :bytes_a_path)
    puts format("memory: %.1f bytes a live object (aim: at most %d)", bytes, BYTES_AIM) if bytes
    puts format("memory: %.0f bytes a call path, its site and its part of the tree", path) if path
  end

  # A probe that is loaded and dormant has no hook: what it takes is what cannot be
  # measured. Instructions say so; times say how far apart two runs of the same are.
  def print_dormant(report)
    if @instructions
      puts format("dormant: %.3f to %.3f of nothing, collections left out (aim: at most %.3f)",
                  *report[:dormant].values.minmax, DORMANT_AIM)
    else
      ratios = report[:loads].filter_map { |_, tools| tools.dig("dormant", :of_none) }
      puts format("dormant: %.3f to %.3f of nothing", *ratios.minmax) unless ratios.empty?
    end
  end

  private

  def count_dormant
    @dormant = @loads.to_h do |load|
      none, dormant = UNCOLLECTED.map do |name, tool|
        progress("#{load}, #{name}")
        run_one(load, tool)["seconds"]
      end
      [load, (dormant / none).round(4)]
    end
  end

  def run_one(load, with)
    Dir.mktmpdir("memtop-bench") do |folder|
      suite = LOADS.fetch(load)
      env = { "MEMTOP_SOCKET" => File.join(folder, "s"), **suite.env, **with.env }
      script = File.join(ROOT, "bench", "loads", suite.script)
      # The shop is a process of its own: it is handed the tool's options.
      command = load == "shop" ? [script, *with.options] : [*with.options, script]
      @instructions ? count_instructions(env, with.options, script) : measure(env, command)
    end
  end

  def measure(env, command)
    output, status = Open3.capture2(env, RbConfig.ruby, *command)
    abort "#{command.join(" ")} failed" unless status.success?
    JSON.parse(output.lines.last)
  end

  # Of the load, without what starting Ruby and the tool takes.
  def count_instructions(env, options, script)
    with, without = [script, "-e0"].map do |program|
      _, words, status = Open3.capture3(env, "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                                        RbConfig.ruby, "--disable-gems", *options, program)
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
    suite = LOADS.fetch(load)
    suite.tools.to_h do |name, _|
      seconds = median(load, name)
      [name, { seconds: seconds.round(7), of_none: (seconds / median(load, "none")).round(3),
               "of_#{suite.base.tr(" ", "_")}": (seconds / median(load, suite.base)).round(3) }]
    end
  end

  # By resident memory, of two tools that differ in what is asked; nil without it.
  def bytes_a(load, tool, other, count)
    return unless @loads.include?(load) && !@instructions

    ((median(load, tool, "rss") - median(load, other, "rss")) / count.to_f).round(2)
  end

  def print_load(load, tools)
    suite = LOADS.fetch(load)
    puts "", format("%-10s%-12s%10s%10s%16s", "load", "tool", unit, "of none", "of #{suite.base}")
    tools.each { |tool, figures| puts format("%-10s%-12s%10.4g%10.2f%16.3f", load, tool, *figures.values) }
    suite.aims.each do |tool, aim|
      puts format("  %s is %.3f of %s (aim: at most %.2f)", tool, tools[tool].values.last, suite.base, aim)
    end
    print_beside_objspace(tools) if tools.key?("objspace")
  end

  def print_beside_objspace(tools)
    added = tools["objspace"][:seconds] - tools["none"][:seconds]
    ours = tools["count"][:seconds] - tools["none"][:seconds]
    puts format("  objspace adds %s (aim: %d times)",
                ours.positive? ? format("%.1f times what count adds", added / ours) : "more, count nothing measurable",
                OBJSPACE_AIM)
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
