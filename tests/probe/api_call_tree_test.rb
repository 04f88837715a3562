# frozen_string_literal: true

require "test_helper"
require "memtop"

# Memtop::CallTree: each path keeps its own count, whatever else goes through it.
class ApiCallTreeTest < Minitest::Test
  def setup
    super
    @tree = Memtop::CallTree.new
  end

  def test_paths_are_counted_and_the_gone_are_not_retained
    nodes = Array.new(3) { @tree.record(%w[a b c]) }
    @tree.record(%w[a b d])
    nodes[0].decrement_path!
    assert_equal [[%w[a b c], 3, 2], [%w[a b d], 1, 1]], @tree.top_paths
    assert_equal [4, 3, 4], [@tree.total_allocations, @tree.retained_allocations, @tree.insertion_count]
  end

  def test_a_path_that_goes_on_elsewhere_does_not_vanish
    2.times { @tree.record(%w[a b]) }
    @tree.record(%w[a b c])
    assert_equal [[%w[a b], 2, 2], [%w[a b c], 1, 1]], @tree.top_paths
  end

  def test_paths_can_be_ordered_by_what_was_allocated
    5.times { @tree.record(%w[churns]).decrement_path! }
    2.times { @tree.record(%w[keeps]) }
    assert_equal %w[keeps churns], @tree.top_paths.map { |path,| path[0] }
    assert_equal %w[churns], @tree.top_paths(limit: 1, by: :total).map { |path,| path[0] }
    assert_equal({ "churns" => [5, 0] }, @tree.hotspots(limit: 1, by: :total))
  end

  def test_a_recursion_is_counted_once
    4.times { @tree.record(%w[walk walk walk main]) }
    assert_equal({ "walk" => [4, 4], "main" => [4, 4] }, @tree.hotspots)
  end

  def test_pruning_loses_no_object_and_what_goes_later_goes_there
    nodes = (1..10).flat_map { |i| Array.new(i) { @tree.record(["top", "way #{i}", "end"]) } }
    assert_equal 55, @tree.retained_allocations
    assert_equal 14, @tree.prune!(3)
    assert_equal [55, 55], [@tree.total_allocations, @tree.retained_allocations]
    assert_equal [[["top"], 28, 28], [["top", "way 10", "end"], 10, 10]], @tree.top_paths(limit: 2)
    nodes.each(&:decrement_path!)
    assert_equal [55, 0], [@tree.total_allocations, @tree.retained_allocations]
    assert(@tree.top_paths.all? { |_, _, retained| retained.zero? }, @tree.top_paths)
    @tree.record(%w[top new])
    assert_equal [%w[top new], 1, 1], @tree.top_paths(limit: 1).first
  end

  def test_an_empty_path_is_none
    assert_nil @tree.record([])
    assert_equal 0, @tree.total_allocations
    @tree.record(%w[a])
    @tree.clear!
    assert_equal [[], {}, 0], [@tree.top_paths, @tree.hotspots, @tree.insertion_count]
  end

  def test_locations_are_those_of_a_backtrace
    @tree.record(caller_locations(0, 2))
    assert_match(/api_call_tree_test\.rb:\d+:in .*test_locations_are/, @tree.top_paths[0][0][0])
  end

  def test_it_is_json
    @tree.record(%w[a b])
    path = [{ path: %w[a b], total_count: 1, retained_count: 1 }]
    spots = { "a" => { total_count: 1, retained_count: 1 }, "b" => { total_count: 1, retained_count: 1 } }
    assert_equal({ total_allocations: 1, retained_allocations: 1, top_paths: path, hotspots: spots }, @tree.as_json)
    require "json"
    assert_equal @tree.as_json.to_json, @tree.to_json
  end
end
