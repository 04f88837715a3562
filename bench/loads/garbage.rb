# frozen_string_literal: true

# A bare loop that allocates and drops: nothing but the hooks and the collector.
require_relative "../load"

Load.measure do
  i = 0
  while i < 3_000_000
    Object.new
    i += 1
  end
end
