# frozen_string_literal: true

require "io/wait"
require "open3"
require "rbconfig"
require "tmpdir"
require "timeout"
require "fileutils"

# Runs the program memtop without a terminal, for tests, in a folder of its own.
module Commands
  LIBRARY = $LOAD_PATH.find { |path| path.match?(%r{/?build[^/]*/lib\z}) }
  MEMTOP = File.expand_path("../bin/memtop", LIBRARY)
  RUBY = RbConfig.ruby
  PATIENCE = 120 # seconds, for a busy machine

  Outcome = Struct.new(:output, :errors, :status) do
    def code = status.exitstatus
  end

  def setup
    super
    @folder = Dir.mktmpdir("memtop-test")
    @pids = []
  end

  def teardown
    @pids.each { |pid| stop(pid) }
    FileUtils.rm_rf(@folder)
    super
  end

  # What memtop started ends with it when it is asked to.
  def stop(pid)
    Process.kill(:TERM, pid)
    Timeout.timeout(PATIENCE) { Process.wait(pid) }
  rescue Timeout::Error
    Process.kill(:KILL, pid)
    Process.wait(pid)
  rescue SystemCallError
    nil # it has ended
  end

  # The sockets lie in the test's folder; nothing of the tests' own Ruby is passed on.
  def environment
    { "XDG_RUNTIME_DIR" => @folder, "RUBYOPT" => nil, "RUBYLIB" => nil, "MEMTOP_SOCKET" => nil,
      "MEMTOP_INTERVAL" => "0.1", "BUNDLE_GEMFILE" => nil }
  end

  # Run a command to its end.
  def execute(*command, env: {}, chdir: @folder, input: "")
    Timeout.timeout(PATIENCE) do
      Outcome.new(*Open3.capture3(environment.merge(env), *command, chdir: chdir, stdin_data: input))
    end
  end

  def memtop(*arguments, **options) = execute(MEMTOP, *arguments, **options)

  # A file in the test's folder.
  def write(name, text)
    File.join(@folder, name).tap do |path|
      FileUtils.mkdir_p(File.dirname(path))
      File.write(path, text)
    end
  end

  # Start memtop; [process id, pipe of its output and errors, pipe to its input].
  def start(*arguments, env: {})
    output, theirs = IO.pipe
    input, ours = IO.pipe
    pid = Process.spawn(environment.merge(env), MEMTOP, *arguments, out: theirs, err: theirs, in: input, chdir: @folder)
    [theirs, input].each(&:close)
    @pids << pid
    [pid, output, ours]
  end

  # Read until a line matches, and return all lines.
  def read_until(output, pattern)
    lines = []
    until lines.last&.match?(pattern)
      flunk "#{pattern.inspect} did not come: #{lines.join}" unless output.wait_readable(PATIENCE)
      lines << (output.gets || flunk("#{pattern.inspect} did not come: #{lines.join}"))
    end
    lines
  end

  def wait(pid)
    Timeout.timeout(PATIENCE) { Process.wait2(pid)[1] }
  ensure
    @pids.delete(pid)
  end

  # What is known of a class in the table that memtop run prints.
  def live(table, name)
    row = table.lines.find { |line| line.split.last == name } || flunk("no #{name} in #{table}")
    row.split.first.to_i
  end
end
