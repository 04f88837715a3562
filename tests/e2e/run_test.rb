# frozen_string_literal: true

require "test_helper"
require "commands"

# memtop run without a terminal: nothing stands between a command and its streams, in
# real programs of other people's as well.
class RunTest < Minitest::Test
  include Commands

  def run_memtop(*command, options: [], **more) = memtop("run", *options, "--", *command, **more)

  # Same output, same status, with and without. What memtop adds to the errors begins
  # with the table's first line.
  def assert_same(*command, **options)
    without = execute(*command, **options)
    with = run_memtop(*command, **options)
    assert_equal without.output.b, with.output.b
    assert_equal without.errors, with.errors[/\A.*?(?=^time     |\z)/m]
    assert_equal without.code, with.code
    assert_match(/^time     /, with.errors, "the probe was not in it")
    with
  end

  def gemfile
    write("Gemfile", "source \"https://rubygems.org\"\ngem \"rake\"\n")
  end

  def test_passes_the_exit_status_on
    [0, 3, 255].each do |status|
      assert_equal status, run_memtop(RUBY, "-e", "exit #{status}").code
    end
    assert_equal 4, run_memtop("sh", "-c", "exit 4").code
    assert_equal 127, run_memtop("/nonexistent/program").code
    assert_equal 126, run_memtop(@folder).code
  end

  def test_a_command_that_a_signal_ended_is_told_as_a_shell_does
    assert_equal 137, run_memtop(RUBY, "-e", "Process.kill(:KILL, $$); sleep").code
    assert_equal 139, run_memtop("sh", "-c", "kill -SEGV $$").code
  end

  def test_prints_the_last_table_with_exact_counts
    outcome = run_memtop(RUBY, "-e", "class Order; end; KEPT = Array.new(4321) { Order.new }; puts 1")
    assert_equal "1\n", outcome.output
    assert_equal 4321, live(outcome.errors, "Order")
  end

  def test_bytes_and_input_pass_through_untouched
    bytes = Random.new(1).bytes(300_000)
    outcome = run_memtop(RUBY, "-e", "$stdout.binmode; IO.copy_stream($stdin, $stdout)", input: bytes)
    assert_equal bytes.b, outcome.output.b
  end

  def test_signals_are_passed_on
    script = write("trap.rb", <<~RUBY)
      $stdout.sync = true
      %w[TERM HUP INT QUIT USR1 USR2].each { |name| trap(name) { $stdout.puts "got \#{name}" } }
      trap("TERM") { puts "got TERM"; exit 9 }
      puts "ready"
      loop { sleep }
    RUBY
    # ignored under nohup, or as a shell's background job, they stay so in a command
    %w[HUP INT QUIT].each { |name| trap(name, "SYSTEM_DEFAULT") }
    pid, output, = start("run", "--", RUBY, script)
    read_until(output, /ready/)
    %w[USR1 USR2 HUP INT QUIT TERM].each do |name|
      Process.kill(name, pid)
      read_until(output, /got #{name}/)
    end
    assert_equal 9, wait(pid).exitstatus
  end

  def test_what_was_in_rubyopt_and_rubylib_stays
    env = { "RUBYOPT" => "-w -rset", "RUBYLIB" => "#{@folder}/a:#{@folder}/b" }
    words = run_memtop(RUBY, "-e", "p $VERBOSE, ENV['RUBYOPT'], ENV['RUBYLIB'].split(':').last(2), Memtop.running?",
                       env: env).output.lines(chomp: true)
    assert_equal ["true", "\"-rmemtop/auto -w -rset\"", "[\"#{@folder}/a\", \"#{@folder}/b\"]", "true"], words
  end

  def test_memtop_may_lie_in_a_folder_with_blanks
    place = File.join(@folder, "with some blanks, and 'quotes'")
    FileUtils.mkdir_p(File.join(place, "bin"))
    FileUtils.cp(MEMTOP, File.join(place, "bin"))
    FileUtils.cp_r(LIBRARY, place)
    outcome = execute(File.join(place, "bin/memtop"), "run", "--", RUBY, "-e", "puts Memtop.running?")
    assert_equal ["true\n", 0], [outcome.output, outcome.code], outcome.errors
  end

  def test_a_missing_probe_is_said
    outcome = run_memtop(RUBY, "-e", "1", env: { "MEMTOP_LIB" => @folder })
    assert_equal 4, outcome.code
    assert_match(/there is no probe in MEMTOP_LIB/, outcome.errors)
  end

  def test_of_several_processes_the_one_with_most_objects_is_told
    big = "#{RUBY} -e 'class Order; end; KEPT = Array.new(50000) { Order.new }'"
    outcome = run_memtop("sh", "-c", "#{RUBY} -e 1; #{big}; #{RUBY} -e 1")
    assert_equal 0, outcome.code
    assert_equal 50_000, live(outcome.errors, "Order")
    assert_match(/3 Ruby processes ran/, outcome.errors)
  end

  def test_an_exec_into_another_ruby_is_followed
    outcome = run_memtop(RUBY, "-e", "exec(#{RUBY.dump}, '-e', 'class Order; end; K = Array.new(99) { Order.new }; exit 6')")
    assert_equal 6, outcome.code
    assert_equal 99, live(outcome.errors, "Order")
  end

  def test_other_viewers_find_the_program
    pid, output, input = start("run", "--", RUBY, "-e", "$stdout.sync = true; puts $$; gets")
    number = read_until(output, /\A\d+$/).last.to_i
    assert_match(/process  #{number}:/, memtop("--once", number.to_s).output)
    input.puts
    assert_equal 0, wait(pid).exitstatus
  end

  def test_records_while_it_runs
    path = File.join(@folder, "run.memtop")
    outcome = run_memtop(RUBY, "-e", "class Order; end; K = Array.new(555) { Order.new }", options: ["--record", path])
    assert_equal 0, outcome.code, outcome.errors
    assert_equal 0, memtop("verify", path).code
    assert_equal 555, live(memtop("replay", path, "--once").output, "Order")
  end

  def test_output_goes_into_a_file_that_is_not_written_over
    path = File.join(@folder, "output")
    command = [RUBY, "-e", "puts 1; warn 2; p $stdin.read"]
    outcome = run_memtop(*command, options: ["--output", path])
    assert_equal ["", 0], [outcome.output, outcome.code], outcome.errors
    assert_equal ["1\n", "2\n", "\"\"\n"].sort, File.readlines(path).sort
    assert_equal 4, run_memtop(*command, options: ["--output", path]).code
  end

  def test_rake_is_the_same_with_and_without
    write("Rakefile", "task(:fine) { puts 'fine' }\ntask(:bad) { abort 'bad' }\ntask default: :fine\n")
    assert_same("rake")
    assert_equal 1, assert_same("rake", "bad").code
    assert_same("rake", "--tasks", "--all")
  end

  def test_bundler_is_the_same_with_and_without
    env = { "BUNDLE_GEMFILE" => gemfile }
    write("app.rb", "require 'bundler'\nputs Bundler.definition.specs.map(&:name).sort, $0\nexit 7\n")
    write("Rakefile", "task(:default) { sh '#{RUBY} -e 1'; puts Bundler.default_gemfile }\n")
    assert_same("bundle", "list", env: env)
    assert_equal 7, assert_same("bundle", "exec", "ruby", "app.rb", env: env).code
    assert_same("bundle", "exec", "rake", env: env)
  end

  def test_rspec_is_the_same_with_and_without
    write("a_spec.rb", "RSpec.describe(Array) { it('is empty') { expect([]).to be_empty }\n it('fails') { expect(1).to eq 2 } }\n")
    seed = %w[--seed 1 --no-profile --format json]
    times = /"(duration|load_time|run_time)":[\d.e-]+|in [\d.]+ seconds|took [\d.]+ seconds/
    without = execute("rspec", *seed, "a_spec.rb")
    with = run_memtop("rspec", *seed, "a_spec.rb")
    assert_equal without.output.gsub(times, ""), with.output.gsub(times, "")
    assert_equal [1, 1], [without.code, with.code]
    assert_match(/^time     /, with.errors)
  end

  def test_asciidoctor_is_the_same_with_and_without
    chapters = Array.new(300) { |i| "== Chapter #{i}\n\nSome *bold* text, `code`.\n\n|===\n|a |#{i}\n|===\n" }
    write("book.adoc", "= Book\n:reproducible:\n\n#{chapters.join("\n")}")
    assert_same("asciidoctor", "-a", "docdate=1", "-o", "-", "book.adoc")
    assert_equal 1, assert_same("asciidoctor", "missing.adoc").code
  end

  def test_rubocop_is_the_same_with_and_without
    source = Array.new(100) { |i| "def method_#{i}(a, b)\n  x = a+b\n  if x == nil then return \"z\" end\nend\n" }
    write("code.rb", source.join("\n"))
    write(".rubocop.yml", "AllCops:\n  NewCops: disable\n  SuggestExtensions: false\n")
    env = { "RUBOCOP_CACHE_ROOT" => @folder, "HOME" => @folder }
    assert_equal 1, assert_same("rubocop", "--cache", "false", "--format", "emacs", "code.rb", env: env).code
  end
end
