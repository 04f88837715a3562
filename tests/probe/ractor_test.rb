# frozen_string_literal: true

require "test_helper"
require "probed"

# Ruby's allocation hooks and Ractors do not go together: counting ends before
# the first one starts, and the viewer is told.
class RactorTest < Minitest::Test
  include Probed

  # What a Ractor's value is called changed with Ruby 4.0.
  TAKE = "class Ractor; alias take value unless method_defined?(:take); end\n"

  def test_the_first_ractor_turns_counting_into_a_census
    output, errors, status = ruby(TAKE + <<~RUBY, env: { "RUBYOPT" => "-W:no-experimental" })
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

  # (No Class.new in the Ractors: Ruby 3.1 itself crashes of that, without memtop.)
  def test_walking_the_heap_while_ractors_allocate
    output, errors, status = ruby(TAKE + <<~RUBY, env: { "RUBYOPT" => "-W:no-experimental" })
      #{SELF_CHECK}
      class Order; end
      KEPT = Array.new(500) { Order.new }
      ractors = 3.times.map do
        Ractor.new do
          done = 0
          until done == 200_000
            { done => Array.new(20) { "x" * (done % 100) } }
            done += 1
          end
          done
        end
      end
      200.times { $client.census; abort "Order" unless $client["Order"].live == 500 }
      abort "values" unless ractors.map(&:take) == [200_000] * 3
      $client.census
      puts "done"
    RUBY
    assert status.success?, "#{errors}\n#{output}"
  end

  def test_ractors_before_the_probe
    output, errors, status = ruby(TAKE + <<~RUBY, env: { "RUBYOPT" => "-W:no-experimental" }, auto: false)
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
