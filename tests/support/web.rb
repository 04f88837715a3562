# frozen_string_literal: true

require "probed"
require "socket"

# Real servers under the probe, each started by the test that needs it, on sockets in the
# test's own folder.
module Web
  include Probed

  def setup
    super
    @http = File.join(@folder, "http.sock")
  end

  # Start a program of a gem or package, such as `puma`, and wait until `ready` says so.
  def serve(*command, env: {}, **files)
    files.each { |name, text| File.write(File.join(@folder, name.to_s.sub("_", ".")), text) }
    @log = File.join(@folder, "log")
    environment = { "MEMTOP_SOCKET" => @socket, "RACK_ENV" => "production", **env }
    pid = Process.spawn(environment, *Probed::RUBY, *command, chdir: @folder, out: @log, err: %i[child out])
    @pids << pid
    wait_for("it listens") { yield || (Process.wait(pid, Process::WNOHANG) and flunk(log)) }
    pid
  end

  def puma(*options, **files)
    serve("-S", "puma", "-b", "unix://#{@http}", "-e", "production", *options, **files) do
      File.socket?(@http) && answers?
    end
  end

  def answers?
    get("/up")
    true
  rescue SystemCallError, EOFError
    false
  end

  # [status, body]
  def get(path)
    UNIXSocket.open(@http) do |socket|
      socket.write("GET #{path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")
      head, body = socket.read.split("\r\n\r\n", 2)
      raise EOFError, "no answer" unless head

      [head[/ (\d+)/, 1].to_i, body]
    end
  end

  # Every path so many times, from some threads at once.
  def load(threads: 4, **paths)
    queue = Queue.new
    paths.flat_map { |path, count| [path.to_s] * count }.shuffle.each { |path| queue << path }
    queue.close
    threads.times.map { Thread.new { while (path = queue.pop) do get(path) end } }.each(&:join)
  end

  def wait_for(what, seconds: 60)
    last = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
    until (result = yield)
      flunk("waited in vain until #{what}\n#{log}") if Process.clock_gettime(Process::CLOCK_MONOTONIC) > last
      sleep 0.02
    end
    result
  end

  def log = File.exist?(@log.to_s) ? File.read(@log) : ""

  # A class's objects under a tag, once the collector has been everywhere. What a
  # conservative stack holds goes between two looks: other requests leave other words there.
  def assert_objects(client, tag, name, allocated:, live:)
    row = nil
    20.times do
      client.request(:gc)
      row = client.tag_classes(tag)[name]
      break if row&.live == live

      get("/up") if File.socket?(@http)
    end
    assert_equal [allocated, live], [row&.allocated, row&.live]
  end
end
