# frozen_string_literal: true

# Measures a block: CPU seconds of this process, all threads, and what it holds
# in memory afterwards. One line of JSON for bench.rb.
module Load
  def self.measure
    GC.start
    before = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    kept = yield
    seconds = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - before
    rss = File.read("/proc/self/statm").split[1].to_i * 4096
    puts %({"seconds": #{seconds}, "rss": #{rss}, "kept": #{kept.respond_to?(:size) ? kept.size : 0}})
  end
end
