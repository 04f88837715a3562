# frozen_string_literal: true

require "test_helper"
require "etc"
require "json"
require "probed"
require "socket"

# `memtop attach` and real programs that never heard of memtop.
class AttachTest < Minitest::Test
  include Probed

  MEMTOP = File.expand_path("../bin/memtop", Probed::LOAD_PATHS.grep(%r{/lib\z}).first)
  LIBRARY = File.dirname(MEMTOP).sub(/bin\z/, "lib")

  # Start a Ruby that has nothing of memtop, not even in its environment but for the
  # socket's place. It has said "ready" when this returns.
  def start(script, *options, env: {}, before: [], **others)
    output, child_output = IO.pipe
    child_input, input = IO.pipe
    script = "$stdout.sync = true\n#{script}" unless options.include?(:raw)
    pid = Process.spawn({ "MEMTOP_SOCKET" => @socket, "RUBYOPT" => nil, "RUBYLIB" => nil, **env },
                        *before, RbConfig.ruby, "-e", script, in: child_input, out: child_output, **others)
    [child_output, child_input].each(&:close)
    @pids << pid
    program = Program.new(pid, output, input)
    assert_equal "ready", program.line
    program
  end

  # [standard output, standard error, exit status] of memtop.
  def memtop(*arguments, env: {}, before: [])
    Timeout.timeout(120) do
      output, errors, status = Open3.capture3(env, *before, MEMTOP, *arguments.map(&:to_s), stdin_data: "")
      [output, errors, status.exitstatus]
    end
  end

  def attach(program, *options)
    output, errors, status = memtop("attach", program.pid, "--json", *options)
    assert_equal [0, ""], [status, errors]
    JSON.parse(output)
  end

  def live(document, name) = document["classes"].find { |row| row["name"] == name }&.fetch("live")

  # Ruby keeps the native thread of an ended Thread for some seconds. Ruby 3.3 makes a
  # thread for timers with the first other Thread, and keeps that.
  ALONE = RUBY_VERSION < "3.3" ? 1..1 : 1..2

  def threads(pid) = Dir.children("/proc/#{pid}/task").size

  def eventually(what)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 30
    until yield
      flunk "not seen within 30 s: #{what}" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
      sleep 0.01
    end
  end

  def detach
    client = connect
    assert_equal [:done, ""], client.request(:detach)
    client.until { client.bye }
    client.close
  end

  def assert_attaches(script, **others)
    program = start("class Order; end; KEPT = Array.new(1234) { Order.new }\n#{script}", **others)
    document = attach(program)
    assert_equal 1234, live(document, "Order")
    assert_equal program.pid, document["process"]["pid"]
    program
  end

  # Waiting, in whichever way Ruby has.
  {
    "sleeps"                     => "puts :ready; sleep",
    "reads"                      => "puts :ready; gets",
    "selects"                    => "puts :ready; IO.select([IO.pipe[0]])",
    "accepts"                    => "require 'socket'; s = TCPServer.new('127.0.0.1', 0); puts :ready; s.accept",
    "waits_for_a_child"          => "child = spawn('sleep 1000'); at_exit { Process.kill(:KILL, child) }; puts :ready; Process.wait(child)",
    "waits_in_a_queue"           => "Thread.new { loop { sleep 0.1 } }; puts :ready; Queue.new.pop",
    "joins_a_thread_that_sleeps" => "t = Thread.new { sleep }; puts :ready; t.join",
    "joins_one_in_a_system_call" => "require 'socket'; s = TCPServer.new('127.0.0.1', 0); t = Thread.new { s.accept }; puts :ready; t.join",
    "waits_for_a_mutex"          => "m = Mutex.new; q = Queue.new; Thread.new { m.lock; q << 1; sleep }; q.pop; puts :ready; m.lock"
  }.each do |name, script|
    define_method(:"test_attaches_to_a_program_that_#{name}") do
      program = assert_attaches(script)
      detach
      Process.kill(:TERM, program.pid)
      assert_equal Signal.list["TERM"], Process.wait2(program.pid)[1].termsig
    end
  end

  {
    "computes_in_ruby"           => "puts :ready; loop { 1 + 1 }",
    "does_nothing_but_allocate"  => "puts :ready; loop { Array.new(100) { +'x' * 100 } }",
    "holds_back_its_garbage"     => "GC.disable; puts :ready; sleep",
    "has_fifty_threads"          => "50.times { |i| Thread.new { i.odd? ? sleep : loop { sleep 0.01; +'x' } } }; puts :ready; sleep",
    "computes_in_ten_threads"    => "10.times { Thread.new { loop { +'x' } } }; puts :ready; sleep",
    "counts_its_threads"         => "puts :ready; sleep 0.01 while Thread.list.size < 9"
  }.each do |name, script|
    define_method(:"test_attaches_to_a_program_that_#{name}") do
      program = assert_attaches(script)
      assert_nil Process.wait(program.pid, Process::WNOHANG)
    end
  end

  def test_a_call_of_c_code_is_waited_for
    # Onigmo lets nobody else run, and looks for interrupts only now and then.
    program = start("class Order; end; KEPT = Array.new(1234) { Order.new }\nputs :ready; loop { ('a' * 25) =~ /^(a?){25}a{25}$/ }")
    assert_equal 1234, live(attach(program), "Order")
  end

  def test_who_does_not_want_to_wait_changes_nothing
    # Without the GVL nobody can be asked: an integer's power is one call.
    program = start("Thread.new { gets; 10 }; puts :ready; loop { 7 ** 3_000_000 }")
    output, errors, status = memtop("attach", program.pid, "--json", "--wait", "1ms")
    if status.zero?
      assert_operator live(JSON.parse(output), "String"), :>, 0 # it was quick
    else
      assert_equal 3, status
      assert_match(/did not come to a point where Ruby runs jobs within .*--wait 10m/m, errors)
      eventually("the injected thread ends") { !comms(program.pid).include?("memtop-attach") }
    end
    refute_nil live(attach(program), "String")
  end

  # Names of its threads; one may end meanwhile.
  def comms(pid) = Dir.glob("/proc/#{pid}/task/*/comm").filter_map { |file| File.read(file).chomp rescue nil }

  def test_counts_are_what_the_heap_holds
    program = start(<<~RUBY)
      class Order; end
      KEPT = Array.new(5_000) { Order.new }
      puts :ready
      while gets
        KEPT.concat(Array.new(100) { Order.new })
        puts ObjectSpace.each_object(Order).count
      end
    RUBY
    assert_equal 5_000, live(attach(program), "Order")
    counted = Integer(program.tell("more"))
    client = connect
    client.census
    assert_equal counted, client["Order"].live
    assert_equal 0, client.probe[:drift_total]
    assert_equal 100, client["Order"].allocated
  end

  def test_puma_under_load_misses_no_request
    config = File.join(@folder, "config.ru")
    File.write(config, <<~RUBY)
      class Order; end
      KEPT = Queue.new
      run(lambda do |env|
        KEPT << Order.new if env["PATH_INFO"] == "/order"
        [200, { "content-type" => "text/plain" }, [ObjectSpace.each_object(Order).count.to_s]]
      end)
    RUBY
    port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
    pid = Process.spawn({ "MEMTOP_SOCKET" => @socket, "RUBYOPT" => nil }, "puma", "-b", "tcp://127.0.0.1:#{port}", "-t", "4:4", config,
                        out: File::NULL, err: File::NULL)
    @pids << pid
    eventually("puma") { (get(port, "/") rescue nil) }
    stop = false
    clients = Array.new(3) { Thread.new { (served = (served || 0) + get(port, "/order")) until stop; served } }
    3.times do
      refute_nil live(attach(Program.new(pid)), "Order")
      detach
      eventually("no socket") { !File.exist?(@socket) }
    end
    attach(Program.new(pid))
    stop = true
    orders = clients.sum(&:value)
    assert_operator orders, :>, 10
    client = connect
    client.census
    assert_equal orders, client["Order"].live
    assert_equal 0, client.probe[:drift_total]
  end

  # 1 for a request that was answered.
  def get(port, path)
    Socket.tcp("127.0.0.1", port) do |socket|
      socket.write("GET #{path} HTTP/1.0\r\n\r\n")
      answer = socket.read
      raise "no answer: #{answer}" unless answer.start_with?("HTTP/1.0 200")
    end
    1
  end

  def test_a_second_time_it_only_looks
    program = assert_attaches("puts :ready; sleep")
    started = attach(program)["process"]["started"]
    assert_equal started, attach(program)["process"]["started"]
  end

  def test_a_probe_at_its_usual_place_is_found_without_gdb
    program = start("puts :ready; sleep", env: { "MEMTOP_SOCKET" => nil, "XDG_RUNTIME_DIR" => nil, "TMPDIR" => @folder })
    env = { "TMPDIR" => @folder, "XDG_RUNTIME_DIR" => nil }
    assert_equal 0, memtop("attach", program.pid, "--once", env: env)[2]
    output, errors, status = memtop("attach", program.pid, "--once", env: { **env, "PATH" => @folder })
    assert_equal 0, status
    assert_match(/runs in process #{program.pid} already/, errors)
    assert_match(/String/, output)
    assert_empty Dir.children(@folder).grep(/memtop-attach/)
  end

  def test_settings_of_the_command_line_are_those_of_the_probe
    program = start("puts :ready; sleep", env: { "MEMTOP_MODE" => "count" })
    document = attach(program, "--mode", "census", "--interval", "0.5")
    assert_equal "census", document["process"]["mode"]
    assert_equal 500, connect.tap(&:sample).hello[:interval_ms]
  end

  def test_detached_nothing_is_left_and_it_can_be_attached_again_ten_times
    program = start(<<~RUBY)
      puts :ready
      before = nil
      while gets
        GC.start
        GC.disable
        start = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
        200_000.times { Object.new }
        puts Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - start
        GC.enable
      end
    RUBY
    descriptors = Dir.children("/proc/#{program.pid}/fd").sort
    program.tell("warm")
    resident = nil
    10.times do |round|
      attach(program)
      assert_equal 2, comms(program.pid).grep(/memtop/).size
      detach
      eventually("no thread of memtop's") { comms(program.pid).grep(/memtop/).empty? }
      refute File.exist?(@socket)
      assert_equal descriptors, Dir.children("/proc/#{program.pid}/fd").sort
      program.tell("more")
      resident = rss(program.pid) if round == 4
    end
    assert_operator rss(program.pid), :<, resident + 4096, "kB, ten rounds"
    eventually("no thread but the main one") { ALONE.cover?(threads(program.pid)) }
  end

  def rss(pid) = Integer(File.read("/proc/#{pid}/status")[/^VmRSS:\s+(\d+)/, 1])

  def test_detached_it_allocates_with_as_few_instructions_as_before
    skip "valgrind is not installed: it counts the instructions" unless system("which valgrind >/dev/null")
    script = <<~RUBY
      def work = 20_000.times { Object.new }
      work
      %s
      GC.start; GC.disable
      work
    RUBY
    plain = instructions(format(script, ""))
    counted = instructions(format(script, "Memtop.start"), "memtop")
    stopped = instructions(format(script, "Memtop.start; Memtop.stop"), "memtop")
    started = instructions(format(script, "Memtop.start; Memtop.stop\nexit!"), "memtop")
    empty = instructions(format(script, "exit!"))
    assert_in_delta 1.0, (stopped - started).fdiv(plain - empty), 0.02
    assert_operator (counted - started).fdiv(plain - empty), :>, 1.1 # else nothing was measured
  end

  def instructions(script, library = nil)
    _, errors, status = Open3.capture3({ "MEMTOP_SOCKET" => @socket, "RUBYOPT" => nil }, "valgrind", "--tool=none", "true")
    assert status.success?, errors
    _, errors, = Open3.capture3({ "MEMTOP_SOCKET" => @socket, "RUBYOPT" => nil },
                                "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                                RbConfig.ruby, "--disable-gems", "-I", LIBRARY, *(library ? ["-r", library] : []), "-e", script)
    Integer(errors[/Collected : (\d+)/, 1])
  end

  def test_the_program_can_take_the_probe_out_itself
    program = start("puts :ready; gets; p Memtop.stop; gets; p defined?(Memtop) && Memtop.running?; gets")
    attach(program)
    assert_equal "true", program.tell("stop")
    assert_equal "false", program.tell("?")
    eventually("no thread but the main one") { ALONE.cover?(threads(program.pid)) }
    refute File.exist?(@socket)
  end

  def test_started_again_while_a_viewer_detaches_it_has_all_its_threads
    program = start("puts :ready; gets; loop { Memtop.start or sleep 0.001 }")
    attach(program)
    program.input.puts
    detached = 0
    eventually("twenty probes, each with an agent that answers") do
      client = MemtopClient.new(@socket)
      client.sample
      assert_equal :done, client.request(:detach)[0]
      client.until { client.bye }
      (detached += 1) == 20
    rescue SystemCallError, RuntimeError # it is ending, or the next is not there yet
      false
    ensure
      client&.close
    end
  end

  def test_a_read_only_probe_stays
    program = start("puts :ready; sleep", env: { "MEMTOP_READONLY" => "1" })
    attach(program)
    assert_equal :refused, connect.request(:detach)[0]
  end

  def test_a_hundred_times_in_the_middle_of_allocations
    program = start("puts :ready; kept = []; loop { kept << ('x' * rand(5000)).to_sym.to_s; kept.clear if kept.size > 500; Marshal.load(Marshal.dump({ a: [1, 2.5, 'y' * 300] })) }")
    rounds = Integer(ENV.fetch("MEMTOP_ATTACH_ROUNDS", "15"))
    rounds.times do
      refute_nil live(attach(program), "String")
      detach
      eventually("no socket") { !File.exist?(@socket) }
    end
    assert_nil Process.wait(program.pid, Process::WNOHANG)
  end

  # What cannot be attached to: the words, and a program that is as it was.

  def refused(pid, words, status: 3, **others)
    output, errors, got = memtop("attach", pid, "--once", **others)
    assert_match words, errors
    assert_equal [status, ""], [got, output]
  end

  def test_a_process_that_is_no_ruby
    [%w[sleep 1000], %w[python3 -c import\ time;time.sleep(1000)]].each do |command|
      @pids << pid = Process.spawn(*command)
      eventually("exec") { !File.readlink("/proc/#{pid}/exe").include?("ruby") }
      refused(pid, /process #{pid} is not a Ruby/)
      assert_nil Process.wait(pid, Process::WNOHANG)
    end
  end

  def test_a_process_that_is_not_there
    pid = Process.spawn("true")
    eventually("a zombie") { File.read("/proc/#{pid}/status")[/^State:\s+(\w)/, 1] == "Z" }
    refused(pid, /there is no process #{pid}/)
    Process.wait(pid)
    refused(pid, /there is no process #{pid}/)
  end

  def test_wrong_use
    assert_equal 2, memtop("attach")[2]
    assert_equal 2, memtop("attach", "x")[2]
    assert_equal 2, memtop("attach", "1", "2")[2]
    assert_equal 2, memtop("attach", "1", "--mode", "fast")[2]
    assert_equal 2, memtop("--mode", "count")[2]
  end

  def test_a_stopped_process_is_not_woken
    program = start("puts :ready; sleep")
    Process.kill(:STOP, program.pid)
    eventually("stopped") { File.read("/proc/#{program.pid}/status")[/^State:\s+(\w)/, 1] == "T" }
    refused(program.pid, /is stopped.*kill -CONT #{program.pid}/m)
    Process.kill(:CONT, program.pid)
    refute_nil live(attach(program), "String")
  end

  def test_a_process_under_a_debugger
    program = start("puts :ready; sleep")
    input, output, gdb = Open3.popen2e("gdb", "-nx", "-q", "-p", program.pid.to_s)
    eventually("the debugger") { File.read("/proc/#{program.pid}/status")[/^TracerPid:\s+(\d+)/, 1] != "0" }
    refused(program.pid, /is being debugged by process #{gdb.pid}/)
    input.puts("detach", "quit")
    input.close
    output.read
    gdb.value
    refute_nil live(attach(program), "String")
  end

  def test_without_gdb_it_is_asked_for
    program = start("puts :ready; sleep")
    refused(program.pid, /takes gdb.*apt-get install gdb/m, env: { "PATH" => @folder })
  end

  def test_without_its_own_files
    program = start("puts :ready; sleep")
    refused(program.pid, /the probe is not in #{@folder}/, status: 4, env: { "MEMTOP_LIB" => @folder })
  end

  def test_a_probe_for_another_ruby
    program = start("puts :ready; sleep")
    FileUtils.cp_r(LIBRARY, File.join(@folder, "lib"))
    extension = File.join(@folder, "lib/memtop/memtop.so")
    bytes = File.binread(extension)
    assert bytes.sub!(/memtop-for-ruby\0.{8}/mn) { "memtop-for-ruby\0#{[2, 7].pack("ll")}" }
    File.binwrite(extension, bytes)
    refused(program.pid, /runs Ruby \d\.\d, the probe in .* was built for Ruby 2\.7/m,
            env: { "MEMTOP_LIB" => File.join(@folder, "lib") })
  end

  def test_what_goes_wrong_in_the_program_is_told_here
    program = start("puts :ready; sleep")
    FileUtils.cp_r(LIBRARY, File.join(@folder, "lib"))
    File.write(File.join(@folder, "lib/memtop.rb"), "raise LoadError, \"broken \\e[31m on purpose\"\n")
    refused(program.pid, /was not started: broken \\.*on purpose/, env: { "MEMTOP_LIB" => File.join(@folder, "lib") })
    File.write(File.join(@folder, "not-a-socket"), "")
    assert_nil Process.wait(program.pid, Process::WNOHANG)
    refute_nil live(attach(program), "String")
  end

  def test_a_socket_that_cannot_be_is_told_here
    program = start("puts :ready; sleep", env: { "MEMTOP_SOCKET" => File.join(@folder, "missing", "x.sock") })
    refused(program.pid, /was not started: cannot listen on .*missing/)
  end

  def test_a_thread_group_that_is_closed_is_told_here
    program = start("ThreadGroup::Default.enclose; puts :ready; sleep")
    refused(program.pid, /was not started/)
    assert_nil Process.wait(program.pid, Process::WNOHANG)
  end

  AS_NOBODY = %w[setpriv --reuid nobody --regid nogroup --clear-groups].freeze

  def test_another_users_process_wants_root
    skip "only root can be somebody else" unless Process.euid.zero?
    program = start("puts :ready; sleep")
    refused(program.pid, /belongs to root.*sudo memtop attach #{program.pid}/m,
            before: AS_NOBODY)
  end

  def test_root_without_the_capability_is_told_of_it
    skip "this machine has no capability SYS_PTRACE to leave out" unless capable?(19)
    program = start("puts :ready; sleep")
    refused(program.pid, /not even as root.*docker run --cap-add SYS_PTRACE/m,
            before: %w[setpriv --inh-caps=-sys_ptrace --bounding-set=-sys_ptrace])
    refute_nil live(attach(program), "String")
  end

  def capable?(bit) = File.read("/proc/self/status")[/^CapEff:\s+(\h+)/, 1].hex[bit] == 1

  def test_a_process_that_forbids_it_says_so_to_its_own_user
    skip "only root can be somebody else" unless Process.euid.zero?
    program = start(<<~RUBY, before: AS_NOBODY)
      require "fiddle"
      prctl = Fiddle::Function.new(Fiddle.dlopen(nil)["prctl"], [Fiddle::TYPE_INT, Fiddle::TYPE_LONG], Fiddle::TYPE_INT)
      prctl.call(4, 0) # PR_SET_DUMPABLE
      puts :ready
      sleep
    RUBY
    refused(program.pid, /has forbidden it \(prctl PR_SET_DUMPABLE\).*sudo memtop attach #{program.pid}/m, before: AS_NOBODY)
  end

  def test_root_attaches_to_another_users_process_and_looks
    skip "only root can attach to somebody else's" unless Process.euid.zero?
    nobody = Etc.getpwnam("nobody")
    File.chown(nobody.uid, nobody.gid, @folder)
    copy = File.join(@folder, "lib") # where nobody can read it
    FileUtils.cp_r(LIBRARY, copy)
    FileUtils.chown_R(nobody.uid, nobody.gid, copy)
    program = start("puts :ready; sleep", before: AS_NOBODY)
    text, errors, status = memtop("attach", program.pid, "--once", env: { "MEMTOP_LIB" => copy })
    assert_equal [0, ""], [status, errors]
    assert_match(/String/, text)
    assert_equal nobody.uid, File.stat(@socket).uid
    assert_equal 0o600, File.stat(@socket).mode & 0o777
  end

  def test_a_process_in_a_container_is_told_where_to_attach
    skip "only root can make one" unless Process.euid.zero?
    output, child_output = IO.pipe
    pid = Process.spawn("unshare", "--mount", RbConfig.ruby, "-e", "puts :ready; $stdout.flush; sleep", out: child_output)
    @pids << pid
    child_output.close
    skip "this system makes no mount namespace" unless output.wait_readable(30) && output.gets
    refused(pid, /sees other files than memtop does.*memtop attach #{pid}/m)
  end

  def test_interrupted_it_leaves_nothing_behind
    program = start("puts :ready; loop { ('a' * 27) =~ /^(a?){27}a{27}$/ }")
    folder = File.join(@folder, "tmp")
    Dir.mkdir(folder)
    memtop = Process.spawn({ "TMPDIR" => folder }, MEMTOP, "attach", program.pid.to_s, "--once", out: File::NULL, err: File::NULL)
    eventually("the folder") { !Dir.empty?(folder) }
    Process.kill(:TERM, memtop)
    status = Process.wait2(memtop)[1]
    assert(status.termsig == Signal.list["TERM"] || status.success?, status.inspect)
    assert_empty Dir.children(folder)
    assert_nil Process.wait(program.pid, Process::WNOHANG)
  end

  def test_a_job_that_a_child_inherits_does_nothing_there
    program = start(<<~RUBY)
      puts :ready
      loop do
        pid = fork { sleep 0.02; exit!(defined?(Memtop) && Memtop.running? && Process.ppid != 1 ? 0 : 0) }
        Process.wait(pid)
        abort "child: \#{$?}" unless $?.success?
      end
    RUBY
    refute_nil live(attach(program), "String")
    detach
    assert_nil Process.wait(program.pid, Process::WNOHANG)
  end
end
