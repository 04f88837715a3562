# frozen_string_literal: true

require "test_helper"
require "web"

# Routes as tags: real servers, real requests, and numbers that add up.
class WebTest < Minitest::Test
  include Web

  RACKUP = <<~RUBY
    require "sinatra/base"
    require "memtop/auto"
    require "memtop/rack"
    class Order; end
    KEPT = Queue.new
    class Parts
      def each
        3.times { Order.new; yield "part" }
      end

      def close = Order.new
    end
    class App < Sinatra::Base
      set :show_exceptions, false
      set :raise_errors, false
      get("/up") { "up" }
      get("/orders") { 3.times { KEPT << Order.new }; 7.times { Order.new }; "kept" }
      get("/orders/:id") { 5.times { Order.new }; params[:id] }
      get("/stream") { [200, {}, Parts.new] }
      get("/boom") { Order.new; raise "boom" }
    end
    use Memtop::Rack
    run App
  RUBY

  def test_routes_of_sinatra_under_puma_add_up_exactly
    puma("-t", "4:4", "config.ru", config_ru: RACKUP)
    client = connect
    load("/orders": 60, "/orders/1": 40, "/orders/2": 41, "/stream": 20, "/boom": 10, "/nowhere": 9)
    tags = wait_for("all have ended") do
      found = client.tags
      found if found.values.sum(&:active).zero? && found["route=GET /orders/:id"]&.calls == 81
    end
    calls = tags.reject { |tag,| tag.end_with?("/up") }.transform_values(&:calls)
    assert_equal({ "route=GET /orders" => 60, "route=GET /orders/:id" => 81, "route=GET /stream" => 20,
                   "route=GET /boom" => 10, "route=GET (before its route)" => 9 }, calls)
    assert_objects(client, "route=GET /orders", "Order", allocated: 600, live: 180)
    assert_objects(client, "route=GET /orders/:id", "Order", allocated: 405, live: 0)
    assert_objects(client, "route=GET /stream", "Order", allocated: 80, live: 0)
    assert_equal 10, client.tag_classes("route=GET /boom")["Order"].allocated
    assert_equal 600 + 405 + 80 + 10, client["Order"].allocated
  end

  PLUGIN = <<~RUBY
    plugin :memtop
    workers 2
    threads 2, 2
    preload_app!
  RUBY

  PLAIN = <<~RUBY
    require "memtop/rack"
    class Order; end
    use Memtop::Rack
    run ->(env) { 5.times { Order.new }; [200, {}, [Process.pid.to_s]] }
  RUBY

  def test_the_puma_plugin_starts_a_probe_in_each_worker
    puma("-C", "puma.rb", "config.ru", config_ru: PLAIN, puma_rb: PLUGIN)
    sockets = wait_for("both workers listen") do
      found = Dir.glob(File.join(@folder, "app*.sock"))
      found if found.size == 3
    end
    clients = (sockets - [@socket]).map { |socket| connect(socket) }
    load("/users/17": 100, "/users/f3a9c2b17d5e4a60": 50)
    counts = wait_for("all are counted") do
      found = clients.map { |client| client.tags["route=GET /users/:id"]&.calls.to_i }
      found if found.sum == 150
    end
    assert_equal 150, counts.sum
    assert_match(/memtop: listens on .*app.sock, and each of 2 workers/, log)
    orders = clients.sum { |client| client.tag_classes("route=GET /users/:id")["Order"]&.allocated.to_i }
    assert_equal 750, orders
  end

  def test_the_puma_plugin_starts_a_probe_in_a_single_process
    puma("-C", "puma.rb", "config.ru", config_ru: PLAIN, puma_rb: "plugin :memtop\n")
    assert_match(/memtop: listens on .*app.sock$/, log)
    load("/a": 20)
    client = connect
    assert wait_for("all are counted") { client.tags["route=GET /a"]&.calls == 20 }
  end

  RAILS = <<~RUBY
    require "logger"
    require "action_controller/railtie"
    require "active_job/railtie"
    require "memtop/railtie"
    class Order; end
    class ReportJob < ActiveJob::Base
      def perform = 4.times { Order.new }
    end
    class Shop < Rails::Application
      config.root = __dir__
      config.eager_load = false
      config.logger = Logger.new(nil)
      config.secret_key_base = "a" * 64
      config.hosts.clear if config.respond_to?(:hosts)
      config.active_job.queue_adapter = :inline
      config.memtop.settings = { interval: 0.2 }
    end
    module Admin
      class OrdersController < ActionController::Base
        before_action { 2.times { Order.new } }
        KEPT = Queue.new
        def index = render(plain: "\#{5.times { Order.new }}")
        def show = render(plain: (KEPT << Order.new; "kept"))
      end
    end
    class JobsController < ActionController::API
      def create
        Order.new
        ReportJob.perform_later
        head :ok
      end
    end
    Rails.application.initialize!
    Rails.application.routes.draw do
      get "/up", to: proc { [200, {}, ["up"]] }
      namespace(:admin) { resources :orders, only: %i[index show] }
      get "/jobs", to: "jobs#create"
    end
    run Rails.application
  RUBY

  def test_actions_and_jobs_of_a_rails_application
    puma("-t", "3:3", "config.ru", config_ru: RAILS)
    client = connect
    load("/admin/orders": 30, "/admin/orders/5": 20, "/jobs": 10, "/nowhere": 5)
    tags = wait_for("all have ended") do
      found = client.tags
      found if found.values.sum(&:active).zero? && found["route=jobs#create"]&.calls == 10 &&
               found["route=admin/orders#index"]&.calls == 30
    end
    assert_equal 20, tags["route=admin/orders#show"].calls
    assert_operator tags["route=GET (before its route)"].calls, :>=, 5 # and those of /up
    assert_equal 10, tags["job=ReportJob\nroute=jobs#create"].calls
    assert_objects(client, "route=admin/orders#index", "Order", allocated: 210, live: 0)
    assert_objects(client, "route=admin/orders#show", "Order", allocated: 60, live: 20)
    assert_equal 40, client.tag_classes("job=ReportJob\nroute=jobs#create")["Order"].allocated
    assert_equal 10, client.tag_classes("route=jobs#create")["Order"].allocated
    assert_nil client.tag_classes("route=GET (before its route)")["Order"]
  end

  SIDEKIQ = <<~RUBY
    require "sidekiq"
    require "memtop/sidekiq"
    class Order; end
    KEPT = Queue.new
    class Report
      include Sidekiq::Worker
      sidekiq_options retry: false
      def perform(kept) = 6.times { |i| i < kept ? KEPT << Order.new : Order.new }
    end
    class Broken < Report
      def perform = raise "boom"
    end
    Sidekiq.configure_server do |config|
      config.server_middleware { |chain| chain.prepend Memtop::Sidekiq::Middleware }
      Memtop.start
    end
  RUBY

  PUSH = <<~RUBY
    require "./app"
    80.times { Report.perform_async(2) }
    20.times { Broken.perform_async }
    Sidekiq::Client.push("class" => "Sidekiq::Wrapper", "wrapped" => "Never", "args" => []) if ARGV[0]
  RUBY

  def test_jobs_of_sidekiq_with_a_real_redis
    skip "redis-server is not installed: scripts/setup test" unless system("command -v redis-server > /dev/null")
    redis = File.join(@folder, "redis.sock")
    @pids << Process.spawn("redis-server", "--port", "0", "--unixsocket", redis, "--save", "", "--dir", @folder,
                           out: File::NULL)
    wait_for("Redis listens") { File.socket?(redis) }
    env = { "REDIS_URL" => "unix://#{redis}" }
    serve("-S", "sidekiq", "-r", "./app.rb", "-c", "3", env: env, app_rb: SIDEKIQ, push_rb: PUSH) do
      File.socket?(@socket)
    end
    output, status = Open3.capture2e(env, *RUBY, "push.rb", chdir: @folder)
    assert status.success?, output
    client = connect
    tags = wait_for("all jobs have run") do
      found = client.tags
      found if found["job=Report"]&.calls == 80 && found["job=Broken"]&.calls == 20
    end
    assert_equal 0, tags.values.sum(&:active)
    assert_objects(client, "job=Report", "Order", allocated: 480, live: 160)
  end
end
