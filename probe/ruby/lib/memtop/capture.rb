# frozen_string_literal: true

require "memtop"

module Memtop
  # How many objects of one class were born while a {Capture} ran, and how many of those
  # are gone. Reading a count costs the same however many objects there are.
  #
  # Made by {Capture#track}; one made by hand stays empty.
  class Allocations
    # @param target [Class, nil] the class that is counted
    # @param keeper [Capture, nil] who has to know when a block is given
    def initialize(target = nil, keeper = nil)
      @target = target
      @keeper = keeper
      @before = [0, 0]
      @from = nil
      @listener = nil
      @callback = nil
    end

    # @return [Class, nil] the class that is counted
    attr_reader :target

    # @return [Integer] objects born
    def new_count
      counts[0]
    end

    # @return [Integer] of these, objects that a collection has freed
    def free_count
      counts[1]
    end

    # @return [Integer] of these, objects that are still there: alive, or garbage that no
    #   collection has found yet
    def retained_count
      born, freed = counts
      born - freed
    end

    # Call a block for every birth and free from now on, instead of the block before.
    # Without a block: call nothing any more.
    #
    # Blocks are called soon after the event, in the program's own threads, at the next
    # line or the next return from a method; an exception goes to the program from there.
    # One block runs at a time. Objects that blocks make themselves are not counted: to
    # tell of them would never end.
    #
    # @yield [klass, event, data]
    # @yieldparam klass [Class] the class
    # @yieldparam event [Symbol] :newobj or :freeobj
    # @yieldparam data [Object, nil] at :freeobj, what the block returned at the same
    #   object's :newobj; it is kept alive until then
    # @yieldreturn [Object] at :newobj, what :freeobj is to get
    # @return [self]
    def track(&block)
      unlisten
      @callback = block
      @keeper&.keep(self)
      listen if @from
      self
    end

    # @return [Hash{Symbol => Integer}] the three counts
    def as_json(...)
      { new_count: new_count, free_count: free_count, retained_count: retained_count }
    end

    # @return [String] {as_json} as JSON; needs `require "json"`
    def to_json(...)
      as_json.to_json(...)
    end

    # @private count from a span on
    def begin_at(span)
      @from = span
      listen
    end

    # @private
    def unlisten
      Native.unlisten(@listener) if @listener
      @left = @listener
      @listener = nil
    end

    # @private keep the counts as they are
    def finish
      @before = counts
      @from = nil
      Native.forget(@left) if @left
      @left = nil
    end

    # @private
    def reset
      @before = [0, 0]
    end

    # @private the first span that it counts, nil when it does not
    attr_reader :from

    private

    def counts
      return @before unless @from

      born, freed = Native.counts(@target, @from, nil)
      [@before[0] + born, @before[1] + freed]
    end

    def listen
      @listener = Native.listen(@target, @callback) if @callback && !@listener
    end
  end

  # Counts the objects of some classes, or of all, that are born while it runs, and how
  # many of them are still there.
  #
  #   capture = Memtop::Capture.new
  #   capture.track(Order)
  #   capture.start
  #   import
  #   GC.start
  #   capture.retained_count_of(Order) # => 3
  #   capture.stop
  #
  # It needs no viewer and no {Memtop.start}, goes on when the probe starts or stops
  # beside it, and any number of them run at once. What was born before {start} is never
  # in its counts, nor is the free of it. The counts stand still after {stop}, and go on
  # from there when it starts again; objects of before are followed no longer.
  class Capture
    @running = []

    class << self
      # @private the captures that run
      attr_reader :running

      # @private counting ends for good: keep what there is
      def counting_ends
        @running.dup.each(&:abandon)
      end
    end

    def initialize
      @allocations = {}.compare_by_identity # of track
      @seen = {}.compare_by_identity # of track_all: kept when it ends, or for a block
      @track_all = false
      @before = [0, 0]
      @token = nil
      @from = nil
    end

    # @return [Boolean] whether all classes are counted, not just those of {track}
    attr_reader :track_all

    # Count all classes, or only those of {track}, from now on.
    # @param value [Boolean]
    def track_all=(value)
      value = value ? true : false
      return if value == @track_all

      @track_all = value
      return unless @token

      value ? follow_all : unfollow_all
    end

    # Begin, or go on.
    # @return [Boolean] false when it runs already
    # @raise [Memtop::Error] when nothing can be counted: the program has Ractors, or
    #   there is no memory
    def start
      return false if @token

      @token = Native.begin
      Capture.running << self
      @allocations.each { |klass, allocations| follow(klass, allocations) }
      follow_all if @track_all
      true
    end

    # End. What callbacks have not heard of yet is told first; when one of them raises,
    # the others are told all the same, and then it is raised.
    # @return [Boolean] false when it does not run
    def stop
      return false unless @token

      begin
        unlisten
        tell_the_rest
      ensure
        finish
      end
      true
    end

    # @return [Boolean] whether it runs
    def running?
      !@token.nil?
    end

    # Forget all counts; classes stay tracked, and their blocks stay.
    # @return [self]
    # @raise [RuntimeError] while it runs
    def clear
      raise "a running capture cannot be cleared: stop it first" if @token

      @before = [0, 0]
      @allocations.each_value(&:reset)
      @seen.clear
      self
    end

    # Count a class. Objects of subclasses are not of the class. With a block, it is called
    # for every birth and free (see {Allocations#track}); without one, a block of before
    # is called no longer.
    #
    # @param klass [Class]
    # @yield see {Allocations#track}
    # @return [Allocations] its counts
    # @raise [TypeError] for what is no class
    def track(klass, &block)
      raise TypeError, "#{klass.inspect} is no class" unless klass.is_a?(Class)

      allocations = @allocations[klass]
      return allocations.track(&block) if allocations

      allocations = @allocations[klass] = Allocations.new(klass)
      follow(klass, allocations) if @token
      allocations.track(&block)
    end

    # Count a class no longer, and forget its counts.
    # @param klass [Class]
    # @return [self]
    def untrack(klass)
      allocations = @allocations.delete(klass)
      if allocations&.from
        allocations.unlisten
        leave(klass, allocations)
      end
      self
    end

    # @param klass [Class]
    # @return [Boolean] whether {track} was called for it
    def tracking?(klass)
      @allocations.key?(klass)
    end

    # @param klass [Class]
    # @return [Integer] objects of it that were born while this ran and are still there;
    #   0 for a class that is not counted
    def retained_count_of(klass)
      self[klass]&.retained_count || 0
    end
    alias count_for retained_count_of

    # @param klass [Class]
    # @return [Allocations, nil] its counts; nil when it is not counted
    def [](klass)
      @allocations[klass] || @seen[klass] || (of_all(klass) if @from && klass.is_a?(Class))
    end

    # Every class that is counted, with its counts.
    # @yieldparam klass [Class]
    # @yieldparam allocations [Allocations]
    # @return [self, Enumerator]
    def each
      return to_enum unless block_given?

      classes.each { |klass| (allocations = self[klass]) && yield(klass, allocations) }
      self
    end

    # Every object that was born while this ran and is still there. A running capture
    # alone knows them: afterwards there are none. The objects are found at once, and
    # collections run again before the first is yielded.
    #
    # @param klass [Class, nil] only of this class
    # @yieldparam object [Object]
    # @yieldparam allocations [Allocations] of its class
    # @return [self, Enumerator]
    def each_object(klass = nil)
      return to_enum(__method__, klass) unless block_given?

      (klass ? [klass] : classes).each do |each_class|
        allocations = self[each_class]
        next unless allocations&.from

        objects = Native.objects(each_class, allocations.from, nil)
        yield objects.pop, allocations until objects.empty?
      end
      self
    end

    # @return [Integer] objects born, of all classes counted
    def new_count
      totals[0]
    end

    # @return [Integer] of these, objects that are gone
    def free_count
      totals[1]
    end

    # @return [Integer] of these, objects that are still there
    def retained_count
      born, freed = totals
      born - freed
    end

    # @return [Hash{Symbol => Integer}] tracked_count: classes that are counted;
    #   object_table_size: objects that are followed
    def statistics
      { tracked_count: classes.size, object_table_size: @token ? retained_count : 0 }
    end

    # @private counting has ended under us
    def abandon
      unlisten
      finish
    end

    # @private
    def keep(allocations)
      @seen[allocations.target] ||= allocations
    end

    private

    def follow(klass, allocations)
      Native.follow(klass, true)
      allocations.begin_at(@from || Native.span)
    end

    def leave(klass, allocations)
      allocations.finish
      Native.follow(klass, false)
    end

    def follow_all
      Native.follow(nil, true)
      @from = Native.span
      @seen.each_value { |allocations| allocations.begin_at(@from) }
    end

    # What was counted of all classes is kept, and only from here on are they kept alive.
    def unfollow_all
      Native.classes(@from, nil).each { |klass| @seen[klass] ||= of_all(klass) }
      @seen.each_value(&:finish)
      @before = add(@before, Native.counts(nil, @from, nil))
      @from = nil
      Native.follow(nil, false)
    end

    def of_all(klass)
      allocations = Allocations.new(klass, self)
      allocations.begin_at(@from)
      allocations if allocations.new_count.positive?
    end

    def classes
      list = {}.compare_by_identity
      @allocations.each_key { |klass| list[klass] = true }
      @seen.each_key { |klass| list[klass] = true }
      Native.classes(@from, nil).each { |klass| list[klass] = true } if @from
      list.keys
    end

    def totals
      return add(@before, Native.counts(nil, @from, nil)) if @from
      return @before if @track_all

      @allocations.each_value.reduce([0, 0]) { |sum, one| add(sum, [one.new_count, one.free_count]) }
    end

    def add(one, other)
      [one[0] + other[0], one[1] + other[1]]
    end

    def unlisten
      @allocations.each_value(&:unlisten)
      @seen.each_value(&:unlisten)
    end

    def tell_the_rest
      error = nil
      begin
        Native.drain
      rescue Exception => e # rubocop:disable Lint/RescueException -- raised again below
        error ||= e
        retry
      end
      raise error if error
    end

    def finish
      token = @token
      unfollow_all if @from
      @allocations.each { |klass, allocations| leave(klass, allocations) if allocations.from }
      Capture.running.delete_if { |capture| capture.equal?(self) }
      @token = nil
      Native.end(token)
    end
  end
end
