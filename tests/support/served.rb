# frozen_string_literal: true

require "fileutils"
require "net/http"
require "open3"
require "probed"
require "socket"

# Runs real web servers with several processes under the probe, for tests. Sockets are
# in a folder of the test's own, where memtop looks for them when it is told so.
module Served
  include Probed

  # Answers with what Ruby itself and the probe of the same process count, and keeps
  # orders in its process: /keep?7 seven more.
  APP = <<~'RUBY'
    require "json"
    require "memtop_client"

    class Order; end
    KEPT = Array.new(100) { Order.new }
    COUNTED = [Order, Regexp, Encoding, Binding].freeze

    def heap(klass) = ObjectSpace.each_object(klass).count { |object| object.class == klass }

    # Both count between two collections: what is garbage is garbage for both.
    def compare
      client = MemtopClient.new(Memtop.socket)
      client.sample
      GC.start
      GC.disable
      client.sample
      counts = COUNTED.to_h { |klass| [klass.name, [heap(klass), client[klass.name].live]] }
      client.census
      { pid: Process.pid, parent: Process.ppid, counts: counts, drift: client.probe[:drift],
        told: client.hello.values_at(:pid, :parent_pid), socket: Memtop.socket }
    ensure
      GC.enable
      client&.close
    end

    COUNTING = Mutex.new
    run lambda { |env|
      case env["PATH_INFO"]
      when "/keep" then KEPT.concat(Array.new(env["QUERY_STRING"].to_i) { Order.new })
      when "/churn" then Array.new(100) { Order.new }
      end
      words = env["PATH_INFO"] == "/compare" ? COUNTING.synchronize { compare } : { pid: Process.pid }
      [200, { "Content-Type" => "application/json" }, [JSON.generate(words)]]
    }
  RUBY

  def setup
    super
    @sockets = File.join(@folder, "memtop")
    @port = free_port
    @log = File.join(@folder, "log")
    File.write(File.join(@folder, "config.ru"), APP)
  end

  def teardown
    super
  ensure
    puts File.read(@log) if ENV["SHOW_LOG"] && File.exist?(@log)
  end

  # Below those that the system gives to connections, which other tests make all the time.
  def free_port
    port = rand(10_000..32_000)
    TCPServer.open("127.0.0.1", port, &:close)
    port
  rescue Errno::EADDRINUSE
    retry
  end

  # Start a server: `program` as it is found in the PATH, with its configuration.
  def serve(program, config, *arguments, env: {})
    path = File.join(@folder, "server.rb")
    File.write(path, config)
    command = [RbConfig.ruby, "-S", program, *arguments, path, File.join(@folder, "config.ru")]
    # in RUBYOPT, so that a server that executes itself anew is under the probe again
    options = [*LOAD_PATHS.map { |folder| "-I#{folder}" }, "-rmemtop/auto"].join(" ")
    variables = { "MEMTOP_SOCKET" => nil, "XDG_RUNTIME_DIR" => @folder, "MEMTOP_INTERVAL" => "0.2",
                  "RUBYOPT" => options, **env }
    @server = Process.spawn(variables, *command, in: :close, out: @log, err: @log, chdir: @folder, pgroup: true)
    @pids << @server
    @server
  end

  def puma(workers:, extra: "", env: {})
    serve("puma", <<~RUBY, "-q", "-C", env: env)
      bind "tcp://127.0.0.1:#{@port}"
      environment "production"
      workers #{workers}
      threads 2, 2
      #{extra}
    RUBY
  end

  def get(path)
    http = Net::HTTP.new("127.0.0.1", @port)
    http.max_retries = 0
    http.read_timeout = 10
    JSON.parse(http.start { http.get(path, "Connection" => "close").body }, symbolize_names: true)
  rescue SystemCallError, EOFError, Timeout::Error, JSON::ParserError
    nil # the server is about to start, or to end
  end

  # Ask until the block is true of what came.
  def await(words, seconds: 60)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
    until (value = yield)
      raise "#{words}: not within #{seconds} s\n#{File.exist?(@log) ? File.read(@log) : ''}" if
        Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

      sleep 0.05
    end
    value
  end

  # What each of so many processes answers to a path, by pid. Asks more often at once
  # than there are processes: one at a time may always come to the same (Unicorn's do).
  def ask_each(path, count, except: [])
    answers = {}
    await("#{count} processes that answer #{path}") do
      asked = Array.new(2 * (count + except.size)) { Thread.new { get(path) } }.filter_map(&:value)
      asked.each { |answer| answers[answer[:pid]] = answer unless except.include?(answer[:pid]) }
      answers.size >= count
    end
    answers
  end

  # Requests from several threads while the block runs.
  def under_load
    stop = false
    threads = 4.times.map { |i| Thread.new { get(%w[/churn /keep?3][i % 2]) until stop } }
    yield
  ensure
    stop = true
    threads&.each(&:join)
  end

  def sockets = Dir.exist?(@sockets) ? Dir.children(@sockets).sort : []

  def alive?(pid)
    Process.kill(0, pid)
  rescue Errno::ESRCH
    false
  end

  def assert_counts_agree(answer)
    answer[:counts].each { |name, (heap, probe)| assert_equal heap, probe, "#{name} in #{answer}" }
    assert_operator answer[:counts][:Order][0], :>=, 100
    assert_equal 0, answer[:drift], answer.inspect
  end

  def memtop(*arguments)
    env = { "XDG_RUNTIME_DIR" => @folder, "TMPDIR" => @folder }
    Timeout.timeout(60) { Open3.capture3(env, MEMTOP, *arguments) }
  end

  MEMTOP = File.expand_path("../bin/memtop", LOAD_PATHS.grep(%r{/lib\z}).first || "build/lib")
end
