# frozen_string_literal: true

# Measures a block: CPU seconds of this process, all threads, and what it holds
# in memory afterwards. One line of JSON for bench.rb.
module Load
  WARM = 1.2 # seconds
  LONG = 1.5

  def self.measure
    GC.start
    GC.disable if ENV["BENCH_GC"] == "off"
    before = cpu
    kept = yield
    tell(cpu - before, kept.respond_to?(:size) ? kept.size : 0)
  end

  # What one call of the block takes, in a program that runs for a while: a probe that
  # fits itself to the load has done so by then.
  def self.measure_each(&work)
    GC.start
    repeat(WARM, &work)
    before = cpu
    times = repeat(LONG, &work)
    tell((cpu - before) / times, 0)
  end

  def self.repeat(seconds)
    times = 0
    ends = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
    while Process.clock_gettime(Process::CLOCK_MONOTONIC) < ends
      yield
      times += 1
    end
    times
  end

  def self.cpu
    Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
  end

  def self.tell(seconds, kept)
    rss = File.read("/proc/self/statm").split[1].to_i * 4096
    puts %({"seconds": #{seconds}, "rss": #{rss}, "kept": #{kept}})
  end
  private_class_method :repeat, :cpu, :tell
end
