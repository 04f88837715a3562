# frozen_string_literal: true

require "memtop"

module Memtop
  @recording = nil

  # Where living objects were made, as lines of text:
  #
  #     12 app/cart.rb:2:String
  #
  # how many, of what class, and on what line of Ruby; most first.
  class << self
    # Record where objects are made, from now on and of all classes, for {stats}. Costs
    # every allocation its call path. `require "memtop/memprof"` lets {start} do it.
    # @return [Boolean] false when that goes on already
    # @raise [Memtop::Error] when nothing can be counted
    def record_sites
      return false if @recording&.lasts?

      @recording&.stop
      @recording = Recording.new
      true
    end

    # @return [Boolean] false when nothing was recorded
    def forget_sites
      return false unless @recording

      @recording.stop
      @recording = nil
      true
    end

    # Print where the objects were made that were born since {record_sites}, or the last
    # {stats!}, and are still there. What no collection has found yet is there too.
    # @param file [String, nil] where to: a path, which is written over; nil for $stdout
    # @return [nil]
    # @raise [Memtop::Error] when nothing is recorded
    def stats(file = nil)
      write_sites(recording_of_sites, file)
    end

    # {stats}, and then begin anew.
    # @param file [String, nil] as in {stats}
    # @return [nil]
    # @raise [Memtop::Error] when nothing is recorded
    def stats!(file = nil)
      stats(file)
    ensure
      @recording&.anew
    end

    # Print where the objects were made that were born in the block and are still there
    # at its end. An exception of the block goes through, and nothing is printed.
    # @param file [String, nil] as in {stats}
    # @yield the code in question
    # @return [Object] what the block returned
    # @raise [Memtop::Error] when nothing can be counted
    def track(file = nil)
      recording = Recording.new
      recording.anew
      result = yield
      recording.close
      write_sites(recording, file)
      result
    ensure
      recording&.stop
    end

    private

    def recording_of_sites
      return @recording if @recording&.lasts?

      raise Error, "no sites are recorded: call Memtop.record_sites first (or require " \
                   "\"memtop/memprof\" before Memtop.start), or put the code into Memtop.track { }"
    end

    def write_sites(recording, file)
      text = site_lines(recording).join
      file ? File.write(file, text) : $stdout.write(text)
      nil
    end

    def site_lines(recording)
      sums = Hash.new(0)
      recording.rows.each { |klass, path, live| sums[[*place(path.first), class_name(klass)]] += live }
      sums.sort_by { |(file, line, name), live| [-live, file, line, name] }
          .map { |(file, line, name), live| format("%7d %s:%d:%s\n", live, file, line, name) }
    end

    def place(frame)
      return ["(no Ruby code)", 0] unless frame&.path

      [frame.path.delete_prefix("#{Dir.pwd}/"), frame.lineno]
    end
  end
end
