# frozen_string_literal: true

# What a customer bought, as it was on that day: prices and names may change.
class Order
  Line = Struct.new(:name, :price, :quantity) do
    def total
      price * quantity
    end
  end

  attr_reader :id, :lines, :placed_at

  def initialize(id, cart_lines)
    @id = id.dup.freeze
    @placed_at = Time.now
    @lines = cart_lines.map do |line|
      Line.new(line.product.name.dup, line.product.price, line.quantity)
    end
  end

  def total
    lines.sum(&:total)
  end

  def to_h
    {id: id, placed_at: placed_at.to_i, total: total, lines: lines.map(&:to_h)}
  end
end
