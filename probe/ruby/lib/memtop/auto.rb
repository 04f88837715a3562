# frozen_string_literal: true

# Starts the probe with the settings of the environment:
#
#   ruby -I build/lib -r memtop/auto app.rb
#
# Whatever goes wrong is said in one warning; the program runs on without it.

begin
  require "memtop"
  Memtop.start
rescue LoadError, StandardError => e
  warn "memtop: not started: #{e.message}"
end
