# frozen_string_literal: true

module Memtop
  VERSION = "0.1.0"
end
