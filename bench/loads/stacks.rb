# frozen_string_literal: true

# Work at the bottom of a stack of BENCH_DEPTH methods: documents are read, and of
# all objects that makes, one in twenty is an Order.
require "json"
require_relative "../load"

Order = Class.new
DEPTH = Integer(ENV.fetch("BENCH_DEPTH"))
TEXT = JSON.generate(Array.new(7) { |i| "Product #{i}" })

# What is read and made here are 19 objects; the twentieth is the Order.
def work
  Order.new
  JSON.parse(TEXT).first(6).each(&:dup)
end

def descend(levels)
  levels.positive? ? descend(levels - 1) : Load.measure_each { 1_000.times { work } }
end

descend(DEPTH - 7)
