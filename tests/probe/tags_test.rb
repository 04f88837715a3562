# frozen_string_literal: true

require "test_helper"
require "probed"
require "json"

# Memtop.tag: what was allocated, and what lives, under each tag.
class TagsTest < Minitest::Test
  include Probed

  # In scripts: objects of a class of their own, the only ones that are looked at. Each
  # knows the tag it was made under, so that Ruby can be asked what lives of one.
  SCRIPT = <<~RUBY
    class Order
      attr_accessor :tag
      def initialize = @tag = Memtop.tags.map { |pair| pair.join("=") }.join("\n")
    end
    KEPT = []
    def make(kept, dropped = 0)
      kept.times { KEPT << Order.new }
      dropped.times { Order.new }
      nil
    end
    # [calls, allocated, live] of Order under each tag. What a conservative stack holds
    # may go between two looks; up to three that stay are live for memtop and Ruby alike.
    def expect(**wanted)
      found = heap = nil
      20.times do |depth|
        collect(depth)
        found = wanted.keys.to_h { |text| [text, look(text.to_s)] }
        heap = ObjectSpace.each_object(Order).map(&:tag).tally
        return if wanted.all? { |text, counts| as_wanted?(counts, found[text], heap[text.to_s]) }
      end
      abort "expected \#{wanted}\nfound    \#{found}\nthe heap \#{heap}"
    end
    def as_wanted?((*counts, kept), (*said, live), heap)
      said == counts && live == heap.to_i && (kept..kept + 3).cover?(live)
    end
    def look(text)
      tag = $client.tags[text] or return nil
      order = $client.tag_classes(text)["Order"]
      [tag.calls, order&.allocated, order&.live]
    end
  RUBY

  def assert_tags(script, **options)
    output, errors, status = ruby("#{SELF_CHECK}#{SCRIPT}#{script}\nputs :done\n", **options)
    assert status.success? && output.end_with?("done\n"), "#{errors}\n#{output}"
    output
  end

  def test_counts_what_is_allocated_and_what_lives_under_a_tag
    assert_tags(<<~RUBY)
      10.times { Memtop.tag(route: "orders#index") { make(3, 100) } }
      make(7, 70)
      Memtop.tag(route: "orders#show") { make(0, 5) }
      expect "route=orders#index": [10, 1030, 30], "route=orders#show": [1, 5, 0]
      KEPT.clear
      expect "route=orders#index": [10, 1030, 0]
      abort "all" unless $client["Order"].allocated == 1030 + 77 + 5
    RUBY
  end

  def test_a_tag_returns_what_its_block_does_and_passes_what_it_raises
    assert_tags(<<~RUBY)
      abort "value" unless Memtop.tag(a: 1) { :value } == :value
      begin
        Memtop.tag(a: 1) { make(1); raise IOError, "mine" }
        abort "not raised"
      rescue IOError => e
        abort e.message unless e.message == "mine"
      end
      abort "thrown" unless catch(:out) { Memtop.tag(a: 1) { throw :out, 5 } } == 5
      [1].each { Memtop.tag(a: 1) { break } }
      make(4)
      abort Memtop.tags.inspect unless Memtop.tags.empty?
      expect "a=1": [4, 1, 1]
      lambda = -> { :no_arguments }
      abort "lambda" unless Memtop.tag(a: 1, &lambda) == :no_arguments
    RUBY
  end

  def test_tags_within_tags_keep_the_keys_that_they_do_not_replace
    assert_tags(<<~RUBY)
      Memtop.tag(route: "x") do
        make(1)
        Memtop.tag(tenant: "acme") do
          make(2)
          Memtop.tag(route: "y") { make(3); abort unless Memtop.tags == { route: "y", tenant: "acme" } }
          make(4)
        end
        make(5)
      end
      expect "route=x": [1, 6, 6], "route=x\\ntenant=acme": [1, 6, 6], "route=y\\ntenant=acme": [1, 3, 3]
      Memtop.tag(tenant: :acme, "route" => "x") { make(1) }
      expect "route=x\\ntenant=acme": [2, 7, 7]
    RUBY
  end

  def test_a_tag_can_be_replaced_before_it_is_left
    assert_tags(<<~RUBY)
      abort "outside" if Memtop.retag(route: "lost")
      Memtop.tag(route: "GET") do
        make(1)
        abort unless Memtop.retag(route: "orders#show")
        make(2)
        abort unless $client.tags["route=orders#show"].active == 1
      end
      make(3)
      expect "route=GET": [0, 1, 1], "route=orders#show": [1, 2, 2]
    RUBY
  end

  def test_a_fiber_inherits_who_first_resumed_it_and_keeps_its_own
    assert_tags(<<~RUBY)
      numbers = Enumerator.new { |y| loop { make(1); y << 1 } }
      Memtop.tag(route: "a") { 3.times { numbers.next } }
      other = Fiber.new { Memtop.tag(route: "b") { make(1); Fiber.yield; make(1) }; make(1); Fiber.yield; make(1) }
      Memtop.tag(route: "a") { other.resume; make(1) }
      make(1)
      Memtop.tag(route: "c") { other.resume; make(1) } # goes on in b, then in what it inherited
      other.resume
      abort Memtop.tags.inspect unless Memtop.tags.empty?
      expect "route=a": [2, 3 + 1 + 2, 6], "route=b": [1, 2, 2], "route=c": [1, 1, 1]
    RUBY
  end

  def test_fibers_that_take_turns_are_kept_apart
    assert_tags(<<~RUBY)
      require "fiber"
      fibers = Array.new(5) do |i|
        Fiber.new { Memtop.tag(task: i) { 20.times { make(1); Fiber.yield } } }
      end
      fibers.each(&:resume) while fibers.select!(&:alive?) || fibers.any?
      5.times { |i| expect "task=\#{i}": [1, 20, 20] }
    RUBY
  end

  def test_tasks_of_a_fiber_scheduler_keep_the_tag_they_were_scheduled_in
    assert_tags(<<~RUBY)
      class Scheduler
        def initialize = @waiting = {}
        def fiber(&block) = Fiber.new(blocking: false, &block).tap(&:resume)
        def kernel_sleep(_) = (@waiting[Fiber.current] = @waiting.size; Fiber.yield)
        def block(*) = raise
        def unblock(*) = raise
        def io_wait(*) = raise
        def close
          (fiber, = @waiting.first; @waiting.delete(fiber); fiber.resume) until @waiting.empty?
        end
      end
      Thread.new do
        Fiber.set_scheduler(Scheduler.new)
        5.times { |i| Memtop.tag(task: i) { Fiber.schedule { 20.times { make(1); sleep 1 } } } }
        Fiber.schedule { make(7); sleep 1; make(7) }
      end.join
      5.times { |i| expect "task=\#{i}": [1, 20, 20] }
      abort "all" unless $client["Order"].allocated == 5 * 20 + 14
    RUBY
  end

  def test_a_thread_begins_without_a_tag_and_has_its_own
    assert_tags(<<~RUBY)
      Memtop.tag(route: "a") do
        make(1)
        Thread.new { make(5); Memtop.tag(route: "b") { make(2) } }.join
        tags = Memtop.tags
        Thread.new { Memtop.tag(**tags) { make(4) } }.join
        make(1)
      end
      expect "route=a": [2, 6, 6], "route=b": [1, 2, 2]
    RUBY
  end

  def test_threads_that_take_turns_are_not_mixed_up
    assert_tags(<<~RUBY, env: { "RUBY_MN_THREADS" => "1" })
      lock = Mutex.new
      8.times.map do |i|
        Thread.new do
          50.times do
            Memtop.tag(worker: i) { 20.times { Order.new; Thread.pass }; lock.synchronize { make(1) } }
            Order.new
          end
        end
      end.each(&:join)
      8.times { |i| expect "worker=\#{i}": [50, 1050, 50] }
      abort "all" unless $client["Order"].allocated == 8 * 50 * 22
    RUBY
  end

  def test_what_comes_when_there_is_no_room_is_counted_as_other
    assert_tags(<<~RUBY)
      5000.times { |i| Memtop.tag(id: i) { Order.new } }
      tags = $client.tags
      abort tags.size.to_s unless tags.size == 4095 && tags["(other)"].calls == 5000 - 4094
      abort tags.sum { |_, tag| tag.allocated }.to_s unless tags.sum { |_, tag| tag.calls } == 5000
      abort "order" unless $client.tag_classes("(other)")["Order"].allocated == 5000 - 4094
    RUBY
  end

  def test_names_are_cut_and_cleaned
    assert_tags(<<~'RUBY')
      Memtop.tag("a b\n" => "x\ny\e[31m", b: "ü" * 300, c: nil) { make(1) }
      Memtop.tag(**20.times.to_h { |i| [:"k#{i}", i] }) { make(1) }
      texts = $client.tags.keys
      abort texts.inspect unless texts.include?("a_b_=x?y?[31m\nb=#{"ü" * 100}\nc=")
      abort texts.inspect unless texts.any? { |text| text.lines.size == 8 }
      begin
        Memtop.tag(a: BasicObject.new) { }
      rescue NoMethodError, TypeError => e
        puts e.class
      end
      begin
        Memtop.tag("route") { }
      rescue TypeError => e
        puts e.message
      end
    RUBY
  end

  def test_retained_are_those_that_survived_collections
    assert_tags(<<~RUBY)
      Memtop.tag(route: "a") { make(25, 50) }
      4.times { |depth| collect(depth) }
      $client.census
      tag = $client.tags["route=a"]
      order = $client.tag_classes("route=a")["Order"]
      abort order.inspect unless order.ages.drop(1).sum == 25 && order.bytes >= 25 * 40
      abort tag.inspect unless tag.retained >= 25 && tag.bytes >= order.bytes
    RUBY
  end

  def test_tags_survive_compaction_and_stay_exact
    skip "this Ruby cannot compact" unless GC.respond_to?(:compact)
    assert_tags(<<~RUBY)
      50.times { |i| Memtop.tag(part: i % 5) { make(10, 100) } }
      KEPT.select!.with_index { |_, i| i.even? }
      3.times { GC.compact }
      5.times { |i| expect "part=\#{i}": [10, 1100, 50] }
      exact Order
    RUBY
  end

  def test_stacks_and_tags_of_one_class_are_both_exact
    assert_tags(<<~RUBY)
      Memtop.tag(route: "early") { make(3) }
      $client.open_class("Order")
      def here = make(10)
      Memtop.tag(route: "a") { here }
      Memtop.tag(route: "b") { here }
      here
      expect "route=a": [1, 10, 10], "route=b": [1, 10, 10], "route=early": [1, 3, 3]
      $client.sample
      tree = $client.tree("Order")
      abort "sum \#{tree.sum}" unless tree.sum == 33 && tree.header[:live] == 33
      abort "before \#{tree.before}" unless tree.before == 3
      places = tree.sites.group_by { |site| [site.node, site.shift] }
      abort "a place twice" unless places.values.all? { |sites| sites.size == 1 }
    RUBY
  end

  def test_a_child_goes_on_with_the_counts_and_its_own_calls
    assert_tags(<<~RUBY)
      Memtop.tag(route: "a") { make(3) }
      Memtop.tag(route: "fork") do
        pid = fork do
          make(4)
          Memtop.tag(route: "a") { make(2) }
          20.times { File.socket?(Memtop.socket.to_s) && Memtop.socket.include?(Process.pid.to_s) ? break : sleep(0.05) }
          $client = MemtopClient.new(Memtop.socket)
          expect "route=a": [2, 5, 5], "route=fork": [0, 4, 4]
        end
        Process.wait(pid)
        abort "in the child" unless $?.success?
      end
      expect "route=a": [1, 3, 3]
    RUBY
  end

  def test_without_a_probe_a_tag_is_a_plain_yield
    output, errors, status = ruby(<<~RUBY, auto: false)
      require "memtop"
      puts Memtop.tag(route: "a") { 7 }
      puts Memtop.tags.inspect, Memtop.retag(route: "b")
      Memtop.start
      Memtop.tag(route: "a") { Memtop.stop; puts Memtop.tags }
      puts Memtop.tags.inspect
      puts Memtop.tag(route: "b") { Memtop.tags.inspect }
    RUBY
    assert status.success?, errors
    assert_equal ["7", "{}", "false", { route: "a" }.to_s, "{}", "{}"], output.lines(chomp: true)
  end

  def test_another_mode_begins_anew
    assert_tags(<<~RUBY)
      Memtop.tag(route: "a") { make(3) }
      expect "route=a": [1, 3, 3]
      $client.mode!("census")
      abort "counts" unless $client.tags["route=a"].allocated.nil?
      Memtop.tag(route: "a") { make(3) }
      KEPT.each { |order| order.tag = "before" }
      $client.mode!("count")
      Memtop.tag(route: "a") { make(2) }
      expect "route=a": [3, 2, 2]
    RUBY
  end

  def test_classes_that_are_gone_leave_their_counts_behind
    assert_tags(<<~RUBY)
      before = nil
      Memtop.tag(route: "a") { 100.times { Class.new.new } }
      20.times { GC.start; $client.sample }
      tag = $client.tags["route=a"]
      abort tag.inspect unless tag.allocated >= 200 && tag.allocated == tag.live + tag.freed && tag.live < 100
    RUBY
  end

  MEMTOP = Probed::LOAD_PATHS.map { |path| File.expand_path("../bin/memtop", path) }.find { |path| File.executable?(path) }

  def memtop(*arguments)
    output, errors, status = Timeout.timeout(60) { Open3.capture3(MEMTOP, *arguments) }
    assert status.success?, errors
    output
  end

  PROGRAM = <<~RUBY
    class Order; end
    KEPT = []
    40.times { |i| Memtop.tag(route: "orders#show", tenant: "a b \#{i % 2}") { KEPT << Order.new; 9.times { Order.new } } }
    4.times { GC.start }
    puts :ready
    $stdin.gets
  RUBY

  def tag_in(json)
    tags = JSON.parse(json)["tags"] or return nil
    tags.find { |tag| tag["keys"] == { "route" => "orders#show", "tenant" => "a b 1" } }
  end

  def test_memtop_tags_prints_them_and_a_recording_keeps_them
    program = spawn_ruby(PROGRAM)
    assert_equal "ready", program.line
    connect.census
    text = memtop("tags", "--socket", @socket)
    assert_match(/^ +20 +2\d\d .* route=orders#show tenant=a b 1$/, text)
    now = tag_in(memtop("tags", "--json", "--socket", @socket))
    assert_equal [20, 0, "route=orders#show tenant=a b 1"], now.values_at("calls", "active", "tag")
    assert_operator now["retained"], :>=, 20
    assert_equal now["allocated"], now["freed"] + now["live"]
    recording = File.join(@folder, "r.memtop")
    memtop("record", "-o", recording, "--duration", "3s", "--socket", @socket)
    assert_equal now, tag_in(memtop("replay", recording, "--once", "--json"))
    memtop("cut", recording, "--from", "start", "--to", "end", "-o", "#{recording}2")
    assert_equal now, tag_in(memtop("replay", "#{recording}2", "--once", "--json"))
  end

  def test_the_flight_recorder_keeps_them
    file = File.join(@folder, "f.memtop")
    program = spawn_ruby(PROGRAM, env: { "MEMTOP_FLIGHT" => "on", "MEMTOP_FLIGHT_FILE" => file, "MEMTOP_INTERVAL" => "0.2" })
    assert_equal "ready", program.line
    client = connect
    client.census
    client.tags
    client.request(:flight)
    written = Dir.glob(File.join(@folder, "f*.memtop")).first
    assert_equal 20, tag_in(memtop("replay", written, "--once", "--json"))["calls"]
  end

  def test_a_read_only_probe_tells_them_too
    program = spawn_ruby(PROGRAM, env: { "MEMTOP_READONLY" => "1" })
    assert_equal "ready", program.line
    client = connect
    assert_equal 20, client.tags["route=orders#show\ntenant=a b 0"].calls
    assert_equal 200, client.tag_classes("route=orders#show\ntenant=a b 0")["Order"].allocated
  end
end
