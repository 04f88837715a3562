# frozen_string_literal: true

# A terminal's screen as a picture: ruby terminal_svg.rb COLUMNS ROWS <screen >picture.svg
#
# Reads what `tmux capture-pane -e -p` prints: lines of text with SGR escape
# sequences. Every run of cells is placed by its column, so that the picture
# keeps the grid whatever the font does, and block characters are drawn as
# rectangles, which meet along a line where a font leaves gaps.

# Colours of a cell and how its text is set.
Style = Struct.new(:fore, :back, :bold, :dim, :italic, :underline, :reverse, keyword_init: true)

# What SGR parameters do to a style.
module Sgr
  # The sixteen, chosen for contrast on BACKGROUND.
  BASE = %w[
    #1b1e24 #ff6b68 #7ccf7a #e7c25a #6aa9ff #d59af2 #58c9c9 #cfd4dc
    #767d89 #ff8a85 #9be59a #f5d97e #8fc0ff #e5b8fa #82e0e0 #ffffff
  ].freeze
  FOREGROUND = "#cfd4dc"
  BACKGROUND = "#14161a"

  SWITCHES = {
    1 => {bold: true}, 2 => {dim: true}, 3 => {italic: true}, 4 => {underline: true},
    7 => {reverse: true}, 22 => {bold: false, dim: false}, 23 => {italic: false},
    24 => {underline: false}, 27 => {reverse: false}, 39 => {fore: nil}, 49 => {back: nil}
  }.freeze

  module_function

  def apply(style, parameters)
    numbers = parameters.split(/[;:]/).map(&:to_i)
    numbers = [0] if numbers.empty?
    style = one(style, numbers) until numbers.empty?
    style
  end

  # Takes what belongs together off the front of `numbers`.
  def one(style, numbers)
    case number = numbers.shift
    when 0 then Style.new
    when 30..37, 90..97 then with(style, fore: BASE[number % 10 + (number > 89 ? 8 : 0)])
    when 40..47, 100..107 then with(style, back: BASE[number % 10 + (number > 99 ? 8 : 0)])
    when 38 then with(style, fore: extended(numbers))
    when 48 then with(style, back: extended(numbers))
    else with(style, **SWITCHES.fetch(number, {}))
    end
  end

  def with(style, **changes)
    Style.new(**style.to_h.merge(changes))
  end

  # 5;N is one of 256, 2;R;G;B is a colour.
  def extended(numbers)
    return format("#%02x%02x%02x", *numbers.shift(3)) if numbers.shift == 2

    palette(numbers.shift || 0)
  end

  def palette(index)
    return BASE[index] if index < 16
    return format("#%02x%02x%02x", *[8 + (index - 232) * 10] * 3) if index > 231

    steps = [index - 16].flat_map { |n| [n / 36, n / 6 % 6, n % 6] }
    format("#%02x%02x%02x", *steps.map { |step| step.zero? ? 0 : 55 + step * 40 })
  end
end

# A run of cells in one style, where it starts, and how many cells it takes.
Piece = Struct.new(:row, :column, :text, :width, :style)

# Lines of text and escape sequences become pieces.
class Screen
  WIDE = /\p{Han}|\p{Hiragana}|\p{Katakana}|\p{Hangul}|[\u{1f300}-\u{1faff}]/.freeze

  attr_reader :pieces

  def initialize(lines)
    @style = Style.new
    @pieces = lines.flat_map.with_index { |line, row| read(line.chomp, row) }
  end

  private

  def read(line, row)
    column = 0
    line.split(/(\e\[[\d;:]*m)/).reject(&:empty?).filter_map do |part|
      if part.start_with?("\e")
        @style = Sgr.apply(@style, part[2..-2])
        next
      end
      width = part.each_grapheme_cluster.sum { |cluster| cluster.match?(WIDE) ? 2 : 1 }
      piece = Piece.new(row, column, part, width, @style)
      column += width
      piece
    end
  end
end

# Draws pieces.
class Picture
  CELL = 10 # pixels wide
  LINE = 20 # pixels high
  FONT = 16.6 # DejaVu Sans Mono is 0.602 as wide as high
  EDGE = 14
  BAR = LINE - 3 # what the highest block fills, so that rows stay apart

  # How much of its cell, from below, each of these fills.
  BLOCKS = "▁▂▃▄▅▆▇█".chars.each_with_index.to_h { |block, i| [block, (i + 1) / 8.0] }.freeze

  def initialize(columns, rows)
    @width = columns * CELL + 2 * EDGE
    @height = rows * LINE + 2 * EDGE
  end

  def draw(pieces)
    <<~SVG
      <svg xmlns="http://www.w3.org/2000/svg" width="#{@width}" height="#{@height}">
      <rect width="100%" height="100%" rx="8" fill="#{Sgr::BACKGROUND}"/>
      <g font-family="DejaVu Sans Mono" font-size="#{FONT}" xml:space="preserve">
      #{pieces.map { |piece| ground(piece) + marks(piece) }.join("\n")}
      </g>
      </svg>
    SVG
  end

  private

  def x(column)
    EDGE + column * CELL
  end

  def y(row)
    EDGE + row * LINE
  end

  def colours(style)
    fore = style.fore || Sgr::FOREGROUND
    style.reverse ? [style.back || Sgr::BACKGROUND, fore] : [fore, style.back]
  end

  def rectangle(left, top, width, height, fill, more = "")
    %(<rect x="#{left}" y="#{top.round(2)}" width="#{width}" height="#{height.round(2)}" fill="#{fill}"#{more}/>)
  end

  def ground(piece)
    _, back = colours(piece.style)
    return "" unless back

    rectangle(x(piece.column), y(piece.row), piece.width * CELL, LINE, back)
  end

  # Blocks as rectangles, words as text, blanks not at all.
  def marks(piece)
    column = piece.column
    piece.text.scan(/[▁-█]|[^▁-█ ]+(?: [^▁-█ ]+)*| +/).map do |word|
      place = column
      column += word.length
      next if word.start_with?(" ")

      BLOCKS.key?(word) ? block(piece, place, word) : text(piece, place, word)
    end.join
  end

  def block(piece, column, word)
    height = BAR * BLOCKS.fetch(word)
    rectangle(x(column), y(piece.row) + LINE - height, CELL, height, colours(piece.style).first,
              opacity(piece.style))
  end

  def text(piece, column, word)
    style = piece.style
    attributes = [
      %(x="#{x(column)}" y="#{y(piece.row) + 15}" fill="#{colours(style).first}"),
      %(textLength="#{word.length * CELL}"),
      (%(font-weight="bold") if style.bold), (%(font-style="italic") if style.italic),
      (%(text-decoration="underline") if style.underline)
    ]
    "<text #{attributes.compact.join(' ')}#{opacity(style)}>#{escape(word)}</text>"
  end

  def opacity(style)
    style.dim ? ' opacity="0.6"' : ""
  end

  def escape(word)
    word.gsub(/[&<>]/, "&" => "&amp;", "<" => "&lt;", ">" => "&gt;")
  end
end

abort "usage: terminal_svg.rb COLUMNS ROWS <screen" unless ARGV.size == 2
columns, rows = ARGV.map { |word| Integer(word) }
$stdin.set_encoding("UTF-8")
puts Picture.new(columns, rows).draw(Screen.new($stdin.each_line).pieces)
