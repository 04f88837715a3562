# frozen_string_literal: true

require "test_helper"
require "api"

# Programs as the guides of memory-profiler and memprof show them, with only the name of
# the module changed: each is run as the program it is.
class ApiProgramsTest < Minitest::Test
  include Api

  def program(text, *options, name: "file.rb")
    run_program(name, text, *options)
  end

  # memory-profiler: counting alone.
  def test_capture_counts_the_hashes_that_leak
    output = program(<<~RUBY)
      require "memtop"

      capture = Memtop::Capture.new
      capture.track(Hash)
      capture.track(Array)
      capture.start

      kept = []
      1000.times { kept << {} }
      100.times { {} }
      GC.start

      puts "Live Hash objects: \#{capture.retained_count_of(Hash)}"
      puts "Live Array objects: \#{capture.retained_count_of(Array)}"
      capture.stop
    RUBY
    hashes, arrays = output.scan(/objects: (\d+)/).flatten.map(&:to_i)
    assert_includes 1000..1003, hashes
    assert_includes 1..4, arrays
  end

  # memory-profiler: the counts in the background.
  def test_a_thread_prints_the_counts_of_a_capture_now_and_then
    output = program(<<~RUBY)
      require "memtop"

      capture = Memtop::Capture.new
      [Hash, Array, String].each { |klass| capture.track(klass) }
      capture.start
      kept = Array.new(50) { { name: +"x" } }
      reports = Queue.new
      thread = Thread.new do
        loop do
          reports << [capture.retained_count_of(Hash), capture.retained_count_of(String)]
          sleep 0.01
        end
      end
      2.times { p reports.pop }
      thread.kill
      capture.stop
      capture.clear
      p capture.retained_count_of(Hash), kept.size
    RUBY
    counts = output.scan(/\[(\d+), (\d+)\]/).map { |pair| pair.map(&:to_i) }
    assert_equal 2, counts.size
    assert(counts.all? { |hashes, strings| hashes >= 50 && strings >= 50 }, output)
    assert output.end_with?("0\n50\n"), output
  end

  # memory-profiler: a callback, which looks for its caller.
  def test_a_callback_looks_where_an_object_was_made
    FileUtils.mkdir_p(File.join(@folder, "app/models"))
    File.write(File.join(@folder, "app/models/shop.rb"), "def make\n  all = {}\n  all.size\nend\n")
    output = program(<<~RUBY)
      require "memtop"
      require_relative "app/models/shop"

      found = []
      capture = Memtop::Capture.new
      capture.track(Hash) do |klass, event, data|
        if event == :newobj
          locations = caller_locations(1, 5)
          found << klass if locations.first.path.include?("app/models")
          locations.first.lineno
        end
      end
      capture.start
      3.times { make }
      elsewhere = {}
      capture.stop
      p found, elsewhere.size
    RUBY
    assert_equal "[Hash, Hash, Hash]\n0\n", output
  end

  # memory-profiler: dead fibers among those that are still there.
  def test_each_object_finds_the_dead_fibers_that_are_kept
    output = program(<<~RUBY)
      require "memtop"

      capture = Memtop::Capture.new
      capture.track(Fiber)
      capture.start
      kept = Array.new(20) { Fiber.new { Fiber.yield }.tap(&:resume) }
      kept += Array.new(10) { Fiber.new { 1 }.tap(&:resume) }
      alive = dead = 0
      capture.each_object(Fiber) do |fiber, allocations|
        raise "no record" unless allocations.retained_count == kept.size
        fiber.alive? ? alive += 1 : dead += 1
      end
      p alive, dead, capture.retained_count_of(Fiber)
      capture.stop
      capture.clear
    RUBY
    assert_equal "20\n10\n30\n", output
  end

  # memory-profiler: objects with a state, from their birth to their free.
  def test_the_state_of_a_birth_comes_back_with_the_free
    output = program(<<~RUBY)
      require "memtop"

      tree = Memtop::CallTree.new
      capture = Memtop::Capture.new
      allocations = capture.track(Hash) do |klass, event, data|
        case event
        when :newobj
          tree.record(caller_locations(1, 4))
        when :freeobj
          data&.decrement_path!
        end
      end
      capture.start
      def make = { a: 1 }.dup
      Thread.new { 100.times { make }; nil }.join
      10.times { GC.start }
      p allocations.new_count, tree.total_allocations
      p allocations.retained_count == tree.retained_allocations
      capture.stop
    RUBY
    assert_equal "200\n200\ntrue\n", output
  end

  # memory-profiler: the sampler that finds a leak by itself.
  def test_the_sampler_reports_what_grows_and_then_where_it_comes_from
    output = program(<<~RUBY)
      require "memtop"

      sampler = Memtop::Sampler.new(depth: 10, increases_threshold: 10)
      sampler.start

      reports = Queue.new
      Thread.new do
        sampler.run(interval: 0.01) do |sample|
          text = +"\#{sample.target} growing: \#{sample.current_size} objects (\#{sample.increases} increases)\\n"
          if sample.increases >= 10
            statistics = sampler.statistics(sample.target)
            text << "Top leak sources:\\n"
            statistics[:top_paths].each do |path_data|
              text << "  \#{path_data[:count]}x from: \#{path_data[:path].first}\\n"
            end
          end
          reports << text
        end
      end

      class Basket; end
      $baskets = []
      def leak = 2000.times { $baskets << Basket.new }

      loop do
        leak
        found = reports.pop
        break puts(found) if found.match?(/Basket growing.*\\d+x from/m)
      end
    RUBY
    assert_match(/Basket growing: \d+ objects \(\d\d+ increases\)\nTop leak sources:\n  \d+x from: .*file\.rb:23:in .*leak'/, output)
  end

  # memory-profiler: a class that is suspected already.
  def test_manual_investigation_of_one_class
    output = program(<<~RUBY)
      require "memtop"

      sampler = Memtop::Sampler.new(depth: 15)
      sampler.start
      sampler.track_with_analysis(Hash)

      def one = { from: 1 }
      def two = { from: 2 }
      def deep = [one, two]
      kept = []
      50.times { kept << one }
      30.times { kept << two }
      20.times { kept << deep }

      statistics = sampler.statistics(Hash)
      puts "Live Hashes: \#{statistics[:live_count]}"
      statistics[:top_paths].first(5).each do |path_data|
        puts "\#{path_data[:count]} allocations from:"
        path_data[:path].each { |frame| puts "  \#{frame}" }
      end
      puts "Hotspot frames:"
      statistics[:hotspots].first(5).each do |location, count|
        puts "  \#{location}: \#{count}"
      end
      sampler.stop!
      p sampler.statistics(Hash)
    RUBY
    assert_includes output, "Live Hashes: 1"
    assert_match(/^50 allocations from:\n  \S+:7:in \S+one'\n  \S+:11:/, output)
    assert_match(/^30 allocations from:\n  \S+:8:in \S+two'\n  \S+:12:/, output)
    assert_equal 2, output.scan(/^20 allocations from:/).size
    assert_match(/^  \S+:7:in \S+one': 70$/, output)
    assert_match(/^  \S+:9:in \S+deep': 40$/, output)
    assert output.end_with?("nil\n")
  end

  # memory-profiler: the Rack guide, with the logger that it uses.
  MIDDLEWARE = <<~RUBY
    require 'console'
    require 'memtop'

    class MemoryMonitoring
      def initialize(app)
        @app = app
        @sampler = Memtop::Sampler.new(
          # Use up to 10 caller locations for leak call graph analysis:
          depth: 10,
          # Enable detailed tracking after 10 increases:
          increases_threshold: 10
        )
        @sampler.start
        Console.logger.info("Memory monitoring enabled")
        @thread = Thread.new do
          @sampler.run(interval: 60) do |sample|
            Console.logger.warn(sample.target, "Memory usage increased!", sample: sample)
            if sample.increases >= 10
              if statistics = @sampler.statistics(sample.target)
                Console.logger.error(sample.target, "Memory leak analysis:", statistics: statistics)
              end
            end
          end
        end
      end

      def call(env)
        @app.call(env)
      end

      def shutdown
        @thread&.kill
        @sampler&.stop!
      end
    end
  RUBY
  CONFIG = <<~RUBY
    require_relative 'app/middleware/memory_monitoring'

    use MemoryMonitoring

    class Basket; end
    BASKETS = []
    run(lambda do |_env|
      400.times { BASKETS << Basket.new }
      [200, { "content-type" => "text/plain" }, ["ok"]]
    end)
  RUBY

  def serve(interval)
    FileUtils.mkdir_p(File.join(@folder, "app/middleware"))
    File.write(File.join(@folder, "app/middleware/memory_monitoring.rb"), MIDDLEWARE.sub("interval: 60", "interval: #{interval}"))
    File.write(File.join(@folder, "config.ru"), CONFIG)
    File.write(File.join(@folder, "serve.rb"), <<~RUBY)
      require "rack"
      app = Rack::Builder.parse_file("config.ru")
      app = app[0] if app.is_a?(Array) # as older Racks have it
      request = { "REQUEST_METHOD" => "GET", "PATH_INFO" => "/" }
      status = nil
      until ENV["UNTIL"] && File.read("log").match?(/\#{ENV["UNTIL"]}/m)
        status, = app.call(request)
        break unless ENV["UNTIL"]
      end
      app.shutdown
      puts status
    RUBY
    log = File.join(@folder, "log")
    env = { "MEMTOP_SOCKET" => @socket, "CONSOLE_OUTPUT" => "Text", "UNTIL" => (interval < 60 ? "config.ru:8" : nil) }
    pid = Process.spawn(env, *Probed::RUBY, "serve.rb", chdir: @folder, out: File.join(@folder, "out"), err: log)
    @pids << pid
    Timeout.timeout(60) { Process.wait(pid) }
    @pids.delete(pid)
    [$?.success?, File.read(File.join(@folder, "out")), File.read(log)]
  end

  def test_the_rack_guide_runs_as_it_is
    skip "Debian's ruby-console is not installed: scripts/setup test" unless system(*Probed::RUBY, "-e", "require 'console'", err: File::NULL)
    done, output, log = serve(60)
    assert done, log
    assert_equal "200\n", output
    assert_includes log, "Memory monitoring enabled"
  end

  def test_the_rack_guide_finds_a_leak
    skip "Debian's ruby-console is not installed: scripts/setup test" unless system(*Probed::RUBY, "-e", "require 'console'", err: File::NULL)
    done, output, log = serve(0.01)
    assert done, log
    assert_equal "200\n", output
    assert_includes log, "Memory usage increased!"
    assert_match(/config\.ru:8/, log)
  end

  # memprof: statistics between start and stop.
  def test_memprof_stats
    assert_match(/^ +12 file\.rb:2:String$/, program(<<~RUBY, "-rmemtop/memprof"))
      Memtop.start
      12.times{ "abc" }
      Memtop.stats
      Memtop.stop
    RUBY
  end

  # memprof: what a collection leaves.
  def test_memprof_stats_before_and_after_a_collection
    output = program(<<~RUBY, "-rmemtop/memprof")
      Memtop.start
      10.times{ $last_str = "abc" }

      puts '=== Before GC'
      Memtop.stats

      puts '=== After GC'
      GC.start
      Memtop.stats

      Memtop.stop
    RUBY
    before, after = output.split("=== After GC\n")
    assert_match(/^ +10 file\.rb:2:String$/, before)
    assert_includes 1..2, after[/^ +(\d+) file\.rb:2:String$/, 1].to_i # a stack may hold one more
  end

  # memprof: around a block, to a file.
  def test_memprof_track
    text = <<~RUBY
      Memtop.track(%s){
        100.times{ "abc" }
        100.times{ 1.23 + 1 }
        120.times{ Module.new }
      }
    RUBY
    output = program("require 'memtop'\n#{text % ""}")
    assert_equal ["    120 file.rb:5:Module", "    100 file.rb:3:String"], output.lines(chomp: true).first(2)
    path = File.join(@folder, "stats")
    assert_empty program("require 'memtop'\n#{text % path.inspect}")
    assert_equal output, File.read(path)
  end

  # memprof: begin anew after printing.
  def test_memprof_stats_that_forget
    output = program(<<~RUBY, "-rmemtop/memprof")
      Memtop.start
      12.times{ "abc" }
      Memtop.stats!
      puts "--"
      7.times{ "abc" }
      Memtop.stats!
      Memtop.stop
    RUBY
    first, second = output.split("--\n")
    assert_match(/^ +12 file\.rb:2:String$/, first)
    assert_match(/^ +7 file\.rb:5:String$/, second)
    refute_match(/file\.rb:2:/, second)
  end
end
