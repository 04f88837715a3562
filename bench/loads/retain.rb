# frozen_string_literal: true

# A million objects that stay.
require_relative "../load"

Load.measure do
  kept = Array.new(1_000_000)
  i = 0
  while i < 1_000_000
    kept[i] = Object.new
    i += 1
  end
  kept
end
