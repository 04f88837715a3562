# frozen_string_literal: true

# The products, made when the shop opens and never after that.
class Catalog
  Product = Struct.new(:id, :name, :price)

  KINDS = %w[Kettle Lamp Chair Teapot Basket Clock Mirror Stool Vase Blanket].freeze
  STYLES = %w[Amber Birch Coral Dusk Elm Fern Granite Hazel Indigo Jade].freeze
  PAGE = 20

  def initialize(products:)
    @products = Array.new(products) { |number| make(number) }
    @by_id = @products.to_h { |product| [product.id, product] }
    @sold = Hash.new(0)
    @lock = Mutex.new
  end

  def page(number)
    @products.rotate((number - 1) * PAGE).first(PAGE)
  end

  def [](id)
    @by_id[id]
  end

  def sold(order)
    @lock.synchronize do
      order.lines.each { |line| @sold[line.name] += line.quantity }
    end
  end

  # Product names with the pieces sold of each.
  def sales
    @lock.synchronize { @sold.dup }
  end

  private

  def make(number)
    style = STYLES[number / KINDS.size % STYLES.size]
    name = "#{style} #{KINDS[number % KINDS.size]} No. #{number / 100 + 1}"
    Product.new("p#{number}", name.freeze, 500 + number * 37 % 9500).freeze
  end
end
