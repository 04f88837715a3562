# frozen_string_literal: true

require "test_helper"
require "api"

# Memtop::Sampler: finds what grows, and then where it comes from; and stats, which share
# the call paths.
class ApiSamplerTest < Minitest::Test
  include Api

  def test_settings_are_those_given
    check(<<~RUBY)
      sampler = Memtop::Sampler.new
      expect_equal [4, 10, 5, nil], [sampler.depth, sampler.increases_threshold, sampler.prune_limit, sampler.prune_threshold]
      filter = ->(frame) { frame.path }
      sampler = Memtop::Sampler.new(depth: 6, filter: filter, increases_threshold: 2, prune_limit: 3, prune_threshold: 100, gc: { full_mark: false }, track_all: false)
      expect_equal [6, filter, 2, 3, 100], [sampler.depth, sampler.filter, sampler.increases_threshold, sampler.prune_limit, sampler.prune_threshold]
      expect_equal [true, false], [sampler.start, sampler.start]
      expect_equal [true, false], [sampler.stop, sampler.stop]
    RUBY
  end

  def test_a_class_that_grew_often_enough_gets_its_paths_taken
    check(<<~RUBY)
      sampler = Memtop::Sampler.new(depth: 4, increases_threshold: 3)
      sampler.start
      KEPT << Order.new
      sampler.sample!
      def leak(times) = times.times { KEPT << Order.new }
      seen = []
      3.times do |i|
        expect_equal false, sampler.tracking?(Order)
        leak(1500)
        sampler.sample! { |sample, increased| seen << [sample.increases, increased] if sample.target == Order }
      end
      expect_equal [[1, true], [2, true], [3, true]], seen
      expect_equal [true, nil], [sampler.tracking?(Order), sampler.statistics(Cart)]
      leak(700)
      statistics = sampler.statistics(Order)
      expect_equal [5201, 700, 700], statistics.values_at(:live_count, :total_allocations, :retained_allocations)
      expect_equal [700], statistics[:top_paths].map { |path| path[:count] }
      expect statistics[:top_paths][0][:path][0].match?(/\\A-e:\#{OFFSET + 5}:in .Object#leak'/), statistics
      expect_equal 700, statistics[:hotspots].values.first
      sample = sampler.samples[Order]
      expect_equal({ target: "Order", current_size: 4501, maximum_observed_size: 4501, increases: 3, sample_count: 4, threshold: 1000 }, sample.as_json)
      sampler.stop
      expect_equal 700, sampler.call_tree(Order).retained_allocations
      sampler.stop!
      expect_equal [nil, 0, {}], [sampler.statistics(Order), sampler.count(Order), sampler.samples]
    RUBY
  end

  def test_what_churns_or_grows_a_little_is_not_reported
    check(<<~RUBY)
      sampler = Memtop::Sampler.new(gc: {}, increases_threshold: 1)
      sampler.start
      grown = []
      3.times do
        apart { 5000.times { Order.new }; 900.times { Cart.new } }
        300.times { KEPT << Cart.new }
        sampler.sample! { |sample, _| grown << sample.target }
      end
      expect (grown & [Order, Cart]).empty?, grown
      expect_equal false, sampler.tracking?(Order)
    RUBY
  end

  def test_paths_are_cut_filtered_and_pruned_as_told
    check(<<~RUBY)
      def deep(n) = n.zero? ? KEPT << Order.new : deep(n - 1)
      def ways = 8.times { |i| instance_eval("(i + 1).times { KEPT << Cart.new }", "way.rb", i + 1) if i } || nil
      sampler = Memtop::Sampler.new(depth: 2, track_all: false)
      sampler.track(Order, filter: ->(frame) { frame.label == "Object#deep" && frame.lineno.positive? }, depth: 50)
      sampler.start
      5.times { deep(6) }
      path = sampler.statistics(Order)[:top_paths][0][:path]
      expect_equal [7, 1], [path.size, path.uniq.size]
      expect_equal [5], sampler.statistics(Order)[:hotspots].values
      sampler.track(Order)
      deep(6)
      expect_equal 2, sampler.statistics(Order)[:top_paths][0][:path].size
      sampler.clear(Order)
      expect_equal 0, sampler.call_tree(Order).total_allocations
      expect_equal 6, sampler.count(Order)
      sampler.untrack(Order)
      expect_equal [nil, 0], [sampler.call_tree(Order), sampler.count(Order)]
      sampler.stop!
    RUBY
  end

  def test_analyze_has_counts_paths_and_addresses
    check(<<~RUBY)
      require "objspace"
      sampler = Memtop::Sampler.new
      sampler.start
      sampler.track(Order)
      expect_equal nil, sampler.analyze(Cart)
      20.times { KEPT << Order.new }
      expect_equal nil, sampler.analyze(Order)
      result = sampler.analyze(Order, retained_minimum: 20)
      expect_equal({ new_count: 20, free_count: 0, retained_count: 20 }, result[:allocations])
      expect_equal 20, result[:allocation_roots][:total_allocations]
      addresses = KEPT.map { |order| ObjectSpace.dump(order)[/"address":"(0x\\h+)"/, 1] }
      expect_equal addresses.sort, result[:retained_addresses].sort
      expect_equal addresses[0], Memtop.address_of(KEPT[0])
      expect_equal [:allocations, :retained_addresses], sampler.analyze(Order, allocation_roots: false, retained_addresses: 3, retained_minimum: nil).keys
      expect_equal 3, sampler.analyze(Order, retained_addresses: 3, retained_minimum: nil)[:retained_addresses].size
    RUBY
  end

  def test_totals_and_what_is_retained_survive_collections_and_compaction
    check(<<~RUBY)
      sampler = Memtop::Sampler.new(track_all: false)
      sampler.track(Order)
      sampler.start
      apart { 1000.times { |i| order = Order.new("x" * 40); KEPT << order if (i % 4).zero? } }
      GC.compact
      eventually { sampler.call_tree(Order).retained_allocations == 250 }
      expect_equal 1000, sampler.call_tree(Order).total_allocations
    RUBY
  end

  def test_run_goes_on_until_its_thread_ends
    check(<<~RUBY)
      sampler = Memtop::Sampler.new(track_all: false)
      sampler.capture.track(Order)
      sampler.start
      KEPT << Order.new
      grown = Queue.new
      thread = Thread.new { sampler.run(interval: 0.001) { |sample| grown << sample.target } }
      Thread.pass until sampler.samples[Order]
      2000.times { KEPT << Order.new }
      expect_equal Order, grown.pop
      thread.kill
      expect thread.join(10)
    RUBY
  end

  def test_stats_without_a_recording_say_what_to_do
    check(<<~RUBY)
      expect_error(Memtop::Error, /record_sites/) { Memtop.stats }
      expect_equal [true, false], [Memtop.record_sites, Memtop.record_sites]
      Memtop.stats
      expect_equal [true, false], [Memtop.forget_sites, Memtop.forget_sites]
      expect_error(Memtop::Error) { Memtop.stats! }
    RUBY
  end

  def test_track_is_exception_safe_and_returns_what_the_block_does
    output = check(<<~RUBY)
      expect_equal 7, Memtop.track { 7 }
      expect_error(IOError) { Memtop.track { raise IOError, "x" } }
      expect_equal "dormant", Memtop.mode
      def many = 110.times { KEPT << Order.new }
      def few = 9.times { KEPT << Cart.new }
      Memtop.track { few; many }
    RUBY
    line = Api::HEAD.lines.size
    assert_equal ["    110 -e:#{line + 4}:Order", "      9 -e:#{line + 5}:Cart"], output.lines(chomp: true).last(2)
  end
end
