# frozen_string_literal: true

require "objspace"

ObjectSpace.trace_object_allocations_start
