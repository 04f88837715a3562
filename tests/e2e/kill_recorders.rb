# frozen_string_literal: true

# Ends with SIGKILL, at moments that a seed decides: a recorder, the program it records,
# a viewer that records (R). After each the recording must be what `memtop verify` calls
# sound, or it says what it ignored, and it can be replayed, cut and gone on with.
#
#     ruby kill_recorders.rb MEMTOP RUBY_LIB [ROUNDS [SEED]]
require "fileutils"
require "open3"
require "pty"
require "tmpdir"

MEMTOP, RUBY_LIB, rounds, seed = ARGV
ROUNDS = Integer(rounds || 3)
RANDOM = Random.new(Integer(seed || 4))
DEADLINE = 60

# Makes garbage, leaks and classes, and forgets them again, as fast as it may.
PROGRAM = <<~'RUBY'
  kept = []
  classes = []
  loop do
    kept.concat(Array.new(500) { Object.new })
    kept.clear if kept.size > 50_000
    classes << Object.const_set("Made#{classes.size}", Class.new) if classes.size < 300
    sleep 0.002
  end
RUBY

# One round's folder and processes.
class Round
  def initialize(folder, number)
    @socket = File.join(folder, "s#{number}")
    @file = File.join(folder, "#{number}.memtop")
    @pids = []
  end

  attr_reader :file

  def start_program
    environment = { "MEMTOP_SOCKET" => @socket, "MEMTOP_INTERVAL" => "0.1", "RUBYOPT" => nil }
    pid = spawn(environment, RbConfig.ruby, "-I", RUBY_LIB, "-r", "memtop/auto", "-e", PROGRAM)
    @pids << pid
    wait_for("the program's socket") { File.socket?(@socket) }
    pid
  end

  def start_recorder
    pid = spawn(MEMTOP, "record", "--socket", @socket, "-o", @file, err: "#{@file}.err")
    @pids << pid
    pid
  end

  # The viewer in a terminal, told to record; what it draws is read and dropped.
  def start_viewer
    @screen, keys, pid = PTY.spawn({ "TERM" => "xterm-256color" }, MEMTOP, "--socket", @socket)
    @pids << pid
    read_screen("Object")
    keys.write(":record #{@file}\r")
    @reader = Thread.new { drain }
    pid
  end

  def wait_for_bytes(bytes)
    wait_for("#{bytes} bytes") { File.size?(@file).to_i >= bytes }
  end

  def finish(pid, signal)
    Process.kill(signal, pid)
    Process.wait(pid)
    @pids.delete(pid)
  end

  def clean
    @pids.dup.each { |pid| finish(pid, :KILL) }
    @reader&.join(DEADLINE)
  end

  private

  def wait_for(what)
    (DEADLINE * 200).times { yield ? return : sleep(0.005) }
    abort "waited in vain for #{what}\n#{last_words}"
  end

  def last_words
    @seen || (File.read("#{@file}.err") if File.exist?("#{@file}.err"))
  end

  def read_screen(word)
    seen = +""
    seen << @screen.readpartial(65_536).b until seen.include?(word)
  end

  def drain
    loop { @seen = @screen.readpartial(65_536) }
  rescue EOFError, Errno::EIO
    nil
  end
end

# What the reader makes of it; counts what it saw.
class Judge
  def initialize = @seen = Hash.new(0)
  attr_reader :seen

  def run(*arguments)
    out, err, status = Open3.capture3(MEMTOP, *arguments)
    raise "memtop #{arguments.join(' ')}: #{status}\n#{out}#{err}" unless status.exitstatus&.zero?

    out
  end

  def judge(file, part)
    words = run("verify", file)
    raise "#{file} is damaged:\n#{words}" unless words.end_with?("\nsound\n")

    torn = words[/the last (\d+) bytes are an unfinished frame/, 1]
    @seen[torn ? "unfinished" : "whole"] += 1
    run("replay", "--once", file)
    run("replay", "--json", "--at", "start", file)
    run("cut", file, "--from", "start", "--to", "end", "-o", part)
    raise "the part is not whole" if run("verify", part).include?("unfinished")
  end
end

def kill_one(round, whom)
  program = round.start_program
  recorder = whom == :viewer ? round.start_viewer : round.start_recorder
  round.wait_for_bytes(1)
  sleep(RANDOM.rand * 0.6)
  round.finish(whom == :program ? program : recorder, :KILL)
  round.finish(recorder, :TERM) if whom == :program
end

Dir.mktmpdir("memtop-kill-") do |folder|
  judge = Judge.new
  ROUNDS.times do |number|
    round = Round.new(folder, number)
    whom = %i[recorder program viewer][number % 3]
    begin
      kill_one(round, whom)
      judge.judge(round.file, "#{round.file}.part")
      judge.seen[whom] += 1
    ensure
      round.clean
    end
    $stderr.print("\r#{number + 1} of #{ROUNDS}") if $stderr.tty?
    FileUtils.rm_f([round.file, "#{round.file}.part"])
  end
  puts "#{ROUNDS} rounds: #{judge.seen.map { |what, count| "#{what} #{count}" }.join(', ')}"
end
