# frozen_string_literal: true

require "test_helper"
require "probed"

# Starting, stopping, settings, modes, and the socket in the file system.
class StartTest < Minitest::Test
  include Probed

  def run_ok(script, **options)
    output, errors, status = ruby(script, **options)
    assert status.success?, "#{errors}\n#{output}"
    [output, errors]
  end

  def test_start_and_stop_say_whether_they_did
    run_ok(<<~RUBY, auto: false)
      require "memtop"
      abort "1" if Memtop.running? || Memtop.socket || Memtop.mode != "dormant"
      abort "2" unless Memtop.start == true && Memtop.start == false && Memtop.running?
      abort "3" unless File.socket?(Memtop.socket)
      path = Memtop.socket
      abort "4" unless Memtop.stop == true && Memtop.stop == false && !Memtop.running?
      abort "5" if File.exist?(path)
      abort "6" unless Memtop::VERSION =~ /\\A\\d+\\.\\d+\\.\\d+\\z/
    RUBY
  end

  def test_stop_leaves_no_thread_descriptor_hook_or_file
    run_ok(<<~RUBY, auto: false)
      require "memtop"
      def state = [Thread.list.size, Dir.children("/proc/self/task").size, Dir.children("/proc/self/fd").size]
      Memtop.start && Memtop.stop
      before = state
      10.times { Memtop.start && Memtop.stop }
      50.times { break if state == before; sleep 0.05 }
      abort "\#{before} became \#{state}" unless state == before
    RUBY
  end

  def test_counting_goes_on_exactly_after_a_restart
    run_ok(<<~RUBY, auto: false)
      require "memtop"
      class Order; end
      KEPT = Array.new(10) { Order.new }
      3.times { Memtop.start; Array.new(1000) { Order.new }; KEPT << Order.new; Memtop.stop; 1000.times { Order.new } }
      Memtop.start
      #{SELF_CHECK}
      exact Order
    RUBY
  end

  def test_keywords_win_over_the_environment
    output, = run_ok(<<~RUBY, auto: false, env: { "MEMTOP_MODE" => "count" })
      require "memtop"
      Memtop.start(socket: ENV["MEMTOP_SOCKET"] + "2", mode: :dormant, interval: 0.5, budget: 1, depth: 10, readonly: true)
      puts Memtop.socket, Memtop.mode
    RUBY
    assert_equal [@socket + "2", "dormant"], output.lines.map(&:chomp)
  end

  def test_wrong_settings_are_warned_of_and_the_program_runs
    wrong = { "MEMTOP_MODE" => "fast", "MEMTOP_INTERVAL" => "0", "MEMTOP_BUDGET" => "lots",
              "MEMTOP_DEPTH" => "-1", "MEMTOP_READONLY" => "maybe" }
    output, errors = run_ok("puts Memtop.mode", env: wrong)
    assert_equal "count", output.chomp
    wrong.each { |name, value| assert_match(/memtop: #{name} "#{value}" is not .+; the default stays/, errors) }
  end

  def test_unknown_keywords_are_refused
    run_ok(<<~RUBY, auto: false)
      require "memtop"
      begin
        Memtop.start(sockt: "x")
        abort "taken"
      rescue ArgumentError => e
        abort e.message unless e.message.include?("sockt")
      end
    RUBY
  end

  def test_the_socket_is_this_users_alone
    spawn_ruby("puts 1; sleep").line
    stat = File.stat(@socket)
    assert_equal 0o600, stat.mode & 0o777
    assert_equal Process.euid, stat.uid
  end

  def test_the_default_folder_is_private_and_named_by_the_users_id
    program = spawn_ruby("puts Memtop.socket; sleep", env: { "MEMTOP_SOCKET" => nil, "XDG_RUNTIME_DIR" => nil, "TMPDIR" => @folder })
    path = program.line
    assert_equal File.join(@folder, "memtop-#{Process.euid}", "#{program.pid}.sock"), path
    assert_equal 0o700, File.stat(File.dirname(path)).mode & 0o777
    runtime = spawn_ruby("puts Memtop.socket; sleep", env: { "MEMTOP_SOCKET" => nil, "XDG_RUNTIME_DIR" => @folder })
    assert_equal File.join(@folder, "memtop", "#{runtime.pid}.sock"), runtime.line
  end

  def test_a_folder_others_may_write_to_is_refused
    Dir.mkdir(File.join(@folder, "memtop"), 0o777)
    File.chmod(0o777, File.join(@folder, "memtop"))
    output, errors = run_ok("puts 42", env: { "MEMTOP_SOCKET" => nil, "XDG_RUNTIME_DIR" => @folder })
    assert_equal "42", output.chomp
    assert_match(/memtop: not started: .*mode 0700/, errors)
  end

  def test_a_link_in_place_of_the_folder_is_refused
    Dir.mkdir(File.join(@folder, "elsewhere"), 0o700)
    File.symlink("elsewhere", File.join(@folder, "memtop"))
    _, errors = run_ok("puts 42", env: { "MEMTOP_SOCKET" => nil, "XDG_RUNTIME_DIR" => @folder })
    assert_match(/not a folder of this user alone/, errors)
  end

  def test_a_stale_socket_is_replaced
    UNIXServer.new(@socket).close
    assert File.socket?(@socket)
    spawn_ruby("puts 1; sleep").line
    connect.sample
  end

  def test_a_socket_in_use_is_refused
    first = spawn_ruby("puts 1; sleep")
    first.line
    output, errors = run_ok("puts 42")
    assert_equal "42", output.chomp
    assert_match(/another process listens on it/, errors)
    assert_equal first.pid, connect.sample.hello[:pid]
  end

  def test_what_is_no_socket_is_left_alone
    File.write(@socket, "precious")
    _, errors = run_ok("puts 42")
    assert_match(/exists and is not a socket/, errors)
    assert_equal "precious", File.read(@socket)
    File.delete(@socket)
    File.symlink("/etc/passwd", @socket)
    _, errors = run_ok("puts 42")
    assert_match(/exists and is not a socket/, errors)
    assert File.symlink?(@socket)
  end

  def test_a_path_too_long_or_a_missing_folder_is_said
    _, errors = run_ok("puts 42", env: { "MEMTOP_SOCKET" => File.join(@folder, "x" * 200) })
    assert_match(/longer than 107 bytes/, errors)
    _, errors = run_ok("puts 42", env: { "MEMTOP_SOCKET" => File.join(@folder, "no", "such.sock") })
    assert_match(/No such file or directory/, errors)
  end

  def test_another_user_is_refused_and_root_is_served
    skip "needs root to be another user" unless Process.uid.zero?
    File.chmod(0o755, @folder)
    spawn_ruby("puts 1; sleep").line
    other = Process::UID.from_name("nobody")
    File.chmod(0o777, @socket) # as if the mode had been lost: the peer's uid decides
    words = IO.popen([RbConfig.ruby, "-rsocket", "-e", <<~RUBY], &:read)
      Process::UID.change_privilege(#{other})
      print UNIXSocket.new(#{@socket.inspect}).read
    RUBY
    assert_includes words, "another user"
    refute_includes words, "memtop/auto"
    connect.sample
  end

  def test_a_user_is_watched_by_root
    skip "needs root to be another user" unless Process.uid.zero?
    other = Process::UID.from_name("nobody")
    File.chown(other, -1, @folder)
    program = spawn_ruby("puts 1; sleep", auto: false) # only to have the pipes
    program.line
    script = "Process::UID.change_privilege(#{other}); require 'memtop'; Memtop.start; puts Memtop.socket; sleep"
    assert_equal @socket, spawn_ruby(script, auto: false).line
    assert_equal other, File.stat(@socket).uid
    connect.sample
  end

  def test_modes_are_switched_live
    spawn_ruby(<<~RUBY).line
      class Order; end
      KEPT = Array.new(100) { Order.new }
      puts 1
      loop { Order.new; sleep 0.001 }
    RUBY
    client = connect.heap.census
    assert_operator client["Order"].live, :>=, 100
    assert_equal :done, client.mode!("dormant")[0]
    client.until { client.mode == "dormant" }
    assert_empty client.sample.rows
    assert_operator client.process[:heap_live], :>, 1000
    assert_equal :done, client.mode!("census")[0]
    client.census
    assert_operator client["Order"].live, :>=, 100
    assert_nil client["Order"].allocated
    assert_equal :done, client.mode!("count")[0]
    client.request(:gc)
    client.sample
    assert_operator client["Order"].live, :>=, 100
    refute_nil client["Order"].allocated
    assert_equal 0, client.census.probe[:drift]
    assert_equal :done, client.mode!("trace")[0]
    client.until { client.mode == "trace" }
    assert_operator client["Order"].live, :>=, 100
    assert_equal :refused, client.request(:mode, 77)[0]
  end

  def test_dormant_installs_no_hook_and_starts_counting_when_asked
    spawn_ruby("class Order; end; KEPT = Array.new(9) { Order.new }; puts 1; sleep", env: { "MEMTOP_MODE" => "dormant" }).line
    client = connect.sample
    assert_equal "dormant", client.mode
    assert_empty client.rows
    client.mode!("count")
    assert_equal 9, client.sample["Order"].live
  end

  def test_no_socket_means_no_probe_not_no_program
    output, errors, status = ruby("puts 42; exit 7", env: { "MEMTOP_SOCKET" => "/proc/none/x.sock" })
    assert_equal ["42", 7], [output.chomp, status.exitstatus]
    assert_match(/memtop: not started/, errors)
  end

  def test_programs_that_handle_all_their_threads_do_not_meet_the_probes
    run_ok(<<~RUBY)
      abort "list" unless Thread.list == [Thread.main]
      abort "group" unless ThreadGroup::Default.list == [Thread.main]
      worker = Thread.new { sleep 0.1; :done }
      (Thread.list - [Thread.current]).each(&:join)
      abort "worker" unless worker.value == :done
      ours = ObjectSpace.each_object(Thread).select { |thread| thread.name == "memtop" && thread.alive? }
      abort ours.inspect unless ours.size == 1 && ours[0].thread_variable_get(:fork_safe)
    RUBY
  end
end
