# frozen_string_literal: true

require "test_helper"
require "api"

# Memtop.retained, and the assertions made of it: exact where something is left, silent
# where nothing is.
class ApiRetainedTest < Minitest::Test
  include Api

  def test_it_tells_what_was_left_per_class_and_path
    check(<<~RUBY)
      def one = KEPT << Order.new
      def two = KEPT << Order.new
      result = Memtop.retained(Order, Cart) do
        30.times { one }
        20.times { two }
        50.times { Order.new }
        KEPT << Cart.new
      end
      expect_equal [51, 50, 1], [result.count, result[Order], result[Cart]]
      expect_equal [[Order, 50], [Cart, 1]], result.to_a
      expect_equal [Order, Cart], result.classes
      expect_equal [30, 20], result.paths(Order).map(&:count)
      expect_equal ["Object#one", "block (2 levels) in <main>"], result.paths(Order)[0].path.first(2).map(&:label)
      hash = result.to_h
      expect_equal [50, 30], [hash[Order][:count], hash[Order][:paths][0][:count]]
      expect hash[Order][:paths][0][:path][0].match?(/\\A-e:\\d+:in .Object#one'\\z/), hash
      expect result.to_s.start_with?("     50  Order\\n         30  -e:"), result.to_s
      expect_equal "#<Memtop::Retained Order: 50, Cart: 1>", result.inspect
      expect_equal false, result.empty?
    RUBY
  end

  def test_nothing_left_is_empty
    check(<<~RUBY)
      result = Memtop.retained(Order) { Order.new }
      expect_equal [true, 0, {}, "nothing retained\\n", []], [result.empty?, result.count, result.to_h, result.to_s, result.paths(Order)]
    RUBY
  end

  def test_all_classes_without_naming_any
    check(<<~RUBY)
      result = Memtop.retained(warmup: 1) { KEPT << [Order.new, +"text"] }
      expect_equal({ Order => 1, String => 1, Array => 1 }, result.to_a.to_h)
    RUBY
  end

  def test_what_was_there_before_and_comes_after_is_not_in_it
    check(<<~RUBY)
      10.times { KEPT << Order.new }
      result = Memtop.retained(Order) { KEPT.clear; KEPT << Order.new }
      KEPT << Order.new
      expect_equal 1, result.count
    RUBY
  end

  def test_warm_up_runs_come_before
    check(<<~RUBY)
      runs = 0
      result = Memtop.retained(Order, warmup: 2) { runs += 1; KEPT[0] ||= Order.new }
      expect_equal [3, 0], [runs, result.count]
    RUBY
  end

  def test_exceptions_pass_through_and_counting_ends
    check(<<~RUBY)
      expect_error(IOError, /in the block/) { Memtop.retained(Order) { raise IOError, "in the block" } }
      expect_equal 5, catch(:out) { Memtop.retained { throw :out, 5 } }
      expect_error(ArgumentError) { Memtop.retained(Order) }
      expect_error(TypeError) { Memtop.retained(Kernel) { 1 } }
      expect_equal "dormant", Memtop.mode
      expect_equal 1, Memtop.retained(Order) { KEPT << Order.new }.count
    RUBY
  end

  def test_without_collections_garbage_counts_too
    check(<<~RUBY)
      GC.disable
      expect_equal 10, Memtop.retained(Order, gc: false) { 10.times { Order.new } }.count
      GC.enable
      expect_equal 1, Memtop.retained(Order, gc: { full_mark: true }) { KEPT << Order.new }.count
    RUBY
  end

  def test_it_works_in_itself_in_threads_and_beside_a_probe
    check(<<~RUBY)
      Memtop.start
      inner = nil
      outer = Memtop.retained(Order) { KEPT << Order.new; inner = Memtop.retained(Order, Cart) { KEPT << Order.new << Cart.new } }
      expect_equal [2, 1, 1], [outer.count, inner[Order], inner[Cart]]
      classes = Array.new(8) { Class.new }
      results = classes.map { |klass| Thread.new { Memtop.retained(klass) { KEPT << klass.new } } }.map(&:value)
      expect_equal [1] * 8, results.map(&:count)
      Memtop.stop
    RUBY
  end

  # What stays by accident: matches, results of blocks, what a thread or a fiber leaves on
  # its stack, first calls.
  INNOCENT = <<~RUBY
    BLOCKS = [
      -> { Order.new },
      -> { Array.new(10) { Order.new }.map(&:itself).last },
      -> { "order 12" =~ /(\\\\d+)/; Order.new($~) },
      -> { "a,b".split(",").map { |part| Order.new(part) }.sort_by(&:hash).first },
      -> { Thread.new { Order.new(Thread.current) }.value },
      -> { Fiber.new { Fiber.yield Order.new; 1 }.resume },
      -> { begin; raise ArgumentError, Order.new.inspect; rescue ArgumentError => e; e; end },
      -> { (1..5).each_slice(2).to_h { |slice| [slice, Order.new(slice)] } },
      -> { format("%s %d", Order.new.class, 12).to_sym; Order.new },
      -> { Order.new.then { |order| [order, order.dup, order.clone] }.each(&:hash) },
    ].freeze
  RUBY

  def test_a_thousand_innocent_blocks_raise_no_false_alarm
    check(<<~RUBY)
      #{INNOCENT}
      alarms = []
      1000.times do |i|
        block = BLOCKS[i % BLOCKS.size]
        result = i.odd? ? Memtop.retained(Order, &block) : Memtop.retained(Order, MatchData, Cart, &block)
        alarms << [i % BLOCKS.size, result.to_s] unless result.empty?
      end
      expect alarms.empty?, alarms.first(3)
    RUBY
  end

  def test_nor_do_they_when_all_classes_are_looked_at
    check(<<~RUBY)
      #{INNOCENT}
      alarms = []
      200.times do |i|
        result = Memtop.retained(warmup: 1, &BLOCKS[i % BLOCKS.size])
        alarms << [i % BLOCKS.size, result.to_s] unless result.empty?
      end
      expect alarms.empty?, alarms.first(3)
    RUBY
  end

  MINITEST = <<~RUBY
    require "minitest/autorun"
    require "memtop/minitest"
    class Order; end
    KEPT = []
    class ImportTest < Minitest::Test
      def leak(times) = times.times { KEPT << Order.new }
      def test_clean = assert_retains_nothing(Order) { Order.new }
      def test_clean_of_all = assert_retains_nothing { Order.new.to_s }
      def test_leaks = assert_retains_nothing(Order) { leak(3) }
      def test_leaks_something = assert_retains_nothing { leak(2) }
      def test_exactly = assert_retains(3, Order) { leak(3) }
      def test_not_exactly = assert_retains(2, Order) { leak(3) }
      def test_at_most = assert_retains_at_most(3, Order) { leak(3) }
      def test_too_many = assert_retains_at_most(2, Order) { leak(3) }
    end
  RUBY

  def test_assertions_for_minitest
    File.write(File.join(@folder, "import_test.rb"), MINITEST)
    output, = Open3.capture2e(*Probed::RUBY, "import_test.rb", "--seed", "1", chdir: @folder)
    assert_includes output, "8 runs, 8 assertions, 4 failures, 0 errors, 0 skips"
    assert_match(/#test_leaks .*\nExpected the block to retain no objects of Order, but it retained 3:\n\n +3  Order\n +3  import_test.rb:6:in .*leak'\n/, output)
    assert_match(/to retain no objects, but it retained 2:\n\n +2  Order/, output)
    assert_match(/to retain exactly 2 objects of Order, but it retained 3:/, output)
    assert_match(/to retain at most 2 objects of Order, but it retained 3:/, output)
  end

  RSPEC = <<~RUBY
    require "memtop/rspec"
    class Order; end
    KEPT = []
    RSpec.describe "an import" do
      def leak(times) = times.times { KEPT << Order.new }
      it("is clean") { expect { Order.new }.not_to retain_objects(Order) }
      it("is clean of all") { expect { Order.new.to_s }.not_to retain_objects }
      it("leaks") { expect { leak(3) }.not_to retain_objects(Order) }
      it("leaks something") { expect { leak(3) }.to retain_objects }
      it("leaks nothing, against what was said") { expect { Order.new }.to retain_objects(Order) }
      it("leaks exactly") { expect { leak(3) }.to retain_objects(Order).exactly(3).times }
      it("leaks at most") { expect { leak(3) }.to retain_objects(Order).at_most(3) }
      it("leaks more") { expect { leak(3) }.to retain_objects(Order).at_most(2) }
      it("leaks at least") { expect { leak(3) }.to retain_objects(Order).at_least(2).and retain_objects(Order).at_most(4) }
    end
  RUBY

  def test_a_matcher_for_rspec
    skip "Debian's ruby-rspec is not installed: scripts/setup test" unless system(*Probed::RUBY, "-e", "require 'rspec'", err: File::NULL)
    File.write(File.join(@folder, "import_spec.rb"), RSPEC)
    run = "require 'rspec/core'; exit RSpec::Core::Runner.run(ARGV)"
    output, = Open3.capture2e(*Probed::RUBY, "-e", run, "import_spec.rb", chdir: @folder)
    assert_includes output, "9 examples, 3 failures"
    assert_match(/Expected the block to retain no objects of Order, but it retained 3:\s+3  Order\n +3  import_spec.rb:5:in .*leak'\n/, output)
    assert_match(/to retain at most 2 objects of Order, but it retained 3:/, output)
    assert_match(/to retain some objects of Order, but it retained 0:\s+nothing retained/, output)
  end
end
