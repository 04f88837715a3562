# frozen_string_literal: true

require "memtop"

module Memtop
  # Looks for classes that grow, and finds out where their objects come from.
  #
  # It counts all classes, which costs little; a class that has grown by more than 1000
  # objects so many times gets its call paths taken, whole and for every object, from then
  # on.
  #
  #   sampler = Memtop::Sampler.new(depth: 10, increases_threshold: 10)
  #   sampler.start
  #   Thread.new do
  #     sampler.run(interval: 60) do |sample|
  #       warn "#{sample.target} grows: #{sample.current_size}"
  #       p sampler.statistics(sample.target)
  #     end
  #   end
  class Sampler
    # One class, over the samples: a growth is an increase by more than `threshold` objects
    # over the most there were at the growth before.
    class Sample
      # @param target [Class]
      # @param size [Integer] objects to begin with
      # @param threshold [Integer] objects that are no growth yet
      def initialize(target, size = 0, threshold: 1000)
        @target = target
        @current_size = @maximum_observed_size = size
        @threshold = threshold
        @sample_count = @increases = 0
      end

      # @return [Class] the class
      attr_reader :target
      # @return [Integer] objects at the last sample
      attr_reader :current_size
      # @return [Integer] objects at the last growth, or in the beginning
      attr_reader :maximum_observed_size
      # @return [Integer] objects that are no growth yet
      attr_reader :threshold
      # @return [Integer] how often it was looked at
      attr_reader :sample_count
      # @return [Integer] how often it had grown
      attr_reader :increases

      # Look again.
      # @param size [Integer] objects now
      # @return [Boolean] whether it has grown
      def sample!(size)
        @sample_count += 1
        @current_size = size
        return false unless size - @maximum_observed_size > @threshold

        @maximum_observed_size = size
        @increases += 1
        true
      end

      # @return [Hash{Symbol => Object}] what it knows; the class by its name
      def as_json(...)
        { target: Memtop.class_name(@target), current_size: @current_size,
          maximum_observed_size: @maximum_observed_size, increases: @increases,
          sample_count: @sample_count, threshold: @threshold }
      end

      # @return [String] {as_json} as JSON; needs `require "json"`
      def to_json(...)
        as_json.to_json(...)
      end
    end

    # What is known of the paths of one class: `from` a span on.
    # @private
    Tracked = Struct.new(:filter, :depth, :from, :allocated, :kept)
    private_constant :Tracked

    # @param depth [Integer] frames of a path that are told, from the innermost
    # @param filter [#call, nil] gets a {Frame}, says whether it is told
    # @param increases_threshold [Integer] growths before a class's paths are taken
    # @param prune_limit [Integer] ways from each place that {CallTree#prune!} keeps
    # @param prune_threshold [Integer, nil] objects in a tree from which on it is pruned;
    #   nil for never
    # @param gc [Hash, nil] keywords of GC.start, which runs before each sample; nil for no
    #   collection
    # @param track_all [Boolean] count all classes, not just those of {track}
    def initialize(depth: 4, filter: nil, increases_threshold: 10, prune_limit: 5,
                   prune_threshold: nil, gc: nil, track_all: true)
      @depth = depth
      @filter = filter || ->(_frame) { true }
      @increases_threshold = increases_threshold
      @prune_limit = prune_limit
      @prune_threshold = prune_threshold
      @gc = gc
      @capture = Capture.new
      @capture.track_all = track_all
      @tracked = {}.compare_by_identity
      @samples = {}.compare_by_identity
    end

    # @return [Integer] frames of a path that are told
    attr_reader :depth
    # @return [#call] says of each {Frame} whether it is told
    attr_reader :filter
    # @return [Integer] growths before a class's paths are taken
    attr_reader :increases_threshold
    # @return [Integer] ways from each place that pruning keeps
    attr_reader :prune_limit
    # @return [Integer, nil] objects in a tree from which on it is pruned
    attr_reader :prune_threshold
    # @return [Capture] what counts
    attr_reader :capture
    # @return [Hash{Class => Sample}] each class that is looked at
    attr_reader :samples

    # Begin to count.
    # @return [Boolean] false when it runs already
    # @raise [Memtop::Error] as {Capture#start}
    def start
      return false unless @capture.start

      @tracked.each { |klass, tracked| take_paths(klass, tracked) }
      true
    end

    # End; figures and trees stay.
    # @return [Boolean] false when it does not run
    def stop
      return false unless @capture.running?

      @tracked.each { |klass, tracked| leave_paths(klass, tracked) }
      @capture.stop
    end

    # End, and forget everything.
    def stop!
      stop
      @tracked.keys.each { |klass| @capture.untrack(klass) }
      @tracked.clear
      @samples.clear
      @capture.clear
    end

    # Forget the paths of a class.
    # @param klass [Class]
    def clear(klass)
      tracked = @tracked[klass]
      begin_paths(klass, tracked) if tracked
    end

    # Forget all paths and counts.
    # @raise [RuntimeError] while it runs
    def clear_all!
      @capture.clear
      @tracked.each_key { |klass| clear(klass) }
      @samples.clear
    end

    # Sample for ever; ends with the thread that calls it.
    # @param interval [Numeric] seconds from one sample to the next
    # @yield see {sample!}
    def run(interval: 60, &block)
      loop do
        started = now
        sample!(&block)
        rest = interval - (now - started)
        sleep(rest) if rest.positive?
      end
    end

    # Look at every class once. A class that has grown `increases_threshold` times, or
    # more, has its paths taken from now on.
    # @yield [sample, increased] for each class that has grown
    # @yieldparam sample [Sample]
    # @yieldparam increased [Boolean] true
    def sample!
      GC.start(**@gc) if @gc
      grown = []
      @capture.each do |klass, allocations|
        size = allocations.retained_count
        sample = @samples[klass] ||= Sample.new(klass, size)
        grown << sample if sample.sample!(size)
      end
      forget_what_is_gone
      grown.each { |sample| track(sample.target) if sample.increases >= @increases_threshold && !tracking?(sample.target) }
      grown.each { |sample| yield sample, true } if block_given?
    end

    # Take the paths of a class's objects that are born from now on.
    # @param klass [Class]
    # @param filter [#call] as in {initialize}
    # @param depth [Integer] as in {initialize}
    # @return [Allocations]
    # @raise [TypeError] for what is no class
    def track(klass, _allocations = nil, filter: @filter, depth: @depth)
      allocations = @capture.tracking?(klass) ? @capture[klass] : @capture.track(klass)
      untrace(klass)
      tracked = @tracked[klass] = Tracked.new(filter, depth)
      take_paths(klass, tracked) if @capture.running?
      allocations
    end
    alias track_with_analysis track

    # Take the paths of a class no longer.
    # @param klass [Class]
    def untrack(klass)
      untrace(klass)
      @tracked.delete(klass)
      @capture.untrack(klass)
    end

    # @param klass [Class]
    # @return [Boolean] whether its paths are taken
    def tracking?(klass)
      @tracked.key?(klass)
    end

    # @param klass [Class]
    # @return [Integer] its objects that were born since {start} and are still there
    def count(klass)
      @capture.retained_count_of(klass)
    end

    # @param klass [Class]
    # @return [CallTree, nil] its paths as they are now; nil when they are not taken
    def call_tree(klass)
      tracked = @tracked[klass]
      return unless tracked
      return tracked.kept || CallTree.new unless tracked.from

      build(klass, tracked)
    end

    # @return [Hash{Class => CallTree}] the paths of each class whose paths are taken
    def call_trees
      @tracked.keys.to_h { |klass| [klass, call_tree(klass)] }
    end

    # Where a class's objects come from: those born since its paths are taken.
    # @param klass [Class]
    # @return [Hash, nil] live_count: objects still there, all since {start};
    #   total_allocations and retained_allocations: those with paths;
    #   top_paths: [{path: [String…], count:, total_count:, retained_count:}…], most first;
    #   hotspots: {location => objects still there}, most first;
    #   nil when its paths are not taken
    def statistics(klass)
      tree = call_tree(klass)
      return unless tree

      paths = tree.top_paths.map do |path, total, retained|
        { path: path, count: retained, total_count: total, retained_count: retained }
      end
      { live_count: count(klass), total_allocations: tree.total_allocations,
        retained_allocations: tree.retained_allocations, top_paths: paths,
        hotspots: tree.hotspots.transform_values(&:last) }
    end

    # All that is known of a class.
    # @param klass [Class]
    # @param allocation_roots [Boolean] with its paths, if they are taken
    # @param retained_addresses [Integer, Boolean] with the addresses of so many objects,
    #   or of all, as ObjectSpace.dump writes them
    # @param retained_minimum [Integer, nil] only when there are so many objects
    # @return [Hash, nil] allocations: counts; allocation_roots: {CallTree#as_json};
    #   retained_addresses: ["0x…"…]; nil when the class is not counted, or too few are there
    def analyze(klass, allocation_roots: true, retained_addresses: 100, retained_minimum: 100)
      allocations = @capture[klass]
      return if allocations.nil? || (retained_minimum && allocations.retained_count < retained_minimum)

      result = { allocations: allocations.as_json }
      tree = allocation_roots && call_tree(klass)
      result[:allocation_roots] = tree.as_json if tree
      result[:retained_addresses] = addresses(klass, retained_addresses) if retained_addresses
      result
    end

    private

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    def take_paths(klass, tracked)
      Native.trace(klass, true)
      begin_paths(klass, tracked)
    end

    def begin_paths(klass, tracked)
      tracked.kept = nil
      return unless @capture.running?

      tracked.from = Native.span
      tracked.allocated = Native.allocations(klass)
    end

    def leave_paths(klass, tracked)
      tracked.kept = build(klass, tracked)
      tracked.from = nil
      Native.trace(klass, false)
    end

    def untrace(klass)
      tracked = @tracked[klass]
      Native.trace(klass, false) if tracked&.from && @capture.running?
    end

    # A class that nobody can name is not kept alive for being looked at.
    def forget_what_is_gone
      @samples.delete_if do |klass, sample|
        sample.increases.zero? && Module.instance_method(:name).bind_call(klass).nil? && @capture.retained_count_of(klass).zero?
      end
    end

    def build(klass, tracked)
      tree = CallTree.new
      paths = Paths.new
      counts_by_node(klass, tracked).each do |node, (total, retained)|
        frames = paths[node].first(tracked.depth).select(&tracked.filter)
        tree.add(frames, total, retained) if total.positive? || retained.positive?
      end
      tree.prune!(@prune_limit) if @prune_threshold && tree.insertion_count >= @prune_threshold
      tree
    end

    def counts_by_node(klass, tracked)
      counts = Hash.new { |hash, node| hash[node] = [0, 0] }
      Native.allocations(klass).each do |node, allocated|
        counts[node][0] = allocated - tracked.allocated.fetch(node, 0)
      end
      Native.paths(klass, tracked.from, nil).each { |_, node, live| counts[node][1] += live }
      counts
    end

    def addresses(klass, limit)
      found = @capture.each_object(klass).lazy.map { |object, _| Memtop.address_of(object) }
      limit.is_a?(Integer) ? found.first(limit) : found.to_a
    end
  end
end
