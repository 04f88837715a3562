# frozen_string_literal: true

require "test_helper"
require "json"
require "served"

# Real servers that fork: each process counts for itself and agrees with its Ruby.
class ForkServersTest < Minitest::Test
  include Served

  def test_puma_in_single_mode_counts_exactly_under_load
    puma(workers: 0)
    pid = ask_each("/", 1).keys.first
    assert_equal @server, pid
    under_load { 5.times { get("/") } }
    assert_counts_agree(ask_each("/compare", 1).fetch(pid))
  end

  def test_each_worker_of_a_puma_cluster_agrees_with_its_own_object_space
    puma(workers: 3)
    compare_workers(3)
  end

  def test_each_worker_of_a_preloaded_cluster_counts_on_from_the_master
    puma(workers: 3, extra: "preload_app!")
    workers = compare_workers(3)
    master = connect(File.join(@sockets, "#{@server}.sock")).sample
    assert_equal 100, master["Order"].live
    assert_equal([@server], workers.values.map { |worker| worker[:told][1] }.uniq)
  end

  def test_workers_are_found_beside_a_socket_that_was_named
    puma(workers: 2, env: { "MEMTOP_SOCKET" => @socket })
    workers = compare_workers(2)
    expected = workers.keys.map { |pid| File.join(@folder, "app.#{pid}.sock") }
    assert_equal expected.sort, workers.values.map { |worker| worker[:socket] }.sort
    assert_path_exists @socket
  end

  def test_workers_that_a_worker_forks_count_too
    puma(workers: 2, extra: "fork_worker")
    compare_workers(2)
  end

  def test_a_phased_restart_leaves_no_socket_of_the_workers_that_went
    puma(workers: 3, extra: ENDING)
    old = ask_each("/", 3).keys
    assert_equal [@server, *old].map { |pid| "#{pid}.sock" }.sort, sockets
    under_load do
      Process.kill(:USR1, @server)
      await("the old workers' end") { old.none? { |pid| alive?(pid) } }
    end
    young = ask_each("/compare", 3, except: old)
    young.each_value { |worker| assert_counts_agree(worker) }
    assert_equal [@server, *young.keys].map { |pid| "#{pid}.sock" }.sort, sockets - killed(old)
  end

  def test_a_hot_restart_of_the_whole_cluster_goes_on_under_the_same_pid
    puma(workers: 2)
    old = ask_each("/", 2).keys
    Process.kill(:USR2, @server)
    await("the old workers' end") { old.none? { |pid| alive?(pid) } }
    young = ask_each("/compare", 2, except: old)
    young.each_value { |worker| assert_counts_agree(worker) }
    await("the sockets") { [@server, *young.keys].map { |pid| "#{pid}.sock" }.sort == sockets }
  end

  def test_the_end_of_a_cluster_leaves_no_socket
    puma(workers: 4, extra: ENDING)
    workers = ask_each("/", 4).keys
    stop_server
    refute(workers.any? { |pid| alive?(pid) })
    assert_empty sockets - killed(workers)
    assert_operator killed(workers).size, :<, workers.size
  end

  UNICORN = <<~RUBY
    worker_processes 2
    timeout 60
    check_client_connection false
  RUBY

  def test_unicorn_with_and_without_preload
    skip "unicorn is not installed (Debian's package unicorn)" unless unicorn?
    [false, true].each do |preload|
      unicorn(preload)
      compare_workers(2)
      stop_server
      clean_up
    end
  end

  def test_an_upgrade_of_unicorn_leaves_nothing_of_the_old_master
    skip "unicorn is not installed (Debian's package unicorn)" unless unicorn?
    old_master = unicorn(true)
    old = ask_each("/", 2).keys
    Process.kill(:USR2, old_master)
    young = ask_each("/compare", 2, except: old)
    young.each_value { |worker| assert_counts_agree(worker) }
    new_master = young.values.first[:parent]
    @pids << new_master
    refute_equal old_master, new_master
    Process.kill(:QUIT, old_master)
    await("the old workers' end") { old.none? { |pid| alive?(pid) } }
    Process.wait(old_master)
    await("sockets of the new only: #{sockets}") do
      sockets == [new_master, *young.keys].map { |pid| "#{pid}.sock" }.sort
    end
  ensure
    stop_unicorn(new_master) if new_master
  end

  private

  ENDING = <<~RUBY
    worker_shutdown_timeout 10
    on_worker_shutdown { File.write("\#{Process.pid}.ended", "") }
  RUBY

  # The sockets of those workers that did not come to their end: at times a server of
  # Puma waits in IO#close forever (on Ruby 3.3, with memtop or without), and is killed.
  def killed(workers)
    hung = workers.reject { |pid| File.exist?(File.join(@folder, "#{pid}.ended")) }
    hung.map { |pid| "#{pid}.sock" }
  end

  def unicorn? = ENV["PATH"].split(":").any? { |folder| File.executable?(File.join(folder, "unicorn")) }

  def unicorn(preload)
    config = "#{UNICORN}listen \"127.0.0.1:#{@port}\"\npreload_app #{preload}\npid #{File.join(@folder, 'pid').inspect}\n"
    serve("unicorn", config, "-E", "none", "-c")
  end

  def stop_unicorn(master)
    Process.kill(:TERM, master)
    await("the new master's end") { !alive?(master) }
  rescue Errno::ESRCH
    nil
  end

  # A worker of Unicorn that is told to end at once ends by exit!, and its socket stays.
  def clean_up
    await("no sockets: #{sockets}") do
      memtop("ps")
      sockets.empty?
    end
  end

  def stop_server
    Process.kill(:TERM, @server)
    Process.wait(@server)
    @pids.delete(@server)
  end

  # Under load and after it every worker agrees with itself.
  def compare_workers(count)
    ask_each("/", count)
    under_load { ask_each("/", count) }
    workers = ask_each("/compare", count)
    workers.each_value do |worker|
      assert_counts_agree(worker)
      assert_equal [worker[:pid], worker[:parent]], worker[:told]
    end
    workers
  end
end
