# frozen_string_literal: true

require "test_helper"
require "probed"

# What a child has of its own from its first instant, and what it must not keep of its
# parent's.
class ForkChildrenTest < Minitest::Test
  include Probed

  CHILD = <<~RUBY
    class Order; end
    KEPT = Array.new(100) { Order.new }
    GC.start
  RUBY

  def child_path(pid) = File.join(@folder, "app.#{pid}.sock")

  def names = Dir.children(@folder).grep(/\.sock\z/).sort

  def until_true(words)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 30
    until yield
      flunk "not within 30 s: #{words}" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
      sleep 0.02
    end
  end

  def child_of(program, pid)
    @pids << pid
    client = connect(child_path(pid)).sample
    assert_equal pid, client.hello[:pid]
    assert_equal program.pid, client.hello[:parent_pid]
    client
  end

  def exact(client, orders)
    assert_equal orders, client["Order"].live
    client.census
    assert_equal 0, client.probe[:drift]
  end

  def test_a_child_that_sleeps_at_once_is_there_with_exact_counts
    program = spawn_ruby(<<~RUBY)
      #{CHILD}
      puts fork { sleep }
      gets
    RUBY
    exact(child_of(program, program.line.to_i), 100)
  end

  def test_a_child_that_sits_in_c_at_once_is_there
    program = spawn_ruby(<<~RUBY)
      #{CHILD}
      puts fork { $stdin.read }
      gets
    RUBY
    client = child_of(program, program.line.to_i)
    assert_equal 100, client["Order"].live
  end

  def test_what_a_child_makes_first_is_counted
    program = spawn_ruby(<<~RUBY)
      #{CHILD}
      puts fork {
        KEPT.concat(Array.new(50) { Order.new })
        30.times { KEPT.pop }
        GC.start
        GC.disable
        puts ObjectSpace.each_object(Order).count
        sleep
      }
      gets
    RUBY
    pid, count = [program.line.to_i, program.line.to_i].minmax.reverse
    client = child_of(program, pid)
    until_true("the child's orders") { client.sample["Order"].live == count }
    assert_includes 120..123, count
    exact(client, count)
  end

  def test_a_fork_in_another_thread
    program = spawn_ruby(<<~RUBY)
      #{CHILD}
      Thread.new { Thread.new { sleep }; puts fork { sleep } }.join
      gets
    RUBY
    exact(child_of(program, program.line.to_i), 100)
  end

  def test_a_fork_while_all_threads_allocate
    program = spawn_ruby(<<~RUBY)
      #{CHILD}
      4.times { Thread.new { loop { Array.new(50) { Object.new } } } }
      8.times { puts fork { sleep } }
      gets
    RUBY
    8.times { exact(child_of(program, program.line.to_i), 100) }
  end

  def test_the_grandchild_of_a_double_fork_is_found_though_its_parent_is_gone
    program = spawn_ruby(<<~RUBY)
      #{CHILD}
      Process.wait(fork { puts fork { sleep }; exit!(0) })
      gets
    RUBY
    pid = program.line.to_i
    @pids << pid
    client = connect(child_path(pid)).sample
    exact(client, 100)
    Process.kill(:KILL, pid)
  end

  def test_a_child_that_executes_something_leaves_its_socket_to_nobody
    program = spawn_ruby(<<~RUBY)
      #{CHILD}
      puts Process.spawn("sleep 60")
      puts fork { exec("sleep", "60") }
      puts IO.popen("sleep 60").pid
      gets
    RUBY
    pids = Array.new(3) { program.line.to_i }
    @pids.concat(pids)
    until_true("exec") { pids.all? { |pid| File.read("/proc/#{pid}/comm") == "sleep\n" } }
    (names - ["app.sock"]).each do |name|
      assert_raises(Errno::ECONNREFUSED) { UNIXSocket.new(File.join(@folder, name)) }
    end
    connect.sample
  end

  # At times one more: that of a `memtop ps` in another test.
  def sockets_of(pid)
    Dir.children("/proc/#{pid}/fd").count do |descriptor|
      File.readlink("/proc/#{pid}/fd/#{descriptor}").start_with?("socket:")
    rescue Errno::ENOENT
      false
    end
  end

  def test_a_child_keeps_nothing_open_of_its_parents
    program = spawn_ruby(<<~RUBY)
      #{CHILD}
      gets
      puts fork { sleep }
      gets
    RUBY
    watching = connect.sample
    pid = program.tell("fork").to_i
    child = child_of(program, pid)
    child.sample
    until_true("its own endpoint, and this viewer: no other socket") { sockets_of(pid) == 2 }
    program.input.puts("end")
    nil while watching.step
    assert_equal 1, watching.bye[:reason] + 1, "BYE_EXIT"
    until_true("the socket is gone") { !File.exist?(@socket) }
    assert_equal 100, child.sample["Order"].live
  end

  def test_a_parents_end_does_not_take_the_childs_socket
    program = spawn_ruby(<<~RUBY)
      #{CHILD}
      puts fork { sleep }
    RUBY
    pid = program.line.to_i
    @pids << pid
    Process.wait(program.pid)
    @pids.delete(program.pid)
    assert_equal 100, connect(child_path(pid)).sample["Order"].live
    Process.kill(:KILL, pid)
  end

  def test_children_that_end_without_a_word_are_cleaned_up_by_the_next_one
    program = spawn_ruby(<<~RUBY)
      #{CHILD}
      5.times do
        reader, writer = IO.pipe
        child = fork { until File.exist?(Memtop.socket); end; writer << "x"; sleep }
        reader.read(1)
        Process.kill(:KILL, child)
        Process.wait(child)
      end
      puts fork { sleep }
      gets
    RUBY
    pid = program.line.to_i
    @pids << pid
    connect(child_path(pid)).sample
    assert_equal ["app.#{pid}.sock", "app.sock"], names
  end

  def test_a_daemons_socket_is_its_own_and_its_parents_is_dead
    program = spawn_ruby(<<~RUBY)
      #{CHILD}
      Process.daemon(true, true)
      puts Process.pid
      sleep
    RUBY
    pid = program.line.to_i
    @pids << pid
    exact(connect(child_path(pid)).sample, 100)
    assert_raises(Errno::ECONNREFUSED) { UNIXSocket.new(@socket) }
    Process.kill(:TERM, pid)
    until_true("the daemon's end") { !File.exist?(child_path(pid)) }
  end
end
