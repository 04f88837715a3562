# frozen_string_literal: true

require "memtop"

module Memtop
  # The objects of some classes, or of all, that are born from a moment on, with the
  # whole path of each: what {Memtop.retained}, {Memtop.track} and {Memtop.stats} read.
  # @private
  class Recording
    # @param classes [Array<Class>] none for all
    # @raise [Memtop::Error] when nothing can be counted
    def initialize(classes = [])
      @classes = classes.empty? ? [nil] : classes.uniq
      @token = Native.begin
      @paths = Paths.new
      @classes.each do |klass|
        Native.follow(klass, true)
        Native.trace(klass, true)
      end
      anew
    rescue TypeError
      stop
      raise
    end

    # What was born so far is forgotten.
    def anew
      @to = nil
      @from = Native.span
    end

    # What is born from now on is not of it.
    def close
      @to = Native.span
    end

    # @return [Boolean]
    def lasts?
      @token && Native.lasts?(@token)
    end

    # @return [Integer] objects that are not freed
    def live
      @classes.sum do |klass|
        born, freed = Native.counts(klass, @from, @to)
        born - freed
      end
    end

    # @return [Array<Array(Class, Array<Frame>, Integer)>] objects that are not freed, by
    #   class and path, most first
    def rows
      sums = Hash.new(0)
      @classes.each do |klass|
        Native.paths(klass, @from, @to).each { |each, node, live| sums[[each.__id__, each, @paths[node]]] += live }
      end
      sums.map { |(_, klass, path), live| [klass, path, live] }.sort_by.with_index { |(_, _, live), i| [-live, i] }
    end

    # Once is enough.
    def stop
      return unless @token

      token = @token
      @token = nil
      if Native.lasts?(token)
        @classes.each do |klass|
          next unless klass.nil? || klass.is_a?(Class)

          Native.trace(klass, false)
          Native.follow(klass, false)
        end
      end
      Native.end(token)
    end
  end
  private_constant :Recording
end
