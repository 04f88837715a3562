# frozen_string_literal: true

require_relative "app"

# Which route allocates what: `W` in the viewer.
if defined?(Memtop)
  require "memtop/rack"
  use Memtop::Rack
end

run OrdersApp
