# frozen_string_literal: true

# A program under test: does what it is told, a line of Ruby at a time.
class Order; end
class Session; end

KEPT = [] # rubocop:disable Style/MutableConstant

def leak(count) = KEPT.concat(Array.new(count) { Order.new })

$stdout.sync = true
puts "ready #{Process.pid}"
while (line = $stdin.gets)
  eval(line) # rubocop:disable Security/Eval
  puts "done"
end
