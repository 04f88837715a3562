# frozen_string_literal: true

require "puma/plugin"
require "memtop"

# The probe in Puma: `plugin :memtop` in config/puma.rb.
#
# It starts with the server. In a cluster each worker, being forked, goes on with the
# probe it inherits, and has a socket of its own; `memtop ps` lists them. Requests are
# tagged by Memtop::Rack, in config.ru.
Puma::Plugin.create do
  # Without a probe the server runs on.
  def start(launcher)
    log = launcher.respond_to?(:log_writer) ? launcher.log_writer : launcher.events
    Memtop.start unless Memtop.running?
    workers = launcher.options[:workers].to_i
    log.log("* memtop: listens on #{Memtop.socket}#{", and each of #{workers} workers on a socket of its own" if workers.positive?}")
  rescue Memtop::Error => e
    log.log("* memtop: not started: #{e.message}")
  end
end
