# frozen_string_literal: true

require "test_helper"
require "json"
require "served"

# memtop ps and merged tables, of real servers.
class PsTest < Minitest::Test
  include Served

  # What memtop ps says of the processes whose sockets are in this test's folder; the
  # machine may have others.
  def ps(*arguments)
    out, errors, status = memtop("ps", "--json", *arguments)
    assert status.success?, errors
    JSON.parse(out, symbolize_names: true).select { |process| process[:socket].start_with?(@folder) }
  end

  def once(*arguments)
    out, errors, status = memtop("--once", "--json", *arguments.map(&:to_s))
    assert status.success?, errors
    JSON.parse(out)
  end

  def live(document) = document["classes"].to_h { |row| [row["name"], row["live"]] }

  # A program of its own under the probe, in the default folder.
  def program(script)
    spawn_ruby(script, env: { "MEMTOP_SOCKET" => nil, "XDG_RUNTIME_DIR" => @folder })
  end

  def test_lists_a_cluster_as_it_is
    puma(workers: 2)
    workers = ask_each("/", 2).keys
    list = ps
    assert_equal [@server, *workers.sort], list.map { |process| process[:pid] }
    assert_equal [Process.pid, @server, @server], list.map { |process| process[:parent] }
    assert_equal %w[count live], list.flat_map { |process| process.values_at(:mode, :state) }.uniq
    list.each do |process|
      assert_equal File.join(@sockets, "#{process[:pid]}.sock"), process[:socket]
      assert_match(/puma/, process[:command])
      assert_operator process[:rss_bytes], :>, 1_000_000
      assert_operator process[:live], :>, 10_000
    end
  end

  # Puma said "HTTP parse error" when somebody looked what its own socket is.
  def test_a_socket_of_the_programs_own_is_left_alone
    program = spawn_ruby(<<~RUBY)
      require "socket"
      server = UNIXServer.new("#{@folder}/own.sock")
      puts Process.pid
      gets
      puts server.accept_nonblock(exception: false).inspect
      gets
    RUBY
    pid = program.line.to_i
    assert_equal([[pid, @socket]], ps.map { |process| process.values_at(:pid, :socket) })
    assert_equal ":wait_readable", program.tell("look")
  end

  def test_the_table_has_children_below_their_parent
    puma(workers: 2)
    workers = ask_each("/", 2).keys.sort
    out, errors, status = memtop("ps", "--ascii")
    assert status.success?, errors
    lines = out.lines.map { |line| line[/\A\S+/] }
    at = lines.index(@server.to_s)
    assert_equal ["|-#{workers[0]}", "`-#{workers[1]}"], lines[at + 1, 2], out
  end

  def test_a_cluster_by_name_of_its_socket_is_found_too
    puma(workers: 2, env: { "MEMTOP_SOCKET" => @socket })
    workers = ask_each("/", 2).keys
    assert_equal [@server, *workers].sort, ps.map { |process| process[:pid] }.sort
  end

  def test_growth_is_measured_when_there_is_time
    grows = program(<<~RUBY)
      class Order; end
      kept = []
      GC.start # or the start's garbage may go in the time looked at
      puts :ready
      loop { 100.times { kept << Order.new }; sleep 0.01 }
    RUBY
    grows.line
    process = ps("--wait", "7s").find { |one| one[:pid] == grows.pid }
    assert_operator process[:live_per_minute], :>, 1000
    assert_nil ps.find { |one| one[:pid] == grows.pid }[:live_per_minute]
  end

  def test_a_stopped_process_holds_nobody_up
    stopped = program("puts :ready; sleep")
    other = program("puts :ready; sleep")
    [stopped, other].each(&:line)
    Process.kill(:STOP, stopped.pid)
    list = ps.to_h { |process| [process[:pid], process[:state]] }
    assert_equal({ stopped.pid => "silent", other.pid => "live" }, list)
  ensure
    Process.kill(:CONT, stopped.pid) if stopped
  end

  def test_what_listens_there_and_is_no_probe_is_silent
    FileUtils.mkdir_p(@sockets, mode: 0o700)
    UNIXServer.open(File.join(@sockets, "#{Process.pid}.sock")) do |server|
      answers = Thread.new { server.accept.write("hello, I am no probe\n" * 4) }
      process = ps.first
      assert_equal "silent", process[:state]
      assert_nil process[:mode]
      refute_empty process[:why]
      answers.join
    end
  end

  def test_killed_processes_leave_no_socket_once_somebody_looked
    puma(workers: 2)
    workers = ask_each("/", 2).keys
    victim = workers.first
    Process.kill(:STOP, @server) # or it would start another at once, which cleans up
    Process.kill(:KILL, victim)
    # a stopped parent does not wait for it: it stays, ended
    assert_includes sockets, "#{victim}.sock"
    Process.kill(:CONT, @server)
    await("another worker") { (get("/") || {}).fetch(:pid, victim) && ps.size == 3 && ps.none? { |one| one[:pid] == victim } }
    await("the socket's end") { ps && !sockets.include?("#{victim}.sock") }
  end

  def test_sockets_of_nobody_go_and_other_files_stay
    FileUtils.mkdir_p(@sockets, mode: 0o700)
    dead = fork { exit!(0) }
    Process.wait(dead)
    UNIXServer.open(File.join(@sockets, "#{dead}.sock")).close
    UNIXServer.open(File.join(@sockets, "x.sock")).close
    File.write(File.join(@sockets, "notes"), "mine")
    assert_empty ps
    assert_equal %w[notes x.sock], sockets
  end

  def test_nobody_is_an_empty_list_and_no_error
    out, _, status = memtop("ps", "--json")
    assert status.success?
    assert_kind_of Array, JSON.parse(out)
  end

  # The counts of each class in a cluster: merged, and in those that are alike in a look
  # at each process before and one after, the sum of these.
  def merged_and_sums(pids)
    before = pids.map { |pid| live(once(pid)) }
    merged = once("--merged", @server)
    after = pids.map { |pid| live(once(pid)) }
    sums = [before, after].map { |all| all.reduce { |sum, one| sum.merge(one) { |_, a, b| a + b } } }
    [merged, sums[0].select { |name, count| sums[1][name] == count }]
  end

  # Puma's threads make a few objects all the time: what did not change between two
  # looks at each process must be in the sum between them exactly, unless it had changed
  # and changed back, which is not so each time.
  def test_the_sum_of_a_cluster_is_that_of_its_processes
    puma(workers: 3)
    pids = [@server, *ask_each("/", 3).keys]
    10.times { get("/keep?100") }
    merged = still = nil
    10.times do
      merged, still = merged_and_sums(pids)
      break if still == live(merged).slice(*still.keys)
    end
    assert_equal still, live(merged).slice(*still.keys)
    assert_operator still.size, :>, 40
    assert_equal 300 + 1000, still.fetch("Order")
    assert_equal @server, merged["process"]["pid"]
    assert_match(/4 processes merged/, merged["process"]["command"])
    assert_operator merged["totals"]["live"], :>=, 4 * 20_000
  end

  def test_a_worker_stands_for_its_cluster_and_a_dead_parent_for_its_children
    puma(workers: 2)
    workers = ask_each("/", 2).keys
    assert_equal @server, once("--merged", workers.first)["process"]["pid"]
    single = program("puts :ready; sleep")
    single.line
    assert_match(/1 process merged/, once("--merged", single.pid)["process"]["command"])
    out, errors, status = memtop("--once", "--merged", "1")
    assert_equal 3, status.exitstatus, out unless status.success?
    refute_empty errors unless status.success?
  end

  def test_a_worker_that_does_not_answer_is_said_to_be_missing
    puma(workers: 2)
    workers = ask_each("/", 2).keys
    Process.kill(:STOP, workers.first)
    merged = once("--merged", @server)
    words = merged["notices"].map { |notice| notice["text"] }
    assert(words.any? { |text| text.start_with?("the sums are over 2 of 3 processes: #{workers.first}") }, words.inspect)
  ensure
    Process.kill(:CONT, workers.first) if workers
  end
end
