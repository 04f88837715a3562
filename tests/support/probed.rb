# frozen_string_literal: true

require "memtop_client"
require "open3"
require "rbconfig"
require "tmpdir"
require "timeout"

# Runs Ruby programs under the probe, for tests.
module Probed
  LOAD_PATHS = $LOAD_PATH.grep(%r{/build[^/]*/lib\z|/support\z}).freeze
  RUBY = [RbConfig.ruby, *LOAD_PATHS.flat_map { |path| ["-I", path] }].freeze

  def setup
    super
    @folder = Dir.mktmpdir("memtop-test")
    @socket = File.join(@folder, "app.sock")
    @clients = []
    @pids = []
  end

  def teardown
    @clients.each { |client| client.close rescue nil }
    @pids.each { |pid| Process.kill(:KILL, pid) rescue nil }
    @pids.each { |pid| Process.wait(pid) rescue nil }
    FileUtils.rm_rf(@folder)
    super
  end

  # Run a script to its end: [standard output, standard error, status].
  def ruby(script, *arguments, env: {}, auto: true)
    command = [*RUBY, *(auto ? %w[-r memtop/auto] : []), "-e", script, *arguments]
    Timeout.timeout(120) { Open3.capture3({ "MEMTOP_SOCKET" => @socket, **env }, *command) }
  end

  # Start a script that goes on by itself. It says something on its standard
  # output when it is ready; commands can be written to the returned pipe.
  def spawn_ruby(script, env: {}, auto: true)
    output, child_output = IO.pipe
    child_input, input = IO.pipe
    command = [*RUBY, *(auto ? %w[-r memtop/auto] : []), "-e", "$stdout.sync = true\n#{script}"]
    pid = Process.spawn({ "MEMTOP_SOCKET" => @socket, **env }, *command, in: child_input, out: child_output)
    [child_output, child_input].each(&:close)
    @pids << pid
    Program.new(pid, output, input)
  end

  Program = Struct.new(:pid, :output, :input) do
    # The next line the program prints.
    def line
      raise "the program says nothing" unless output.wait_readable(30)

      output.gets&.chomp
    end

    # Send it a line and wait for its answer.
    def tell(words)
      input.puts(words)
      line
    end
  end

  # A socket is there a moment before somebody listens on it.
  def connect(path = @socket, **options)
    Timeout.timeout(20) do
      sleep 0.01 until File.socket?(path)
      @clients << MemtopClient.new(path, **options)
    rescue Errno::ECONNREFUSED
      sleep 0.01
      retry
    end
    @clients.last
  end

  # In front of scripts: a collection that does not find the same stale words on the
  # machine stack, which the collector takes for references, as one from another depth.
  COLLECT = "def collect(depth) = depth.zero? ? GC.start : [depth].each { collect(depth - 1) }\n"

  # Put in front of scripts that check themselves: `exact(Order, ...)` compares
  # the probe's count of each class, and drift, with what Ruby itself finds.
  SELF_CHECK = COLLECT + <<~RUBY
    require "memtop_client"
    $client = MemtopClient.new(Memtop.socket)
    $client.sample
    def heap_count(klass) = ObjectSpace.each_object(klass).count { |object| object.class == klass }
    def exact(*classes, census: true)
      counts = nil
      20.times do |depth| # what a conservative stack holds may go between two looks
        collect(depth)
        census ? $client.census : $client.sample
        counts = classes.map { |klass| [klass.name, heap_count(klass), $client[klass.name].live] }
        break if counts.all? { |_, heap, probe| heap == probe }
      end
      counts.each do |name, heap, probe|
        abort "\#{name}: the heap holds \#{heap}, memtop says \#{probe}" unless heap == probe
      end
      abort "drift \#{$client.probe[:drift_total]}" unless $client.probe[:drift_total].zero?
      puts counts.map { |name, heap, _| "\#{name}=\#{heap}" }.join(" ")
    end
  RUBY

  # Run a script that checks itself. `kept`: how many of a class it keeps; a stack
  # may hold a few more, which Ruby and the probe then both count.
  def assert_exact(script, **kept)
    output, errors, status = ruby(SELF_CHECK + script)
    assert status.success?, "#{errors}\n#{output}"
    counts = output.lines.last.to_s.scan(/(\w+)=(\d+)/).to_h
    kept.each { |name, count| assert_includes count..count + 3, counts[name.to_s].to_i, name }
  end
end
