# frozen_string_literal: true

require_relative "../memtop" unless defined?(Memtop.start)

module Memtop
  # What `memtop attach` runs in the program it attaches to.
  module Attached
    # Start the probe with the settings that were given to `memtop attach`.
    #
    # @param folder [String] has a file `settings`, a line NAME=VALUE each
    # @return [String] a line for memtop: "started SOCKET", "already SOCKET" or
    #   "failed WORDS"
    def self.start(folder)
      return "already #{Memtop.socket}" if Memtop.running?

      lines = File.readlines(File.join(folder, "settings"), chomp: true)
      settings = lines.to_h { |line| line.split("=", 2) }
      Memtop.start(**settings.transform_keys(&:to_sym))
      "started #{Memtop.socket}"
    rescue StandardError => e
      "failed #{e.message}"
    end
  end
end
