# frozen_string_literal: true

require_relative "memtop/version"
require_relative "memtop/memtop"

# The probe: counts the live objects of this process per class and serves them
# to viewers (the program `memtop`) on a Unix socket.
#
#   Memtop.start                              # settings from MEMTOP_*
#   Memtop.start(socket: "/tmp/app.sock", mode: "count", interval: 0.5)
#   Memtop.stop
module Memtop
  # The probe cannot be started: the message says why and what to do.
  class Error < StandardError; end

  # Names of {start}'s keywords; each is also an environment variable MEMTOP_NAME.
  SETTINGS = %i[socket mode interval budget depth trace readonly].freeze

  class << self
    # Start the probe. Keywords win over the environment; a wrong value is warned
    # of and the default is used.
    #
    # @param socket [String] path of the Unix socket (default: in the user's runtime folder)
    # @param mode [String, Symbol] "dormant", "census", "count" or "trace"
    # @param interval [Numeric] seconds between samples
    # @param budget [Numeric] percent of one core the probe may use for what it chooses itself
    # @param depth [Integer] stack frames kept, the innermost ones
    # @param trace [String] names of the classes whose stacks mode "trace" takes, such
    #   as "Order,Hash" (default: all classes)
    # @param readonly [Boolean] refuse viewers' requests that change the program
    # @return [Boolean] true when it started, false when it ran already
    # @raise [Memtop::Error] when it cannot listen, with the reason
    # @raise [ArgumentError] for a keyword that is none of these
    def start(**settings)
      unknown = settings.keys - SETTINGS
      raise ArgumentError, "unknown setting: #{unknown.join(", ")}" unless unknown.empty?

      start_probe(settings.compact.transform_values(&:to_s).transform_keys(&:to_s))
    end
  end
end
