# frozen_string_literal: true

# For programs written for memprof, with the module's name changed: from here on
# {Memtop.start} also records where objects are made, for {Memtop.stats}, and
# {Memtop.stop} ends that.

require "memtop"

module Memtop
  # What memprof's `start` and `stop` do, beside what memtop's do.
  # @private
  module Memprof
    # @see Memtop.start
    def start(**settings)
      started = super
      record_sites || started
    end

    # @see Memtop.stop
    def stop
      forgotten = forget_sites
      super || forgotten
    end
  end
  private_constant :Memprof
  singleton_class.prepend(Memprof)
end
