# frozen_string_literal: true

require "test_helper"
require "api"

# Memtop::Capture: exact counts of what is born while it runs, callbacks without loss,
# alone, several at once, and beside a probe.
class ApiCaptureTest < Minitest::Test
  include Api

  def test_it_counts_what_is_born_while_it_runs_and_what_of_it_goes
    check(<<~RUBY)
      apart { 100.times { KEPT << Order.new } }
      capture = Memtop::Capture.new
      record = capture.track(Order)
      expect_equal Memtop::Allocations, record.class
      expect_equal true, capture.start
      expect_equal false, capture.start
      apart { KEPT.clear }
      apart { 10.times { KEPT << Order.new }; 90.times { Order.new } }
      eventually(record.as_json) { capture.retained_count_of(Order) == 10 }
      expect_equal({ new_count: 100, free_count: 90, retained_count: 10 }, record.as_json)
      expect_equal 10, capture.count_for(Order)
      expect_equal [100, 90, 10], [capture.new_count, capture.free_count, capture.retained_count]
      expect_equal({ tracked_count: 1, object_table_size: 10 }, capture.statistics)
      expect_equal [[Order, record]], capture.each.to_a
      expect_equal true, capture.stop
      expect_equal false, capture.stop
      KEPT << Order.new
      expect_equal 100, capture[Order].new_count
    RUBY
  end

  def test_what_is_born_under_a_tag_is_counted_too
    check(<<~RUBY)
      Memtop.start
      capture = Memtop::Capture.new
      capture.track(Order)
      capture.start
      apart { Memtop.tag(job: "import") { 30.times { KEPT << Order.new }; 12.times { Order.new } } }
      expect_equal 42, capture[Order].new_count
      eventually(capture[Order].as_json) { capture.retained_count_of(Order) == 30 }
      capture.stop
      retained = Memtop.retained(Order) { Memtop.tag(job: "import") { 3.times { KEPT << Order.new } } }
      expect_equal 3, retained[Order]
    RUBY
  end

  def test_what_nobody_tracks_has_no_counts
    check(<<~RUBY)
      capture = Memtop::Capture.new
      capture.track(Order)
      capture.start
      Cart.new
      expect_equal nil, capture[Cart]
      expect_equal 0, capture.retained_count_of(Cart)
      expect_equal [true, false], [capture.tracking?(Order), capture.tracking?(Cart)]
      capture.untrack(Order)
      expect_equal [false, nil, 0], [capture.tracking?(Order), capture[Order], capture.new_count]
      expect_error(TypeError) { capture.track(Kernel) }
      expect_error(TypeError) { capture.track("Order") }
      expect_equal 0, Memtop::Allocations.new.new_count
    RUBY
  end

  def test_counts_go_on_from_one_start_to_the_next_until_cleared
    check(<<~RUBY)
      capture = Memtop::Capture.new
      capture.track(Order)
      capture.start
      5.times { KEPT << Order.new }
      expect_error(RuntimeError, /stop it first/) { capture.clear }
      capture.stop
      7.times { KEPT << Order.new }
      capture.start
      3.times { KEPT << Order.new }
      expect_equal 8, capture.retained_count_of(Order)
      capture.stop
      expect_equal 0, capture.clear.retained_count_of(Order)
      expect capture.tracking?(Order)
    RUBY
  end

  def test_several_at_once_each_count_their_own_time
    check(<<~RUBY)
      captures = Array.new(20) { Memtop::Capture.new.tap { |capture| capture.track(Order); capture.start } }
      captures.each_with_index { |capture, i| KEPT << Order.new; capture.stop if i.even? }
      expect_equal Array.new(20) { |i| i.even? ? i + 1 : 20 }, captures.map { |capture| capture[Order].new_count }
      late = Memtop::Capture.new
      late.start
      late.track(Order)
      Order.new
      expect_equal [1, 21], [late[Order].new_count, captures[1][Order].new_count]
    RUBY
  end

  def test_all_classes_are_counted_when_asked_and_none_becomes_immortal
    check(<<~RUBY)
      capture = Memtop::Capture.new
      capture.track_all = true
      capture.start
      apart { 300.times { Class.new.new } }
      10.times { KEPT << Order.new }
      anonymous = -> { ObjectSpace.each_object(Class).count { |klass| !klass.name && !klass.singleton_class? } }
      eventually { capture.each { |_, allocations| allocations.new_count }; anonymous.call < 10 }
      expect_equal [10, false], [capture[Order].new_count, capture.tracking?(Order)]
      expect capture.new_count >= 900, capture.new_count
      expect capture.each.map { |klass, _| klass }.include?(Class)
      capture.stop
      expect_equal 10, capture[Order].new_count
      expect capture.free_count >= 300
    RUBY
  end

  def test_each_object_yields_what_is_alive_and_leaves_collections_as_they_were
    check(<<~RUBY)
      capture = Memtop::Capture.new
      capture.track(Order)
      capture.track(Cart)
      KEPT << Order.new
      capture.start
      apart { 2000.times { |i| order = Order.new("part \#{i}"); KEPT << order if (i % 20).zero? }; KEPT << Cart.new }
      GC.start(immediate_sweep: false) # dead ones lie about
      found = capture.each_object(Order).to_a
      expect found.all? { |order, record| order.instance_of?(Order) && order.instance_variable_get(:@part).start_with?("part") && record.equal?(capture[Order]) }
      expect (KEPT.grep(Order).drop(1) - found.map { |order, _| order }).empty?
      expect_equal 1, capture.each_object.map { |object, _| object }.grep(Cart).size
      found = nil
      [false, true].each do |disabled|
        disabled ? GC.disable : GC.enable
        within = nil
        capture.each_object(Order) { within = GC.stat(:count); GC.start; break }
        begin
          capture.each_object(Order) { raise "out" }
        rescue RuntimeError
          nil
        end
        expect_equal disabled, disabled ? GC.disable : GC.enable
      end
      GC.enable
      eventually { capture.each_object(Order).count == capture.retained_count_of(Order) && capture.retained_count_of(Order) == 100 }
      capture.stop
      expect_equal [], capture.each_object(Order).to_a
    RUBY
  end

  def test_a_callback_hears_of_every_birth_and_gets_its_result_back_at_the_free
    check(<<~RUBY)
      born = 0
      freed = []
      capture = Memtop::Capture.new
      capture.track(Order) do |klass, event, data|
        expect_equal Order, klass
        event == :newobj ? (expect_equal(nil, data); born += 1) : freed << data
      end
      Order.new
      capture.start
      apart { 1000.times { |i| order = Order.new; KEPT << order if (i % 10).zero? } }
      eventually { capture.retained_count_of(Order) == 100 }
      expect_equal [1000, 900], [born, freed.size]
      expect_equal 900, freed.uniq.size
      apart { KEPT.clear }
      eventually { capture.retained_count_of(Order).zero? }
      capture.stop
      expect_equal (1..1000).to_a, freed.sort
    RUBY
  end

  def test_a_callback_runs_where_the_object_was_made
    check(<<~RUBY)
      places = Hash.new(0)
      capture = Memtop::Capture.new
      capture.track(Hash) { |_, event, _| event == :newobj && caller_locations(1, 3).map { |frame| frame.label[/\\w+\\z/] }.each { |label| places[label] += 1 } }
      def literal
        hash = { a: 1 }
        hash.size
      end
      def made
        Hash.new
      end
      capture.start
      50.times { literal }
      20.times { made }
      capture.stop
      expect_equal [50, 20], places.values_at("literal", "made")
    RUBY
  end

  def test_an_exception_in_a_callback_goes_to_the_program_and_nothing_is_lost
    check(<<~RUBY)
      events = Hash.new(0)
      capture = Memtop::Capture.new
      capture.track(Order) { |_, event, _| events[event] += 1; raise "no" if events[:newobj] == 3 && event == :newobj }
      capture.start
      raised = 0
      apart do
        10.times do
          Order.new
        rescue RuntimeError => e
          raised += 1
          expect_equal "no", e.message
        end
      end
      expect_equal 1, raised
      eventually { capture.retained_count_of(Order).zero? }
      expect_equal({ newobj: 10, freeobj: 10 }, events)
      capture.track(Order) { |_, event, _| raise IOError, "again" if event == :newobj }
      expect_error(IOError) { Order.new }
      expect_equal [true, 11], [capture.stop, capture[Order].new_count]
    RUBY
  end

  def test_a_timeout_and_a_kill_reach_a_thread_within_a_callback
    check(<<~RUBY)
      require "timeout"
      capture = Memtop::Capture.new
      inside = Queue.new
      capture.track(Order) { |_, event, _| (inside << 1; sleep) if event == :newobj }
      capture.start
      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      expect_error(Timeout::Error) { Timeout.timeout(0.05) { Order.new; abort "not here" } }
      thread = Thread.new { Order.new; abort "nor here" }
      2.times { inside.pop }
      thread.kill
      expect thread.join(10)
      thread = Thread.new { catch(:out) { Order.new; abort "never" } }
      inside.pop
      thread.raise(UncaughtThrowError.allocate) rescue nil
      thread.report_on_exception = false
      thread.join(10) rescue nil
      expect !thread.alive?
      expect_equal [true, 3], [capture.running?, capture[Order].new_count]
      capture.track(Order) { |_, _, _| throw :done, 7 }
      expect_equal 7, catch(:done) { Order.new; 8 }
    RUBY
  end

  def test_other_threads_are_counted_and_told_while_a_callback_runs
    check(<<~RUBY)
      entered = Queue.new
      leave = Queue.new
      told = 0
      capture = Memtop::Capture.new
      capture.track(Order) { |_, event, _| next unless event == :newobj; (entered << 1; leave.pop) if (told += 1) == 1 }
      capture.start
      first = Thread.new { Order.new }
      entered.pop
      Thread.new { 50.times { Order.new } }.join
      expect_equal [51, 1], [capture[Order].new_count, told]
      leave << 1
      first.join
      expect_equal 51, told
    RUBY
  end

  def test_what_a_callback_makes_itself_is_not_counted
    check(<<~RUBY)
      told = 0
      capture = Memtop::Capture.new
      capture.track(Order) { |_, event, _| next unless event == :newobj; told += 1; Order.new }
      capture.start
      5.times { Order.new }
      expect_equal [5, 5], [capture[Order].new_count, told]
    RUBY
  end

  def test_compaction_moves_objects_and_nothing_else_changes
    check(<<~RUBY)
      living = {}
      number = 0
      capture = Memtop::Capture.new
      capture.track(Order) { |_, event, data| event == :newobj ? (living[number += 1] = true; number) : (living.delete(data) || abort("freed twice: \#{data}")) }
      capture.track(Cart)
      capture.start
      apart { 3000.times { |i| KEPT << Order.new("x" * 50) if (i % 5).zero?; Order.new; KEPT << Cart.new } }
      keyword = GC.method(:verify_compaction_references).parameters.include?([:key, :expand_heap]) ? { expand_heap: true } : { double_heap: true }
      3.times do
        GC.verify_compaction_references(toward: :empty, **keyword)
        apart { KEPT.select! { |object| object.hash.odd? || object.is_a?(Cart) } }
        GC.compact
      end
      GC.auto_compact = true
      apart { 30_000.times { |i| order = Order.new("y" * 60); KEPT << order if (i % 1000).zero? } }
      GC.start
      GC.auto_compact = false
      orders = KEPT.grep(Order).size
      eventually { capture.retained_count_of(Order) == orders }
      expect_equal [orders, 3000], [living.size, capture.retained_count_of(Cart)]
      expect (KEPT.grep(Order) - capture.each_object(Order).map { |order, _| order }).empty?
    RUBY
  end

  def test_it_counts_under_gc_stress
    check(<<~RUBY)
      capture = Memtop::Capture.new
      events = Hash.new(0)
      capture.track(Order) { |_, event, data| events[event] += 1; "result" }
      capture.start
      GC.stress = true
      apart { 30.times { Order.new("z" * 50); KEPT << Order.new } }
      GC.stress = false
      eventually { capture.retained_count_of(Order) == 30 }
      expect_equal({ newobj: 60, freeobj: 30 }, events)
    RUBY
  end

  def test_a_child_of_a_fork_goes_on_by_itself
    check(<<~RUBY)
      capture = Memtop::Capture.new
      capture.track(Order)
      capture.start
      3.times { KEPT << Order.new }
      reader, writer = IO.pipe
      pid = fork do
        2.times { KEPT << Order.new }
        writer.puts capture.retained_count_of(Order)
        capture.stop
        writer.puts Memtop::Capture.new.start
        exit!(0)
      end
      Process.wait(pid)
      writer.close
      expect_equal "5\ntrue\n", reader.read
      expect_equal 3, capture.retained_count_of(Order)
    RUBY
  end

  def test_the_probe_comes_and_goes_beside_it
    check(<<~RUBY)
      capture = Memtop::Capture.new
      capture.track(Order)
      capture.start
      expect_equal [false, "dormant", nil], [Memtop.running?, Memtop.mode, Memtop.socket]
      threads = Thread.list.size
      5.times { KEPT << Order.new }
      Memtop.start
      5.times { KEPT << Order.new }
      expect_equal ["count", 10], [Memtop.mode, capture.retained_count_of(Order)]
      Memtop.stop
      5.times { KEPT << Order.new }
      expect_equal [15, threads], [capture.retained_count_of(Order), Thread.list.size]
      Memtop.start(mode: "trace")
      capture.stop
      expect_equal ["trace", true], [Memtop.mode, Memtop.running?]
      Memtop.stop
    RUBY
  end

  def test_a_mode_that_does_not_count_comes_back_when_it_stops
    check(<<~RUBY)
      require "memtop_client"
      Memtop.start(mode: "census")
      client = MemtopClient.new(Memtop.socket)
      capture = Memtop::Capture.new
      capture.track(Order)
      capture.start
      expect_equal "count", Memtop.mode
      result = client.mode!("dormant")
      expect result[0] == :failed && result[1].include?("Memtop::Capture"), result
      KEPT << Order.new
      expect_equal 1, capture.retained_count_of(Order)
      capture.stop
      expect_equal "dormant", Memtop.mode
    RUBY
  end

  def test_with_the_first_ractor_it_ends_and_keeps_its_counts
    check(<<~RUBY, warnings: false)
      $VERBOSE = nil
      capture = Memtop::Capture.new
      capture.track(Order)
      capture.start
      4.times { KEPT << Order.new }
      ractor = Ractor.new { 1 }
      ractor.respond_to?(:value) ? ractor.value : ractor.take # Ruby 4 has no take
      expect_equal [false, 4], [capture.running?, capture.retained_count_of(Order)]
      expect_error(Memtop::Error, /Ractor/) { capture.start }
    RUBY
  end

  def test_at_exit_captures_still_work_and_nothing_is_told_afterwards
    output = check(<<~RUBY)
      at_exit do
        capture = Memtop::Capture.new
        capture.track(Order) { |_, event, _| puts event }
        capture.start
        KEPT << Order.new
        puts capture.retained_count_of(Order)
      end
    RUBY
    assert_equal "newobj\n1\n", output
  end
end
