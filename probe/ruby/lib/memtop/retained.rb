# frozen_string_literal: true

require "memtop"

module Memtop
  # What a block left behind: per class, and per path that allocated it. {Memtop.retained}
  # makes it. It holds no object, only classes and figures.
  class Retained
    include Enumerable

    # Objects that one path left.
    Path = Struct.new(:path, :count)

    # One class: how many objects, and the paths, most first.
    Row = Struct.new(:target, :count, :paths)
    private_constant :Row

    # @private
    def initialize(rows)
      @rows = rows.group_by { |klass, *| klass.__id__ }.map do |_, group|
        paths = group.map { |_, path, live| Path.new(path, live) }
        Row.new(group[0][0], paths.sum(&:count), paths)
      end
      @rows.sort_by!.with_index { |row, i| [-row.count, i] }
    end

    # @return [Boolean] whether nothing was left
    def empty?
      @rows.empty?
    end

    # @param klass [Class, nil] only of this class; nil for all
    # @return [Integer] objects left
    def count(klass = nil)
      klass ? self[klass] : @rows.sum(&:count)
    end

    # @param klass [Class]
    # @return [Integer] objects left of it
    def [](klass)
      row(klass)&.count || 0
    end

    # @return [Array<Class>] of which something was left, most first
    def classes
      @rows.map(&:target)
    end

    # @param klass [Class]
    # @return [Array<Path>] path: [{Frame}…], innermost first; count: objects; most first
    def paths(klass)
      row(klass)&.paths || []
    end

    # @yieldparam klass [Class]
    # @yieldparam count [Integer] objects left of it, most first
    # @return [self, Enumerator]
    def each
      return to_enum unless block_given?

      @rows.each { |row| yield row.target, row.count }
      self
    end

    # @return [Hash{Class => Hash}] class => {count:, paths: [{path: [String…], count:}…]}
    def to_h
      @rows.to_h do |row|
        paths = row.paths.map { |path| { path: path.path.map(&:to_s), count: path.count } }
        [row.target, { count: row.count, paths: paths }]
      end
    end

    # A table for people: each class, and under it the paths.
    # @param paths [Integer] paths shown of a class
    # @param frames [Integer] frames shown of a path
    # @return [String]
    def to_s(paths: 3, frames: 4)
      return "nothing retained\n" if empty?

      @rows.map { |row| format("%7d  %s\n", row.count, Memtop.class_name(row.target)) + paths_of(row, paths, frames) }.join
    end

    # @return [String] such as "#<Memtop::Retained Order: 3, String: 3>"
    def inspect
      "#<#{self.class} #{empty? ? "nothing" : map { |klass, count| "#{Memtop.class_name(klass)}: #{count}" }.join(", ")}>"
    end

    private

    def row(klass)
      @rows.find { |row| row.target.equal?(klass) }
    end

    def paths_of(row, paths, frames)
      shown = row.paths.first(paths).map { |path| path_text(path, frames) }
      rest = row.paths.drop(paths)
      shown << format("%11d  on %d more paths\n", rest.sum(&:count), rest.size) unless rest.empty?
      shown.join
    end

    def path_text(path, frames)
      first, *others = path.path.first(frames)
      text = format("%11d  %s\n", path.count, short(first))
      others.each { |frame| text << "#{" " * 13}#{short(frame)}\n" }
      text
    end

    def short(frame)
      frame.to_s.delete_prefix("#{Dir.pwd}/")
    end
  end

  class << self
    # What does the block leave behind? Runs it, collects garbage until nothing more goes,
    # and tells how many objects that were born meanwhile are still there, per class and
    # per path that allocated them. Both are exact. What other threads make meanwhile
    # counts as well.
    #
    #   puts Memtop.retained(Order) { import }
    #         3  Order
    #             3  app/import.rb:12:in `block in Object#import'
    #
    # Ruby looks for references on the stack by guessing. The block runs in frames of its
    # own, what they leave there is laid over, and its `$~` and what a fiber passed last
    # are forgotten; so what still is there is held by something.
    #
    # @param classes [Array<Class>] whose objects; none for all classes
    # @param gc [Boolean, Hash] collect garbage afterwards: true for at most ten times,
    #   until twice in a row nothing went; a Hash for keywords of GC.start, once; false not
    #   to
    # @param warmup [Integer] how often to run the block before, so that what is made once
    #   and kept, caches and constants, is there already
    # @yield the code in question
    # @return [Retained]
    # @raise [ArgumentError] without a block
    # @raise [TypeError] for what is no class
    # @raise [Memtop::Error] when nothing can be counted
    def retained(*classes, gc: true, warmup: 0, &block)
      raise ArgumentError, "no block given: what is to be looked at?" unless block

      classes.each { |klass| raise TypeError, "#{klass.inspect} is no class" unless klass.is_a?(Class) }
      warmup.times { Native.apart(&block) }
      measure_retained(classes, gc, block)
    end

    private

    def measure_retained(classes, how, block)
      recording = Recording.new(classes)
      settle(recording, how) if how == true
      recording.anew
      Native.apart(&block)
      recording.close
      forget_match(block)
      forget_fiber
      settle(recording, how)
      raise Error, "counting has ended in the block" unless recording.lasts?

      Retained.new(recording.rows)
    ensure
      recording&.stop
    end

    # A match that the block made is held by the method around it.
    def forget_match(block)
      block.binding.eval("$~ = nil")
    rescue ArgumentError
      nil # made by a method or a symbol: there is no method around it
    end

    # Ruby keeps what the last fiber passed to this one until the next does.
    def forget_fiber
      Fiber.new { nil }.resume
    end

    COLLECTIONS_MAX = 10
    private_constant :COLLECTIONS_MAX

    # Finalizers, weak references and objects that hold each other need more than one.
    def settle(recording, how)
      return GC.start(**how) if how.is_a?(Hash)
      return unless how

      before = nil
      still = 0
      COLLECTIONS_MAX.times do
        Native.collect
        now = recording.live
        break if now.zero?

        still = now == before ? still + 1 : 0
        break if still == 2

        before = now
      end
    end
  end
end
