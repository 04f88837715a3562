# frozen_string_literal: true

require "json"
require "test_helper"
require "probed"

# What a viewer sees and may ask; and that none can hurt the program. Where viewers are
# counted, a `memtop ps` of another test may be among them, for as long as it looks.
class ServerTest < Minitest::Test
  include Probed

  SLEEPER = "class Order; end; KEPT = Array.new(64) { Order.new }; puts :ready; sleep"

  def sleeper(**options)
    spawn_ruby(SLEEPER, **options).tap { |program| assert_equal "ready", program.line }
  end

  def test_hello_says_who_it_is
    program = sleeper
    hello = connect.sample.hello
    assert_equal program.pid, hello[:pid]
    assert_equal Process.pid, hello[:parent_pid]
    assert_equal "ruby #{RUBY_VERSION}", hello[:runtime]
    assert_includes hello[:command], "memtop/auto"
    assert_equal 1, hello[:version]
    assert_in_delta Time.now.to_f, hello[:started_us] / 1e6, 60
  end

  def test_a_client_in_another_language_reads_the_live_stream
    program = sleeper
    client = File.expand_path("../protocol/client.py", __dir__)
    output, errors, status = Open3.capture3("/usr/bin/python3", client, @socket, "--samples", "2")
    assert status.success?, errors
    seen = JSON.parse(output)
    assert_equal program.pid, seen["hello"]["pid"]
    assert_equal 64, seen["classes"]["Order"]["live"]
    assert_in_delta seen["process"]["heap_slots_live"], seen["totals"]["live"], 1000
  end

  def test_every_figure_of_the_header_is_real
    program = sleeper
    client = connect.heap.census
    rss = File.read("/proc/#{program.pid}/statm").split[1].to_i * 4096
    assert_in_delta rss, client.process[:rss], rss / 3
    assert_operator client.process[:heap_live], :>, 1000
    assert_operator client.process[:heap_free], :>=, 0
    assert_operator client.process[:gc_count], :>=, client.process[:gc_major]
    assert_operator client.probe[:census_objects], :>, 1000
    assert_equal 0, client.probe[:drift]
    client.until { client.probe[:viewers] == 1 }
    client.until { client.probe[:cost_ppm] }
    assert_operator client.probe[:cost_ppm], :<, 500_000
    assert_equal 64, client["Order"].live
    assert_equal 64 * 40, client["Order"].bytes
  end

  def test_a_sleeping_program_streams
    sleeper(env: { "MEMTOP_INTERVAL" => "0.1" })
    client = connect.heap
    before = client.samples
    client.until { client.samples >= before + 5 }
    assert_operator client.process[:heap_age_ms], :<, 2000
  end

  # A busy loop in C that never lets the GVL go: the stream goes on, and says
  # that the heap's figures are old.
  def test_a_program_that_sits_in_c_with_the_gvl_streams
    program = spawn_ruby(<<~RUBY, env: { "MEMTOP_INTERVAL" => "0.1" })
      number = 7**9_000_000
      puts :ready
      gets
      puts :going
      number.to_s
      number.to_s
      puts :over
      sleep
    RUBY
    assert_equal "ready", program.line
    client = connect.heap
    assert_equal "going", program.tell("go")
    before = client.samples
    client.until { client.process[:heap_age_ms] > 500 }
    assert_operator client.samples - before, :>=, 2
    assert_nil program.output.read_nonblock(1, exception: false).then { |byte| byte unless byte == :wait_readable }
    assert_equal "over", program.line
    client.until { client.process[:heap_age_ms] < 500 }
  end

  def test_many_viewers_at_once
    sleeper
    clients = Array.new(40) { connect }
    clients.each(&:sample)
    assert_equal [64], clients.map { |client| client["Order"].live }.uniq
    clients.first.until { clients.first.probe[:viewers] == 40 }
  end

  def test_more_viewers_than_served_are_told_so
    sleeper
    clients = Array.new(60) { connect }
    clients.each(&:sample)
    clients += Array.new(10) { connect(greet: false) }
    extra = clients.last
    nil while extra.step
    assert_equal 2, extra.bye[:reason]
    assert_includes extra.bye[:text], "64 viewers"
    clients.each(&:close)
    assert_equal 64, connect.sample["Order"].live
  end

  def test_a_viewer_that_stops_reading_costs_frames_not_the_program
    program = spawn_ruby(<<~RUBY, env: { "MEMTOP_INTERVAL" => "0.1" })
      CLASSES = Array.new(3000) { |i| Object.const_set("Many\#{i}", Class.new) }
      KEPT = CLASSES.map(&:new)
      puts :ready
      loop { KEPT.concat(CLASSES.map(&:new)); KEPT.clear if KEPT.size > 100_000; sleep 0.02; (puts KEPT.size; sleep if $_ == "stop\n") if IO.select([$stdin], nil, nil, 0) && gets }
    RUBY
    assert_equal "ready", program.line
    slow = connect.sample
    quick = connect.sample
    quick.until { quick.probe[:dropped_frames] > 3 }
    assert program.tell("still there?")
    before = slow.keys
    slow.until { slow.keys > before }
    assert program.tell("stop")
    assert_equal quick.sample["Many7"].live, slow.sample["Many7"].live, "after it caught up it shows what the other shows"
  end

  def test_a_viewer_killed_in_mid_frame
    program = sleeper
    reader = Process.spawn(RbConfig.ruby, "-rsocket", "-e", <<~RUBY)
      UNIXSocket.new(#{@socket.inspect}).read(40)
      Process.kill(:KILL, $$)
    RUBY
    Process.wait(reader)
    writer = UNIXSocket.new(@socket)
    writer.write("MTOP\x00\x00")
    writer.close
    assert_equal 64, connect.sample["Order"].live
    assert Process.kill(0, program.pid)
  end

  def test_garbage_is_answered_in_words
    sleeper
    ["GET / HTTP/1.1\r\n\r\n" * 4, "MTOP\xff\xff\xff\xff".b + "\0" * 24, "\0" * 64].each do |bytes|
      client = connect(greet: false)
      client.instance_variable_get(:@socket).write(bytes)
      nil while client.step
      assert_equal 2, client.bye[:reason]
      refute_empty client.bye[:text]
    end
    assert_equal 64, connect.sample["Order"].live
  end

  def test_another_version_is_answered_in_words
    sleeper
    client = connect(greet: false)
    client.send_frame(64, { 0 => 99, 1 => "9.9" })
    nil while client.step
    assert_includes client.bye[:text], "version"
  end

  def test_requests_before_a_greeting_are_not_served
    sleeper
    client = connect(greet: false)
    client.send_frame(65, { 0 => 1, 1 => 1, 2 => 0 })
    client.send_frame(64, { 0 => 1, 1 => "late" })
    client.sample
    assert_equal 64, client["Order"].live
  end

  def test_unknown_requests_are_refused
    sleeper
    client = connect
    client.send_frame(65, { 0 => 7, 1 => 999, 2 => 0 })
    client.until { client.instance_variable_get(:@result) }
    assert_equal [7, 1], client.instance_variable_get(:@result).first(2)
  end

  def test_collects_garbage_on_request
    sleeper
    client = connect.heap
    before = client.process[:gc_count]
    status, text = client.request(:gc)
    assert_equal :done, status
    assert_match(/garbage collected in/, text)
    assert_operator client.sample.process[:gc_count], :>, before
  end

  def test_readonly_refuses_what_changes_the_program
    sleeper(env: { "MEMTOP_READONLY" => "1" })
    client = connect.sample
    assert_equal :refused, client.request(:gc)[0]
    assert_equal :refused, client.mode!("dormant")[0]
    assert_equal :done, client.request(:census)[0]
    assert_equal 1, client.hello[:capabilities] & 1
  end

  def test_goodbye_has_the_exit_status
    { "exit 3" => 3, "raise 'x'" => 1, "nil" => 0, "abort" => 1, "Process.kill(:TERM, $$); sleep" => 143 }.each do |ending, status|
      program = spawn_ruby("puts :ready; gets; $stderr.reopen(File::NULL); #{ending}")
      assert_equal "ready", program.line
      client = connect.sample
      program.input.puts
      nil while client.step
      assert_equal({ reason: 0, status: status }, client.bye.slice(:reason, :status), ending)
      Process.wait(program.pid)
      refute File.exist?(@socket), "the socket is gone after #{ending}"
    end
  end

  def test_a_killed_program_ends_the_stream
    program = sleeper
    client = connect.sample
    Process.kill(:KILL, program.pid)
    nil while client.step
    assert_nil client.bye
  end

  def test_the_probes_thread_comes_back_when_the_program_kills_it
    program = spawn_ruby(<<~RUBY)
      puts :ready
      gets
      others = ObjectSpace.each_object(Thread).reject { |thread| thread == Thread.current }
      puts others.each(&:kill).each(&:join).map(&:name).include?("memtop") ? :killed : :missed
      loop { sleep 0.05; Object.new }
    RUBY
    assert_equal "ready", program.line
    client = connect.sample
    assert_equal "killed", program.tell("kill")
    assert_equal :done, client.request(:census)[0]
    client.until { client.process[:heap_age_ms]&.< 1000 }
    assert_equal 0, client.probe[:drift]
  end

  def test_names_that_are_hostile_arrive_whole
    spawn_ruby(<<~RUBY).line
      # Ruby refuses constants of that kind; a name can still be long or not ASCII.
      Module.new.tap { |m| Object.const_set("Größe" + "é" * 3000, Class.new) }
      Lang = Object.const_get(Object.constants.grep(/Größe/).first)
      KEPT = [Lang.new, Class.new.new]
      puts :ready
      sleep
    RUBY
    client = connect.sample
    long = client.names.values.find { |name| name.b.start_with?("Größe".b) }
    assert_operator long.bytesize, :<=, 4096
    assert_operator long.bytesize, :>, 4000
    assert client.names.values.any? { |name| name.start_with?("#<Class:0x") }
  end
end
