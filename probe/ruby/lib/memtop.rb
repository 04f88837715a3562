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
  SETTINGS = %i[socket mode interval budget depth trace readonly
                flight flight_file flight_size flight_limit flight_pause].freeze

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
    # @param flight [String] rules of the flight recorder, such as
    #   "rss>1.5G, growth(Order)>10000/5m, exit" (default: none, nothing is recorded)
    # @param flight_file [String] where it writes: a folder, or a name to which the
    #   process id and a number are added (default: beside the socket)
    # @param flight_size [String, Integer] bytes it remembers, such as "64M" (default: 16M)
    # @param flight_limit [Integer] how often a rule fires (default: 3)
    # @param flight_pause [Numeric] seconds between two firings of a rule (default: 300)
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
