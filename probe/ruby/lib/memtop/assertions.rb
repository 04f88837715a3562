# frozen_string_literal: true

require "memtop"

module Memtop
  # What the assertions for Minitest and the matcher for RSpec share.
  # @private
  module Leftovers
    # Without classes a block runs once before: what a first run makes and keeps, caches
    # and constants, is of no class in particular.
    WARMUP_OF_ALL = 1

    module_function

    # @return [Memtop::Retained]
    def of(classes, warmup, block)
      Memtop.retained(*classes, warmup: warmup || (classes.empty? ? WARMUP_OF_ALL : 0), &block)
    end

    # @return [String] "3 objects of Order" and the table
    def describe(retained, expected)
      "Expected the block to retain #{expected}, but it retained #{retained.count}:\n\n#{retained}"
    end

    # @return [String] "objects of Order or Cart"
    def objects(classes)
      classes.empty? ? "objects" : "objects of #{classes.map { |klass| Memtop.class_name(klass) }.join(" or ")}"
    end
  end
  private_constant :Leftovers
end
