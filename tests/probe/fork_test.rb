# frozen_string_literal: true

require "test_helper"
require "probed"

# Children have a socket and counts of their own; what execs leaves nothing.
class ForkTest < Minitest::Test
  include Probed

  CHILD = <<~RUBY
    class Order; end
    KEPT = Array.new(100) { Order.new }
    GC.start
  RUBY

  def child_path(pid) = File.join(@folder, "app.#{pid}.sock")

  def test_a_forked_child_counts_on_from_its_parent_and_is_found_beside_it
    program = spawn_ruby(<<~RUBY)
      #{CHILD}
      child = fork do
        KEPT.concat(Array.new(11) { Order.new })
        puts Process.pid
        sleep
      end
      at_exit { Process.kill(:TERM, child) if child }
      gets
    RUBY
    child = program.line.to_i
    theirs = connect(child_path(child)).sample
    ours = connect.sample
    assert_equal 111, theirs["Order"].live
    assert_equal 100, ours["Order"].live
    assert_equal child, theirs.hello[:pid]
    assert_equal program.pid, theirs.hello[:parent_pid]
    theirs.census
    assert_equal 0, theirs.probe[:drift]
    Process.kill(:KILL, child)
  end

  def test_children_of_children
    program = spawn_ruby(<<~RUBY)
      #{CHILD}
      fork { fork { KEPT.pop(10); GC.start; puts Process.pid; sleep }; sleep }
      gets
    RUBY
    grandchild = program.line.to_i
    client = connect(child_path(grandchild)).sample
    assert_operator client["Order"].live, :<=, 100
    client.census
    assert_equal 0, client.probe[:drift]
    Process.kill(:KILL, -Process.getpgid(grandchild)) if Process.getpgid(grandchild) != Process.getpgid(0)
    Process.kill(:KILL, client.hello[:parent_pid], grandchild)
  end

  def test_daemon_goes_on_under_its_new_pid
    skip "Process.daemon leaves the process group" unless Process.respond_to?(:daemon)
    program = spawn_ruby(<<~RUBY)
      #{CHILD}
      Process.daemon(true, true)
      puts Process.pid
      sleep 60
    RUBY
    daemon = program.line.to_i
    @pids << daemon
    refute_equal program.pid, daemon
    assert_equal 100, connect(child_path(daemon)).sample["Order"].live
    Process.kill(:KILL, daemon)
  end

  def test_commands_and_short_children_leave_no_socket
    output, errors, status = ruby(<<~RUBY)
      200.times { system("true") }
      20.times { Process.wait(fork { }) }
      20.times { Process.wait(fork { exit!(0) }) }
      `echo x`
      puts Dir.children(File.dirname(Memtop.socket)).sort.inspect
    RUBY
    assert status.success?, errors
    refute_match(/memtop/, errors)
    names = output.lines.last
    assert_includes names, "app.sock"
    assert_operator names.scan(".sock").size, :<=, 21, "exit! may leave one each, nothing else"
  end

  def test_exec_under_a_viewer_ends_its_stream_and_the_socket_is_taken_over
    program = spawn_ruby(<<~RUBY)
      puts "ready"
      gets
      exec(*#{[*RUBY, "-r", "memtop/auto"].inspect}, "-e", "$stdout.sync = true; puts :again; sleep")
    RUBY
    assert_equal "ready", program.line
    client = connect.sample
    first = client.hello[:started_us]
    assert_equal "again", program.tell("go")
    nil while client.step
    assert_nil client.bye
    again = connect.sample
    assert_equal program.pid, again.hello[:pid]
    refute_equal first, again.hello[:started_us]
  end

  def test_many_forks_under_load_neither_hang_nor_lose_counts
    output, errors, status = ruby(<<~RUBY)
      class Order; end
      KEPT = []
      stop = false
      threads = 4.times.map { Thread.new { KEPT << Order.new until stop || KEPT.size > 50_000 } }
      30.times { Process.wait(fork { Array.new(100) { Order.new } }) }
      stop = true
      threads.each(&:join)
      #{SELF_CHECK}
      exact Order
    RUBY
    assert status.success?, "#{errors}\n#{output}"
  end
end
