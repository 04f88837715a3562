# frozen_string_literal: true

module Memtop
  # @!method self.tag(**pairs)
  #   Say what the block does: what is allocated in it, and what lives of that, is counted
  #   under the tag. `memtop tags` and the viewer's `W` show it.
  #
  #     Memtop.tag(route: "orders#show", tenant: "acme") { ... }
  #
  #   Tags within tags keep the keys that they do not replace. An object belongs to the tag
  #   it was born under, for good. A fiber begins with the tag of who first resumes it, a
  #   thread without one: `tags = Memtop.tags; Thread.new { Memtop.tag(**tags) { ... } }`.
  #   There are at most 4094 different ones, then "(other)": names, not numbers of orders.
  #   When the probe does not run this is a plain yield.
  #
  #   @param pairs [Hash{Symbol, String => #to_s}] at most 8; keys of 64 bytes, values of 200
  #   @yieldreturn [Object]
  #   @return [Object] what the block returns

  # @!method self.retag(**pairs)
  #   Replace values of the innermost tag until its block ends, as when a router knows only
  #   later which route it is. What was allocated before stays under the old tag; the call
  #   counts under the new.
  #
  #   @return [Boolean] false outside any block of {tag} in this fiber: nothing was done

  # @!method self.tags
  #   @return [Hash{Symbol => String}] the tag this fiber is in, {} for none

  # For what does not begin and end with a block, such as a response that is still being
  # sent when the application has returned. Each call answers nil, and takes it, when there
  # is nothing to do. Use {Memtop.tag} instead where a block can be had.
  #
  # @!method self.open(pairs)
  #   @return [Integer, nil] what {close} or {suspend} is given
  # @!method self.close(previous)
  # @!method self.suspend(previous)
  #   Leave the tag for now, without an end to the call.
  #   @return [Integer, nil] what {resume} and {finish} are given
  # @!method self.resume(state)
  #   @return [Integer, nil] what {suspend} is given
  # @!method self.finish(state)
  #   The call of a suspended tag has come to its end. In any thread.
  module Tags
    # A garbage collection before and after a piece of work, so that what lives then was
    # retained. For development: it makes each request as slow as two collections.
    class Collections
      # @param every [Integer] for one of so many
      def initialize(every)
        @every = every
        @count = 0
      end

      # @return [Boolean] whether it is this one's turn; then a collection was made
      def before
        @count += 1
        turn = (@count % @every).zero?
        GC.start if turn
        turn
      end

      # @param turn [Boolean] what {before} answered
      def after(turn)
        GC.start if turn
      end

      # What `force_gc:` and `every:` ask for.
      def self.for(force_gc, every)
        raise ArgumentError, "every: wants a whole number from 1 up" unless every.is_a?(Integer) && every.positive?

        force_gc ? new(every) : NONE
      end

      # Makes none.
      NONE = Object.new
      # @return [false]
      def NONE.before = false
      # Nothing.
      def NONE.after(_turn) = nil
    end
  end
end
