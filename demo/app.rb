# frozen_string_literal: true

require "json"
require "securerandom"
require "sinatra/base"

require_relative "bestsellers"
require_relative "cache"
require_relative "cart"
require_relative "catalog"
require_relative "sessions"

# A small web shop that speaks JSON: look at products, fill a cart, order it.
#
# It has a leak, the kind that passes every review: see Cache. The rest is what
# a healthy application does to a heap: each request makes garbage, sessions
# grow to a limit and stay there, a thread in the background does sums.
class OrdersApp < Sinatra::Base
  CATALOG = Catalog.new(products: 200)
  SESSIONS = Sessions.new(limit: 500)
  BESTSELLERS = Bestsellers.new(CATALOG, keep: 10).start

  # Orders by the id of the request that placed them, so that a request which
  # the network repeats does not order twice.
  ORDERS = Cache.new

  configure do
    disable :static, :sessions, :logging
    set :show_exceptions, false
  end

  before { content_type :json }

  get("/") { index }
  get("/products") { browse }
  get("/products/:id") { product }
  post("/cart") { add_to_cart }
  post("/orders") { create }
  get("/orders/:id") { show }

  private

  def index
    JSON.generate(shop: "memtop's demo", bestsellers: BESTSELLERS.latest)
  end

  def browse
    page = Integer(params.fetch("page", "1"), exception: false) || 1
    JSON.generate(page: page, products: CATALOG.page(page).map(&:to_h))
  end

  def product
    JSON.generate(known_product(params["id"]).to_h)
  end

  def add_to_cart
    cart.add(known_product(params["product"]), 1)
    JSON.generate(cart.to_h)
  end

  def create
    problem 422, "the cart is empty" if cart.empty?

    order = ORDERS.fetch(request_id, cart)
    CATALOG.sold(order)
    cart.clear
    status 201
    JSON.generate(order.to_h)
  end

  def show
    order = ORDERS[params["id"]] || problem(404, "no such order")
    JSON.generate(order.to_h)
  end

  def known_product(id)
    CATALOG[id] || problem(404, "no such product")
  end

  def cart
    SESSIONS.fetch(request.cookies.fetch("session", "nobody")).cart
  end

  def request_id
    request.env.fetch("HTTP_X_REQUEST_ID") { SecureRandom.uuid }
  end

  def problem(code, words)
    halt code, JSON.generate(error: words)
  end
end
