# frozen_string_literal: true

# Every Ruby test starts with: require "test_helper"
#
# It is minitest as Debian has it. By hand the output is minitest's own; under
# scripts/test (TEST_OUTPUT=tap) it is TAP, as the C tests print it, so that
# one program counts both.

require "minitest/autorun"

# Prints a line a test, and under those that failed why.
class TapReporter < Minitest::AbstractReporter
  def initialize
    super
    @count = 0
    @passed = true
    $stdout.sync = true
  end

  def record(result)
    @count += 1
    name = result.name.delete_prefix("test_").tr("#", "_")
    case result.result_code
    when "." then puts "ok #{@count} - #{name}"
    when "S" then puts "ok #{@count} - #{name} # SKIP #{result.failure.message}"
    else fail_with(name, result)
    end
  end

  def report
    puts "1..#{@count}"
  end

  def passed?
    @passed
  end

  private

  def fail_with(name, result)
    @passed = false
    puts "not ok #{@count} - #{name}"
    result.failures.each do |failure|
      words = "#{failure.message}\n#{failure.location}"
      puts(words.lines.map { |line| "# #{line.chomp}" })
    end
  end
end

# How minitest finds what is above.
module Minitest
  def self.plugin_tap_init(_options)
    reporter.reporters.replace([TapReporter.new])
  end

  extensions << "tap" if ENV["TEST_OUTPUT"] == "tap"
end
