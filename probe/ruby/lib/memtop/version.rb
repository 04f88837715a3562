# frozen_string_literal: true

module Memtop
  # Of the gem, as Semantic Versioning has it.
  VERSION = "0.1.0"
end
