# frozen_string_literal: true

module Memtop
  # One frame of the path that allocated something: what Thread::Backtrace::Location
  # has of it, and prints it as a backtrace does.
  #
  # @!attribute [r] path
  #   @return [String, nil] the file; nil where no Ruby code ran
  # @!attribute [r] lineno
  #   @return [Integer] the line, from 1; 0 where no Ruby code ran
  # @!attribute [r] label
  #   @return [String] such as "block in Shop::Cart#add"
  Frame = Struct.new(:path, :lineno, :label) do
    # @return [String, nil] the same as {path}
    def absolute_path
      path
    end

    # @return [String] the method's name, without its class and the blocks in it
    def base_label
      label[/[^#.\s:]+\z/] || label
    end

    # @return [String] "path:line:in `label'", quoted as this Ruby quotes
    def to_s
      return label unless path

      RUBY_VERSION >= "3.4" ? "#{path}:#{lineno}:in '#{label}'" : "#{path}:#{lineno}:in `#{label}'"
    end

    # @return [String] {to_s}, quoted
    def inspect
      to_s.inspect
    end
  end

  # Paths of the probe's call tree, each asked for once.
  # @private
  class Paths
    # Ours, and Ruby's own methods that are written in Ruby.
    ASIDE = ["#{__dir__}/", "<internal:"].freeze
    private_constant :ASIDE

    def initialize
      @known = {}
    end

    # @param node [Integer] as Native.paths has it
    # @return [Array<Frame>] the Ruby frames, innermost first, without memtop's own and
    #   those of Ruby's core; a function in C has no line of its own, and shows only where
    #   no Ruby method ran
    def [](node)
      @known[node] ||= frames(Native.path(node))
    end

    private

    def frames(rows)
      ruby = rows.reject { |path, *| path.nil? }
      others = ruby.reject { |path, *| path.start_with?(*ASIDE) }
      [others, ruby, rows.first(1)].find(&:any?).to_a.map do |path, line, label, levels|
        Frame.new(path, line, in_blocks(label, levels)).freeze
      end.freeze
    end

    def in_blocks(label, levels)
      case levels
      when 0 then label
      when 1 then "block in #{label}"
      else "block (#{levels} levels) in #{label}"
      end
    end
  end
  private_constant :Paths
end
