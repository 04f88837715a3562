# frozen_string_literal: true

require "memtop"

module Memtop
  # Call paths with counts: how many objects were allocated there, and how many are still
  # there. A path is a list of locations, innermost first; each is known by its text.
  class CallTree
    # A place on some paths. Its counts are those of all paths through it; {own_total} and
    # {own_retained} those of the path that ends here.
    class Node
      # @param location [#to_s, nil] nil for the root
      # @param parent [Node, nil]
      def initialize(location = nil, parent = nil)
        @location = location
        @parent = parent
        @children = {}
        @total_count = @retained_count = @own_total = @own_retained = 0
      end

      # @return [#to_s, nil] the location, as it came first
      attr_reader :location
      # @return [Node, nil] the place before it on its paths; nil for the root
      attr_reader :parent
      # @return [Integer] objects allocated on paths through here
      attr_accessor :total_count
      # @return [Integer] of these, objects that are still there
      attr_accessor :retained_count
      # @return [Integer] objects allocated on the path that ends here
      attr_accessor :own_total
      # @return [Integer] of these, objects that are still there
      attr_accessor :own_retained

      # @return [Hash{String => Node}, nil] the places after it; nil when it has none
      def children
        @children unless @children.empty?
      end

      # @return [Boolean] whether no path goes on from here
      def leaf?
        @children.empty?
      end

      # @param location [#to_s]
      # @return [Node]
      def find_or_create_child(location)
        @children[location.to_s] ||= Node.new(location, self)
      end

      # @yieldparam child [Node]
      def each_child(&block)
        @children.each_value(&block)
      end

      # Objects were allocated on the path that ends here.
      # @param total [Integer] how many
      # @param retained [Integer] how many of them are still there
      def increment_path!(total = 1, retained = 1)
        node = survivor
        node.own_total += total
        node.own_retained += retained
        node.each_upwards do |each|
          each.total_count += total
          each.retained_count += retained
        end
      end

      # One of them is gone. Also of a node that was pruned: what took its place loses it.
      def decrement_path!
        node = survivor
        node.own_retained -= 1
        node.each_upwards { |each| each.retained_count -= 1 }
      end

      # Keep the children with most objects; what the others had is this node's own.
      # @param limit [Integer] how many
      # @return [Integer] nodes that are gone
      def prune!(limit)
        kept, others = @children.sort_by { |_, child| -child.retained_count }
                                .then { |sorted| [sorted.first(limit), sorted.drop(limit)] }
        @children = kept.to_h
        others.sum { |_, child| child.give_up(self) } + @children.each_value.sum { |child| child.prune!(limit) }
      end

      # Every path through here, with what ended on it.
      # @param before [Array<Node>] the path so far
      # @yieldparam path [Array<Node>] down to where it ends
      # @yieldparam total [Integer]
      # @yieldparam retained [Integer]
      def each_path(before = [], &block)
        path = before + [self]
        yield path, @own_total, @own_retained if @own_total.positive? || @own_retained.positive?
        each_child { |child| child.each_path(path, &block) }
      end

      # @private this and those above it
      def each_upwards
        node = self
        while node
          yield node
          node = node.parent
        end
      end

      # @private become a part of `heir`; returns how many nodes went with it
      def give_up(heir)
        heir.own_total += @own_total
        heir.own_retained += @own_retained
        gone = 1 + @children.each_value.sum { |child| child.give_up(heir) }
        @children = {}
        @heir = heir
        gone
      end

      # @private who counts for this node now
      def survivor
        node = self
        node = node.heir while node.heir
        node
      end

      # @private
      attr_reader :heir
    end

    def initialize
      clear!
    end

    # @return [Integer] paths recorded, since somebody set it to 0
    attr_accessor :insertion_count

    # One object was allocated.
    # @param locations [Array<#to_s>] its path, innermost first, such as caller_locations
    # @return [Node, nil] where the path ends: Node#decrement_path! when the object is gone;
    #   nil for an empty path
    def record(locations)
      add(locations, 1, 1)
    end

    # Several objects were allocated.
    # @param locations [Array<#to_s>] their path, innermost first
    # @param total [Integer] how many
    # @param retained [Integer] how many of them are still there
    # @return [Node, nil] as {record}
    def add(locations, total, retained)
      return nil if locations.empty?

      node = locations.reduce(@root, :find_or_create_child)
      node.increment_path!(total, retained)
      @insertion_count += total
      node
    end

    # The paths with most objects. Every path has its own: those that go on elsewhere too.
    # @param limit [Integer, nil] how many; nil for all
    # @param by [Symbol] :retained or :total
    # @return [Array<Array(Array<String>, Integer, Integer)>] [locations, total, retained]
    def top_paths(limit: 10, by: :retained)
      paths = []
      @root.each_path do |path, total, retained|
        paths << [path.drop(1).map { |node| node.location.to_s }, total, retained] if path.size > 1
      end
      best(paths, limit) { |_, total, retained| by == :total ? total : retained }
    end

    # The locations with most objects, wherever they are on a path. One that is twice on a
    # path, as in a recursion, has the path's objects once.
    # @param limit [Integer, nil] how many; nil for all
    # @param by [Symbol] :retained or :total
    # @return [Hash{String => Array(Integer, Integer)}] location => [total, retained]
    def hotspots(limit: 20, by: :retained)
      spots = Hash.new { |hash, location| hash[location] = [0, 0] }
      top_paths(limit: nil).each do |locations, total, retained|
        locations.uniq.each do |location|
          spots[location][0] += total
          spots[location][1] += retained
        end
      end
      best(spots.to_a, limit) { |_, (total, retained)| by == :total ? total : retained }.to_h
    end

    # @return [Integer] objects recorded
    def total_allocations
      @root.total_count
    end

    # @return [Integer] of these, objects that are still there
    def retained_allocations
      @root.retained_count
    end

    # Forget everything.
    def clear!
      @root = Node.new
      @insertion_count = 0
    end

    # Keep, at each place, only what most objects went through. No object is lost: what
    # was beyond counts where its path was cut, also when it goes later.
    # @param limit [Integer] how many ways from each place
    # @return [Integer] nodes that are gone
    def prune!(limit = 5)
      @root.prune!(limit)
    end

    # @param top_paths [Hash] keywords of {top_paths}
    # @param hotspots [Hash] keywords of {hotspots}
    # @return [Hash] total_allocations, retained_allocations, top_paths, hotspots
    def as_json(top_paths: { limit: 10 }, hotspots: { limit: 20 })
      {
        total_allocations: total_allocations,
        retained_allocations: retained_allocations,
        top_paths: top_paths(**top_paths).map do |path, total, retained|
          { path: path, total_count: total, retained_count: retained }
        end,
        hotspots: hotspots(**hotspots).transform_values do |total, retained|
          { total_count: total, retained_count: retained }
        end
      }
    end

    # @return [String] {as_json} as JSON; needs `require "json"`
    def to_json(...)
      as_json.to_json(...)
    end

    private

    # Most first; among equals in the order they came.
    def best(list, limit)
      sorted = list.each_with_index.sort_by { |one, i| [-yield(one), i] }.map(&:first)
      limit ? sorted.first(limit) : sorted
    end
  end
end
