# frozen_string_literal: true

require "probed"

# Tests of the Ruby API: every case runs in a Ruby of its own, without a probe that was
# started for it, and checks itself.
module Api
  include Probed

  CHECK = COLLECT + <<~RUBY
    require "memtop"
    class Order; def initialize(part = nil) = @part = part; end
    class Cart; end
    KEPT = []
    def expect(condition, words = nil) = condition || abort("line \#{caller_locations(1, 1)[0].lineno - OFFSET}: \#{words.inspect}")
    def expect_equal(wanted, is) = wanted == is || abort("line \#{caller_locations(1, 1)[0].lineno - OFFSET}: wanted \#{wanted.inspect}, is \#{is.inspect}")
    def expect_error(klass, words = //)
      yield
    rescue klass => e
      e.message.match?(words) || abort("\#{e.class} says \#{e.message}")
    else
      abort("line \#{caller_locations(1, 1)[0].lineno - OFFSET}: no \#{klass}")
    end
    # A conservative stack may hold a few for a while.
    def eventually(words = nil)
      tries = 0
      while (tries += 1) <= 50 # no method in C, whose frame would keep its stale words
        collect(tries)
        return true if yield
      end
      abort "line \#{caller_locations(1, 1)[0].lineno - OFFSET}: never: \#{words.inspect}"
    end
    # In frames that end.
    def apart(&block) = Thread.new { block.call; nil }.value
  RUBY
  HEAD = CHECK.sub("RUBY", "").then { |text| "OFFSET = #{text.lines.size + 1}\n#{text}" }

  # Run a script that checks itself; its standard output.
  def check(script, *arguments, env: {}, warnings: true)
    output, errors, status = ruby(HEAD + script, *arguments, env: { "RUBYOPT" => warnings ? "-w" : "", **env }, auto: false)
    assert status.success?, "#{errors.lines.first(20).join}\n#{output}"
    errors = errors.lines.grep_v(%r{-e:\d+: warning|/usr/|/var/}).join
    assert_empty errors
    output
  end

  # Run a program from a file, as its guide says; what it prints.
  def run_program(name, text, *options, env: {})
    path = File.join(@folder, name)
    FileUtils.mkdir_p(File.dirname(path))
    File.write(path, text)
    output, errors, status = Timeout.timeout(120) do
      Open3.capture3({ "MEMTOP_SOCKET" => @socket, **env }, *Probed::RUBY, *options, name, chdir: @folder)
    end
    assert status.success?, "#{errors}\n#{output}"
    output
  end
end
