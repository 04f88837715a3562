# frozen_string_literal: true

require "json"
require "socket"
require "test_helper"
require "commands"

# memtop check -- COMMAND, on real programs.
class CheckTest < Minitest::Test
  include Commands

  LEAK = <<~RUBY
    class Order; end
    class Cart; end
    KEPT = []
    def remember(count) = count.times { KEPT << Order.new }
    remember(1234)
    Thread.new { 5000.times { Cart.new } }.join # on a stack that ends
    puts "done"
  RUBY

  # Goes on as it is told on its standard input.
  TOLD = <<~RUBY
    $stdout.sync = true
    class Order; end
    KEPT = Array.new(700) { Order.new }
    puts "ready"
    while (line = gets)
      eval(line)
      puts "did"
    end
  RUBY

  def check(rule, *more, command: nil, script: LEAK, **options)
    command ||= [RUBY, write("program.rb", script)]
    memtop("check", "--max-growth", rule, *more, "--", *command, **options)
  end

  def test_growth_is_exact_for_a_program_that_leaks_and_exits
    held = check("Order:+1234")
    assert_equal ["done\n", 0], [held.output, held.code], held.errors
    assert_match(/^ok\s+Order:\+1234: Order \+1234 \(0 -> 1234\)/, held.errors)
    broken = check("Order:+1233")
    assert_equal ["done\n", 1], [broken.output, broken.code], broken.errors
    assert_match(/^FAILED\s+Order:\+1233: Order \+1234/, broken.errors)
  end

  def test_the_culprits_call_paths_are_named
    outcome = check("Order:+500")
    assert_equal 1, outcome.code
    assert_match(/\+1234 .* Object#remember +\S*program.rb:4/, outcome.errors)
  end

  def test_a_rule_about_any_class_finds_the_culprit_and_its_paths
    outcome = check("*:+600")
    assert_equal 1, outcome.code, outcome.errors
    assert_match(/1 of \d+ classes grew by more/, outcome.errors)
    assert_match(/Order \+1234/, outcome.errors)
    assert_match(/Object#remember/, outcome.errors)
  end

  def test_garbage_is_no_growth
    assert_equal 0, check("Cart:+0").code
  end

  def test_bytes_are_weighed_at_the_end
    script = "class Blob < Array; end\nKEPT = Array.new(10) { Blob.new(12_500) }\n"
    outcome = check("Blob:+900K bytes", script: script)
    assert_equal 1, outcome.code, outcome.errors
    assert_match(/Blob \+100\d{4} /, outcome.errors)
  end

  def test_the_warm_up_is_left_out
    pid, output, input = start("check", "-g", "Order:+20", "--warmup", "200ms", "--", RUBY,
                               write("told.rb", TOLD))
    read_until(output, /ready/)
    read_until(output, /warm-up is over/)
    input.puts("20.times { KEPT << Order.new }")
    read_until(output, /did/)
    input.close
    words = output.read
    assert_equal 0, wait(pid).exitstatus, words
    assert_match(/Order \+20 \(700 -> 720\)/, words)
  end

  def test_a_program_that_ends_before_its_warm_up_is_said_not_to_be_judged
    outcome = check("Order:+5000", "--warmup", "10m")
    assert_equal 1, outcome.code
    assert_match(/ended before its warm-up of 600 s/, outcome.errors)
  end

  def test_a_failure_of_the_commands_own_is_its_status_and_said
    outcome = check("Order:+5000", script: "#{LEAK}exit 3")
    assert_equal 3, outcome.code
    assert_match(/^memtop: the command failed with status 3\.$/, outcome.errors)
    assert_match(/^ok\s+Order:\+5000/, outcome.errors)
    killed = check("Order:+5000", script: "#{LEAK}Process.kill(:KILL, $$); sleep")
    assert_equal 137, killed.code
    assert_match(/ended by signal 9/, killed.errors)
  end

  def test_what_cannot_be_started_or_has_no_ruby_is_said
    missing = check("Order:+1", command: ["/nonexistent/program"])
    assert_equal 127, missing.code
    assert_match(%r{cannot run /nonexistent/program: no such file}, missing.errors)
    nothing = check("Order:+1", command: ["true"])
    assert_equal 3, nothing.code
    assert_match(/no Ruby program under the probe was seen/, nothing.errors)
  end

  def test_every_process_of_the_command_is_judged
    script = "#{LEAK}pid = fork { remember(77) }\nProcess.wait(pid)\n"
    outcome = check("Order:+1234", script: script)
    assert_equal 0, outcome.code, outcome.errors
    assert_match(/Order \+77 \(1234 -> 1311\)/, outcome.errors)
    assert_equal 2, outcome.errors.scan(/^process \d+: /).size
    assert_equal 1, check("Order:+70", script: "class Order; end\nKEPT = []\n" \
                                               "Process.wait(fork { 71.times { KEPT << Order.new } })").code
  end

  def test_a_command_that_has_no_end_is_ended_after_the_duration
    outcome = check("Order:+1234", "--duration", "1s", script: "#{LEAK}$stdout.flush\nsleep\n")
    assert_equal ["done\n", 0], [outcome.output, outcome.code], outcome.errors
    assert_match(/Order \+1234/, outcome.errors)
  end

  # Every request goes to one of two workers, which set their title over the place where
  # their environment was.
  def test_the_workers_of_a_puma_cluster_are_judged
    write("config.ru", "class Order; end\nKEPT = []\n" \
                       "run ->(env) { 10.times { KEPT << Order.new }; [200, {}, [Process.pid.to_s]] }\n")
    write("puma.rb", "workers 2\nthreads 1, 1\nbind \"unix://#{@folder}/puma.sock\"\nraise_exception_on_sigterm false\n")
    pid, output, = start("check", "-g", "Order:+5", "--", "puma", "-C", "puma.rb", "config.ru")
    2.times { read_until(output, /Worker \d .* booted/) }
    workers = Array.new(20) { get(File.join(@folder, "puma.sock")) }
    Process.kill(:TERM, pid)
    words = output.read
    assert_equal 1, wait(pid).exitstatus, words
    workers.tally.each do |worker, times|
      assert_match(/^process #{worker}: .*\nFAILED   Order:\+5: Order \+#{times * 10} /, words)
    end
  end

  def get(path)
    UNIXSocket.open(path) do |socket|
      socket.write("GET / HTTP/1.0\r\n\r\n")
      socket.read.split("\r\n\r\n").last
    end
  end

  def test_json_goes_into_a_file
    path = File.join(@folder, "verdict.json")
    outcome = check("Order:+500", "--json", "--output", path)
    assert_equal 1, outcome.code
    document = JSON.parse(File.read(path))
    assert_equal [false, "failed"], document.values_at("ok", "verdict")
    assert_equal 1234, document["rules"][0]["culprits"][0]["change"]
    assert_match(/--output FILE/, check("Order:+500", "--json").errors)
  end
end
