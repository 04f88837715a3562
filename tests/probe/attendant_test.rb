# frozen_string_literal: true

require "test_helper"
require "probed"

# What a viewer that started the program has of it: all, from the first line to the last.
# The client shares no code with memtop.
class AttendantTest < Minitest::Test
  include Probed

  LEAK = "class Order; end\nKEPT = Array.new(4321) { Order.new }\nArray.new(9) { Object.new }\nexit 5"

  def attendant(words = "") = { "MEMTOP_ATTENDANT" => "#{Process.pid}#{words}" }

  def start(script, env)
    output, theirs = IO.pipe
    command = [*Probed::RUBY, "-r", "memtop/auto", "-e", script]
    pid = Process.spawn({ "MEMTOP_SOCKET" => @socket, **env }, *command, out: theirs)
    theirs.close
    @pids << pid
    [pid, output]
  end

  def test_the_program_begins_when_its_attendant_has_the_first_counts
    _, output = start("class Order; end; KEPT = Array.new(99) { Order.new }; $stdout.puts 1; $stdout.flush; sleep", attendant)
    client = connect
    client.until { client.samples.positive? }
    assert_empty client.rows_named("Order")
    assert_equal "1\n", output.gets
    client.until { client.rows_named("Order").any? } # it has its name a sample later
    client.sample
    assert_equal 99, client["Order"].live
  end

  def test_the_last_counts_come_before_the_goodbye_however_short_it_lives
    10.times do
      pid, = start(LEAK, attendant)
      client = connect
      client.until { client.bye }
      assert_equal 4321, client["Order"].live
      Process.wait(pid)
      @pids.delete(pid)
    end
  end

  def test_a_check_has_them_without_garbage_and_with_the_trees_of_traced_classes
    script = "class Order; end\nKEPT = []\ndef keep = KEPT << Order.new\n300.times { keep }\n" \
             "Thread.new { 700.times { Order.new } }.join # on a stack that ends\nexit"
    start(script, attendant(",gc").merge("MEMTOP_MODE" => "trace", "MEMTOP_TRACE" => "Order"))
    client = connect
    client.until { client.bye }
    assert_equal 300, client["Order"].live
    tree = client.tree_sent("Order")
    assert_equal 300, tree.live
    assert_equal 300, tree.sum
  end

  def test_nobody_is_waited_for_when_the_attendant_is_gone_or_never_comes
    pid = Process.spawn("true")
    Process.wait(pid)
    [pid, Process.pid].each do |attendant|
      output, errors, status = ruby("puts 1; exit 3", env: { "MEMTOP_ATTENDANT" => attendant.to_s })
      assert_equal ["1\n", "", 3], [output, errors, status.exitstatus]
    end
  end

  def test_a_folder_has_a_socket_for_each_process
    program = spawn_ruby("pid = fork { puts Memtop.socket; sleep }; $stdin.gets; Process.kill(:KILL, pid)",
                         env: { "MEMTOP_SOCKET" => "#{@folder}/" })
    Timeout.timeout(30) { sleep 0.01 until Dir[File.join(@folder, "*.sock")].size == 2 }
    assert_includes Dir[File.join(@folder, "*.sock")], File.join(@folder, "#{program.pid}.sock")
    program.input.puts
    Timeout.timeout(30) { Process.wait(program.pid) }
    @pids.delete(program.pid)
  end
end
