# frozen_string_literal: true

require "json"
require "test_helper"
require "probed"

# The flight recorder in real programs: what they leave behind, mostly with nobody
# watching. Files are read by clients that share no code with the probe.
class FlightTest < Minitest::Test
  include Probed

  QUICK = { "MEMTOP_INTERVAL" => "0.1" }.freeze
  LEAK = <<~RUBY
    class Order; end
    kept = []
    puts :ready
    loop { 100.times { kept << Order.new }; sleep 0.01 }
  RUBY
  SLEEPER = "class Order; end; KEPT = Array.new(64) { Order.new }; puts :ready; sleep"
  STOPPED = 4
  ENDED = 1

  def program(script, **env)
    spawn_ruby(script, env: { **QUICK, **env.to_h { |name, value| ["MEMTOP_#{name}".upcase, value.to_s] } })
      .tap { |program| assert_equal "ready", program.line }
  end

  def files(folder = @folder) = Dir[File.join(folder, "*.memtop")].sort

  # Wait until there are so many recordings.
  def flights(count, folder = @folder)
    Timeout.timeout(30) { sleep 0.02 until files(folder).size >= count }
    files(folder)
  end

  # A reader in another language finds nothing wrong with it.
  def assert_sound(path)
    client = File.expand_path("../protocol/client.py", __dir__)
    output, errors, status = Open3.capture3("/usr/bin/python3", client, "--file", path)
    assert status.success?, errors
    JSON.parse(output)
  end

  # Distances lead from each key group's end and begin to the begin before.
  def assert_groups(path)
    begins = []
    offset = 0
    bytes = File.binread(path)
    while offset < bytes.bytesize
      length, kind = bytes[offset + 4, 5].unpack("NC")
      if kind == 12
        body = MessagePack.unpack(bytes[offset + 32, length])
        assert_includes [0, offset - (begins.last || 0)], body[1] unless begins.empty?
        assert_equal begins.last, offset - body[1] unless body[0]
        begins << offset if body[0]
      end
      offset += 32 + length
    end
    assert_equal 0, begins.first
    begins.size
  end

  def test_a_leak_that_nobody_watches_leaves_a_recording
    leak = program(LEAK, flight: "growth(Order)>3000/5m", flight_limit: 1)
    path = flights(1).first
    assert_equal "memtop-#{leak.pid}-1.memtop", File.basename(path)
    assert_equal 0o100600, File.stat(path).mode
    assert_empty Dir[File.join(@folder, "*.part")]
    lives = []
    viewers = []
    seen = MemtopClient.recording(path) do |client, kind|
      next unless kind == :sample

      lives << client["Order"].live
      viewers << client.probe[:viewers]
    end
    assert_operator lives.last - lives.first, :>, 3000
    assert_operator lives.first, :<, 3000
    assert_equal lives.sort, lives
    assert_equal leak.pid, seen.hello[:pid]
    assert_includes viewers, 0 # but for a `memtop ps` of another test
    assert_equal STOPPED, seen.gaps.last[0]
    assert_match(/growth\(Order\)>3000\/5m \(\d+\)/, seen.gaps.last[1])
    assert_equal seen.gaps.last[1], seen.notices.values.grep(/growth/).last
    assert_operator assert_groups(path), :>=, 1
    assert_equal seen["Order"].live, assert_sound(path)["classes"]["Order"]["live"]
    assert Process.kill(0, leak.pid)
  end

  # Frames of a recording: [bytes, is it the begin of a key group, is it in one].
  def frames_of(path)
    bytes = File.binread(path)
    offset = 0
    inside = false
    frames = []
    while offset < bytes.bytesize
      length, kind = bytes[offset + 4, 5].unpack("NC")
      edge = kind == 12
      begins = edge && MessagePack.unpack(bytes[offset + 32, length])[0]
      inside ||= begins
      frames << [bytes[offset, 32 + length], begins, inside]
      inside = false if edge && !begins
      offset += 32 + length
    end
    frames
  end

  # What a reader of these frames knows in the end, by name: ids are the probe's own.
  def known(frames)
    path = File.join(@folder, "part")
    File.binwrite(path, frames.map(&:first).join)
    client = MemtopClient.recording(path)
    trees = client.instance_variable_get(:@trees).transform_values { |tree| tree[:sites].values.sum(&:live) }
    [client.rows, client.rows.keys.to_h { |id| [id, client.names[id]] }, trees, client.totals]
  end

  def test_from_whatever_key_group_one_reads_on_the_end_is_the_same
    program(<<~RUBY, mode: "trace", trace: "Order,Line", flight: "objects>200K", flight_limit: 1, flight_size: "128K")
      class Order; end
      class Line; end
      KEPT = Array.new(100) { |i| Object.const_set("Many\#{i}", Class.new) }.map(&:new)
      puts :ready
      i = 0
      loop do
        200.times { KEPT << Order.new << Line.new }
        KEPT << Object.const_set("Late\#{i += 1}", Class.new).new
        30.times { |j| KEPT << Object.const_get("Many\#{(i + j) % 100}").new }
        KEPT.shift
        sleep 0.01
      end
    RUBY
    frames = frames_of(flights(1).first)
    starts = frames.each_index.select { |i| frames[i][1] }
    assert_operator starts.size, :>=, 2
    endings = starts.map { |start| known(frames[start..]) }
    endings << known(frames.each_with_index.reject { |(_, _, inside), i| inside && i >= starts[1] }.map(&:first))
    assert_equal 1, endings.uniq.size
    assert_operator endings.first[0].size, :>, 100
    assert_equal 2, endings.first[2].size
  end

  def test_a_rule_fires_as_often_as_it_may
    program(SLEEPER, flight: "rss>1K", flight_limit: 2, flight_pause: 0)
    flights(2)
    client = connect
    client.until { client.notices.values.any? { |text| text.include?("2 of 2") } }
    before = client.samples
    client.until { client.samples > before + 5 }
    assert_equal 2, files.size
  end

  def test_a_viewer_asks_and_is_told_the_path
    program(SLEEPER, flight: "on")
    client = connect.sample
    assert_equal 16, client.hello[:capabilities] & 16
    status, path = client.request(:flight)
    assert_equal :done, status
    assert_equal 64, MemtopClient.recording(path)["Order"].live
    assert_equal path, flights(1).first
  end

  # The program has the GVL all the time that its recording is asked for and written.
  def test_it_is_written_while_the_program_sits_in_c_with_the_gvl
    program = spawn_ruby(<<~RUBY, env: { **QUICK, "MEMTOP_FLIGHT" => "on" })
      number = 7**9_000_000
      number *= number
      puts :ready
      gets
      puts :going
      number.to_s
      puts :over
      sleep
    RUBY
    assert_equal "ready", program.line
    client = connect.heap
    assert_equal "going", program.tell("go")
    client.until { client.process[:heap_age_ms] > 300 }
    assert_equal :done, client.request(:flight)[0]
    assert_nil program.output.read_nonblock(1, exception: false).then { |byte| byte unless byte == :wait_readable }
  end

  def test_the_end_of_the_program_is_in_its_recording
    endings = { "exit 3" => 3, "raise 'x'" => 1, "nil" => 0, "Process.kill(:TERM, $$); sleep" => 143 }
    endings.each do |ending, status|
      _, errors, = ruby("$stderr.reopen(File::NULL); KEPT = 'x'; #{ending}", env: { "MEMTOP_FLIGHT" => "exit" })
      assert_empty errors
      path = files.last
      refute_nil path, ending
      seen = MemtopClient.recording(path)
      assert_equal({ reason: 0, status: status }, seen.bye.slice(:reason, :status), ending)
      assert_equal ENDED, seen.gaps.last[0]
      assert_sound(path)
      File.delete(path)
    end
  end

  def test_keywords_of_start_are_the_same_settings
    output, errors, status = ruby(<<~RUBY, @folder, auto: false)
      require "memtop"
      folder = File.join(ARGV[0], "flights")
      Dir.mkdir(folder)
      Memtop.start(flight: "exit", flight_file: folder, flight_size: "64K", flight_limit: 1, flight_pause: 1)
      puts $$
    RUBY
    assert status.success?, errors
    assert_empty errors
    assert_equal [File.join(@folder, "flights", "memtop-#{output.chomp}-1.memtop")], files(File.join(@folder, "flights"))
  end

  def test_a_wrong_rule_is_said_and_the_program_starts
    output, errors, status = ruby("puts :ran", env: { "MEMTOP_FLIGHT" => "exit, grwoth(Order)>5/1m" })
    assert status.success?
    assert_equal "ran\n", output
    assert_match(/warning: memtop: MEMTOP_FLIGHT, character 7: "grwoth\(Order\)>5\/1m"/, errors)
    assert_equal 1, files.size
  end

  def test_a_forked_child_records_for_itself
    output, errors, status = ruby(<<~RUBY, env: { **QUICK, "MEMTOP_FLIGHT" => "exit" })
      require "memtop_client"
      class Order; end
      KEPT = Array.new(10) { Order.new }
      child = fork do
        KEPT.concat(Array.new(5) { Order.new })
        sleep 0.01 until Memtop.socket&.include?($$.to_s)
        client = MemtopClient.new(Memtop.socket)
        client.until { client["Order"].live == 15 }
      end
      Process.wait(child)
      puts $$, child
    RUBY
    assert status.success?, errors
    assert_empty errors
    parent, child = output.split.map(&:to_i)
    assert_equal [parent, child].map { |pid| "memtop-#{pid}-1.memtop" }.sort, files.map { |path| File.basename(path) }.sort
    theirs = MemtopClient.recording(File.join(@folder, "memtop-#{child}-1.memtop"))
    ours = MemtopClient.recording(File.join(@folder, "memtop-#{parent}-1.memtop"))
    assert_equal [child, parent], [theirs.hello[:pid], ours.hello[:pid]]
    assert_equal [15, 10], [theirs["Order"].live, ours["Order"].live]
  end

  def test_trees_of_traced_classes_are_in_the_recording
    program(LEAK, mode: "trace", trace: "Order", flight: "live(Order)>2000", flight_limit: 1)
    places = nil
    tree = nil
    seen = MemtopClient.recording(flights(1).first)
    seen.rows_named("Order").each { |row| tree = seen.instance_variable_get(:@trees)[row.id] }
    refute_nil tree
    places = MemtopClient::Tree.new(tree, seen.instance_variable_get(:@frames)).places
    assert_equal seen["Order"].live, tree[:live]
    assert_equal 1, places.count { |(path, line), live| path == "-e" && line == 5 && live.positive? }
  end

  def test_links_in_its_way_are_not_followed
    target = File.join(@folder, "target")
    program = spawn_ruby(<<~RUBY, env: { **QUICK, "MEMTOP_FLIGHT" => "live(Order)>5", "MEMTOP_FLIGHT_LIMIT" => "1" })
      name = File.join(#{@folder.inspect}, "memtop-\#{$$}-")
      File.symlink(#{target.inspect}, name + "1.memtop")
      File.symlink(#{target.inspect}, name + "2.memtop.part")
      class Order; end
      KEPT = Array.new(6) { Order.new }
      puts :ready
      sleep
    RUBY
    assert_equal "ready", program.line
    path = File.join(@folder, "memtop-#{program.pid}-3.memtop")
    Timeout.timeout(30) { sleep 0.02 until File.exist?(path) }
    refute File.exist?(target)
    refute File.symlink?(path)
  end

  def test_a_full_disk_is_one_line_and_a_notice
    skip "only root can make a file system that is full" unless Process.uid.zero?
    full = File.join(@folder, "full")
    Dir.mkdir(full)
    unless system("mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", full, err: File::NULL)
      skip "no file system can be mounted here"
    end
    begin
      check_full_disk(full)
    ensure
      @pids.each { |pid| Process.kill(:KILL, pid) rescue nil }
      system("umount", full)
    end
  end

  def check_full_disk(full)
    errors = File.join(@folder, "errors")
    File.write(File.join(full, "filler"), "x" * 8192)
    program("$stderr.reopen(#{errors.inspect}, 'w'); #{SLEEPER}", flight: "rss>1K", flight_file: "#{full}/",
                                                                   flight_limit: 1)
    client = connect
    client.until { client.notices.values.any? { |text| text.include?("No space left") } }
    2.times { assert_match(/No space left/, client.request(:flight)[1]) }
    assert_equal 1, File.readlines(errors).grep(/memtop/).size
    assert_equal ["filler"], Dir.children(full)
    assert_equal 64, client.sample["Order"].live
  end

  def test_off_it_is_not_there
    program = program(SLEEPER)
    client = connect.sample
    assert_equal 0, client.hello[:capabilities] & 16
    status, text = client.request(:flight)
    assert_equal :refused, status
    assert_includes text, "MEMTOP_FLIGHT"
    threads = Dir["/proc/#{program.pid}/task/*/comm"].map { |path| File.read(path).chomp }
    assert_equal 1, threads.count("memtop-server")
    assert_equal 0, threads.count("memtop-flight")
    client.close
    Process.kill(:TERM, program.pid)
    Process.wait(program.pid)
    assert_empty files
  end

  def test_readonly_refuses_a_request_and_obeys_the_rules
    program(SLEEPER, readonly: 1, flight: "live(Order)>5", flight_limit: 1)
    client = connect.sample
    status, text = client.request(:flight)
    assert_equal :refused, status
    assert_includes text, "read-only"
    assert_equal 64, MemtopClient.recording(flights(1).first)["Order"].live
  end
end
