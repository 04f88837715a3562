# frozen_string_literal: true

# Customers for the demo's shop: ruby load.rb --port PORT [--rate N] [--seconds N]
#
# A few customers at a time, each on one kept connection: they look around, put
# something into their cart, order, and go. No more than --rate requests a
# second are made, all customers together. Ends by itself after --seconds, when
# the shop is gone, or when whoever started it is.

require "json"
require "net/http"
require "optparse"
require "securerandom"

# Somebody in the shop: a name for a cookie, a taste, and a connection.
class Customer
  LOOKS = 4 # products looked at, of which every other goes into the cart

  def initialize(http, random)
    @http = http
    @random = random
    @cookie = "session=#{SecureRandom.hex(8)}"
  end

  # The requests of one visit, in order; each is made when the caller says so.
  def visit
    yield -> { get("/") }
    yield -> { get("/products?page=#{1 + @random.rand(10)}") }
    LOOKS.times do |look|
      product = "p#{@random.rand(200)}"
      yield -> { get("/products/#{product}") }
      yield -> { post("/cart", "product" => product) } if look.odd?
    end
    yield -> { order }
    yield -> { get("/orders/#{@order}") }
  end

  private

  def order
    @order = JSON.parse(post("/orders", {}).body).fetch("id")
  end

  def get(path)
    send_request(Net::HTTP::Get.new(path))
  end

  def post(path, form)
    request = Net::HTTP::Post.new(path)
    request.set_form_data(form)
    request["X-Request-Id"] = SecureRandom.uuid
    send_request(request)
  end

  def send_request(request)
    request["Cookie"] = @cookie
    response = @http.request(request)
    return response if response.is_a?(Net::HTTPSuccess)

    raise "#{request.method} #{request.path} was answered with #{response.code}"
  end
end

# Lets through so many a second and no more, whichever thread asks.
class Pace
  def initialize(rate)
    @gap = 1.0 / rate
    @next = now
    @lock = Mutex.new
  end

  def wait
    at = @lock.synchronize do
      @next = [@next, now - 1].max + @gap # what was missed is not all made up for
    end
    pause = at - now
    sleep(pause) if pause.positive?
  end

  private

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

# Keeps the shop busy until it is told to stop.
class Load
  CUSTOMERS = 4 # at a time

  def initialize(port:, rate:)
    @port = port
    @pace = Pace.new(rate)
    @open = true
  end

  def run(seconds)
    threads = Array.new(CUSTOMERS) { |number| Thread.new { serve(Random.new(number)) } }
    wait(seconds)
    @open = false
    threads.each(&:join)
  end

  private

  def wait(seconds)
    parent = Process.ppid
    started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    while @open && Process.ppid == parent
      return if Process.clock_gettime(Process::CLOCK_MONOTONIC) - started > seconds

      sleep 0.2
    end
  end

  def serve(random)
    Net::HTTP.start("127.0.0.1", @port) do |http|
      while @open
        Customer.new(http, random).visit do |request|
          break unless @open

          @pace.wait
          request.call
        end
      end
    end
  rescue SystemCallError, IOError => e
    warn "load: the shop does not answer any more: #{e.message}" if @open
    @open = false
  end
end

options = {rate: 200.0, seconds: Float::INFINITY}
OptionParser.new do |parser|
  parser.on("--port PORT", Integer)
  parser.on("--rate N", Float)
  parser.on("--seconds N", Float)
end.parse!(into: options)
port = options.fetch(:port) { abort "load: which port? (--port PORT)" }

Signal.trap("TERM") { exit }
Load.new(port: port, rate: options[:rate]).run(options[:seconds])
