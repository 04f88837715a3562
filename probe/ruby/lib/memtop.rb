# frozen_string_literal: true

require_relative "memtop/version"

require_relative "memtop/memtop"
require_relative "memtop/tag"

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

  # Loaded when they are first used: a production process has the probe alone.
  {
    Allocations: "capture", Capture: "capture", CallTree: "call_tree", Frame: "frame", Paths: "frame",
    Recording: "recording", Retained: "retained", Sampler: "sampler"
  }.each { |name, file| autoload name, "#{__dir__}/memtop/#{file}.rb" }
  private_constant :Native, :Paths, :Recording

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

    # @!method stop
    #   End the probe: no hook, thread or socket of it is left, unless a {Capture} runs.
    #   @return [Boolean] true when it ran
    # @!method running?
    #   @return [Boolean] whether the probe was started, and serves viewers
    # @!method socket
    #   @return [String, nil] the path that viewers connect to
    # @!method mode
    #   @return [String] "dormant", "census", "count" or "trace"; "dormant" while the probe
    #     does not run

    # @param object [Object]
    # @return [String] where it is in memory, as ObjectSpace.dump writes it: "0x…"
    def address_of(object)
      format("0x%x", Native.address(object))
    end

    # @private a class's name, whatever the class says its name is
    def class_name(klass)
      Module.instance_method(:name).bind_call(klass) || "(anonymous class)"
    end

    # What these do is told where they are made.
    { "stats" => %i[stats stats! track record_sites forget_sites], "retained" => %i[retained] }.each do |file, names|
      names.each do |name|
        define_method(name) do |*arguments, **options, &block|
          names.each { |lazy| singleton_class.send(:remove_method, lazy) }
          require_relative "memtop/#{file}"
          public_send(name, *arguments, **options, &block)
        end
      end
    end
  end
end
