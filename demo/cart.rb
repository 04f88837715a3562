# frozen_string_literal: true

# What a customer is about to buy.
class Cart
  Line = Struct.new(:product, :quantity)

  def initialize
    @lines = {}
  end

  def lines
    @lines.values
  end

  def empty?
    @lines.empty?
  end

  def add(product, quantity)
    line = (@lines[product.id] ||= Line.new(product, 0))
    line.quantity += quantity
  end

  def clear
    @lines.clear
  end

  def to_h
    {items: lines.sum(&:quantity)}
  end
end
