# frozen_string_literal: true

require "minitest"
require "minitest/assertions"
require "memtop/assertions"

module Memtop
  # Assertions for Minitest about what a block leaves behind; `require "memtop/minitest"`
  # in the test helper adds them to every test. A failure shows the paths that allocated
  # what was left.
  module MinitestAssertions
    # Fails when objects that were born in the block are still there after it.
    # @param classes [Array<Class>] whose objects; none for all classes
    # @param warmup [Integer, nil] how often to run the block before; nil for once without
    #   classes, else not at all
    # @yield the code in question
    # @return [true]
    def assert_retains_nothing(*classes, warmup: nil, &block)
      retained = Leftovers.of(classes, warmup, block)
      assert retained.empty?, Leftovers.describe(retained, "no #{Leftovers.objects(classes)}")
    end

    # Fails unless exactly so many objects that were born in the block are still there.
    # @param count [Integer]
    # @param classes [Array<Class>] as in {assert_retains_nothing}
    # @param warmup [Integer, nil] as in {assert_retains_nothing}
    # @yield the code in question
    # @return [true]
    def assert_retains(count, *classes, warmup: nil, &block)
      retained = Leftovers.of(classes, warmup, block)
      assert retained.count == count, Leftovers.describe(retained, "exactly #{count} #{Leftovers.objects(classes)}")
    end

    # Fails when more objects that were born in the block are still there.
    # @param limit [Integer]
    # @param classes [Array<Class>] as in {assert_retains_nothing}
    # @param warmup [Integer, nil] as in {assert_retains_nothing}
    # @yield the code in question
    # @return [true]
    def assert_retains_at_most(limit, *classes, warmup: nil, &block)
      retained = Leftovers.of(classes, warmup, block)
      assert retained.count <= limit, Leftovers.describe(retained, "at most #{limit} #{Leftovers.objects(classes)}")
    end

    # Constants of Memtop that only its own code sees.
    Leftovers = Memtop.const_get(:Leftovers)
    private_constant :Leftovers
  end

  ::Minitest::Assertions.include(MinitestAssertions)
end
