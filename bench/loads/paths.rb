# frozen_string_literal: true

# One object from each of 100 000 call paths: what does a path take?
# Each calls the ten places, five levels deep.
require_relative "../load"

Order = Class.new
PLACES = 10

PLACES.times do |i|
  Object.class_eval(<<~RUBY, "paths.rb", 100 * i)
    def place#{i}(levels)
      return Order.new if levels.zero?

      #{Array.new(PLACES) { |j| "place#{j}(levels - 1)" }.join("\n")}
    end
  RUBY
end

Load.measure { place0(5) }
