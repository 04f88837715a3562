# frozen_string_literal: true

require "test_helper"
require "probed"

# Ruby's allocation hooks and Ractors do not go together: counting ends before
# the first one starts, and the viewer is told.
class RactorTest < Minitest::Test
  include Probed

  def test_the_first_ractor_turns_counting_into_a_census
    output, errors, status = ruby(<<~RUBY, env: { "RUBYOPT" => "-W:no-experimental" })
      #{SELF_CHECK}
      class Order; end
      KEPT = Array.new(500) { Order.new }
      abort "mode \#{Memtop.mode}" unless Memtop.mode == "count"
      ractor = Ractor.new(3) { |n| n.times.map { Object.new }.size }
      abort "mode \#{Memtop.mode}" unless Memtop.mode == "census"
      abort "the Ractor's place is \#{ractor.inspect}" unless ractor.inspect.include?("-e:")
      abort "value" unless ractor.take == 3
      GC.start
      $client.census
      row = $client["Order"]
      abort row.inspect unless row.live == 500 && row.allocated.nil?
      abort $client.notices.inspect unless $client.notices.values.join.include?("Ractor")
      answer = $client.mode!("count")
      abort answer.inspect unless answer[0] == :failed && answer[1].include?("Ractor")
      puts "done"
    RUBY
    assert status.success?, "#{errors}\n#{output}"
  end

  def test_walking_the_heap_while_ractors_allocate
    output, errors, status = ruby(<<~RUBY, env: { "RUBYOPT" => "-W:no-experimental" })
      #{SELF_CHECK}
      class Order; end
      KEPT = Array.new(500) { Order.new }
      ractors = 3.times.map do
        Ractor.new do
          class_count = 0
          2_000.times do |i|
            a = Array.new(20) { "x" * (i % 100) }
            class_count += Class.new.new.class ? 1 : 0 if i % 50 == 0
            { i => a }
          end
          class_count
        end
      end
      30.times { $client.census }
      abort "Order" unless $client["Order"].live == 500
      abort "values" unless ractors.map(&:take) == [40, 40, 40]
      $client.census
      puts "done"
    RUBY
    assert status.success?, "#{errors}\n#{output}"
  end

  def test_ractors_before_the_probe
    output, errors, status = ruby(<<~RUBY, env: { "RUBYOPT" => "-W:no-experimental" }, auto: false)
      require "memtop"
      ractor = Ractor.new { Ractor.receive }
      Memtop.start
      abort Memtop.mode unless Memtop.mode == "census"
      ractor.send(1)
      ractor.take
      Memtop.stop
      puts "done"
    RUBY
    assert status.success?, "#{errors}\n#{output}"
  end
end
