# frozen_string_literal: true

require "rspec/expectations"
require "memtop/assertions"

module Memtop
  # A matcher for RSpec about what a block leaves behind; `require "memtop/rspec"` in
  # spec_helper.rb adds it to every example.
  #
  #   expect { import }.not_to retain_objects(Order)
  #   expect { import }.to retain_objects(Order).at_most(3)
  module RSpecMatchers
    # @param classes [Array<Class>] whose objects; none for all classes
    # @return [RetainObjects] a matcher: at least one object, unless told otherwise
    def retain_objects(*classes)
      RetainObjects.new(classes)
    end

    # What {RSpecMatchers#retain_objects} makes.
    class RetainObjects
      include ::RSpec::Matchers::Composable

      # @param classes [Array<Class>]
      def initialize(classes)
        @classes = classes
        @range = (1..)
        @words = "some"
        @warmup = nil
      end

      # @param count [Integer] not more objects; none is fine
      # @return [self]
      def at_most(count)
        @range = (0..count)
        @words = "at most #{count}"
        self
      end

      # @param count [Integer] exactly so many objects
      # @return [self]
      def exactly(count)
        @range = (count..count)
        @words = "exactly #{count}"
        self
      end

      # @param count [Integer] not fewer objects
      # @return [self]
      def at_least(count)
        @range = (count..)
        @words = "at least #{count}"
        self
      end

      # @return [self] reads well after a number
      def times
        self
      end

      # @param runs [Integer] how often to run the block before; without this once when no
      #   class is named, else not at all
      # @return [self]
      def after_warmup(runs = 1)
        @warmup = runs
        self
      end

      # @private RSpec asks
      def matches?(block)
        @retained = Leftovers.of(@classes, @warmup, block)
        @range.cover?(@retained.count)
      end

      # @private RSpec asks
      def supports_block_expectations?
        true
      end

      # @private RSpec asks
      def supports_value_expectations?
        false
      end

      # @return [String] what is expected
      def description
        "retain #{@words} #{Leftovers.objects(@classes)}"
      end

      # @return [String] what is wrong, with the paths
      def failure_message
        Leftovers.describe(@retained, "#{@words} #{Leftovers.objects(@classes)}")
      end

      # @return [String] what is wrong, with the paths
      def failure_message_when_negated
        not_so = @words == "some" ? "no" : "not #{@words}"
        Leftovers.describe(@retained, "#{not_so} #{Leftovers.objects(@classes)}")
      end

      # Constants of Memtop that only its own code sees.
      Leftovers = Memtop.const_get(:Leftovers)
      private_constant :Leftovers
    end
  end

  ::RSpec::Matchers.include(RSpecMatchers)
end
