# frozen_string_literal: true

require "test_helper"
require "probed"

# Memtop::Rack without a server: what it does to a response, and what it calls a request.
class RackTest < Minitest::Test
  include Probed

  SCRIPT = <<~RUBY
    require "memtop_client"
    require "memtop/rack"
    class Order; end
    $client = MemtopClient.new(Memtop.socket) if Memtop.running?
    def environment(path, method = "GET") = { "REQUEST_METHOD" => method, "PATH_INFO" => path, "SCRIPT_NAME" => "" }
    def tag(text) = $client.tags[text]
    def orders(text) = $client.tag_classes(text)["Order"]&.allocated
    def check(what, found, wanted)
      abort "\#{what}: \#{found.inspect}, not \#{wanted.inspect}" unless found == wanted
    end
    class Parts
      attr_reader :closed
      def each
        3.times { Order.new; yield "part" }
      end
      def close = @closed = @closed.to_i + 1
      def to_path = "/file"
    end
  RUBY

  def assert_script(script, **options)
    output, errors, status = ruby("#{SCRIPT}#{script}\nputs :done\n", **options)
    assert status.success? && output.end_with?("done\n"), "#{errors}\n#{output}"
    errors
  end

  def test_a_response_that_is_there_already_ends_the_call
    assert_script(<<~RUBY)
      response = [200, {}, ["done"]]
      app = Memtop::Rack.new(->(env) { Order.new; response })
      check "response", app.call(environment("/orders")).equal?(response), true
      found = tag("route=GET /orders")
      check "calls", [found.calls, found.active, orders("route=GET /orders")], [1, 0, 1]
      check "tags", Memtop.tags, {}
    RUBY
  end

  def test_a_body_belongs_to_its_request_until_it_is_closed
    assert_script(<<~RUBY)
      parts = Parts.new
      status, headers, body = Memtop::Rack.new(->(_) { [201, { "a" => "b" }, parts] }).call(environment("/orders"))
      check "head", [status, headers], [201, { "a" => "b" }]
      check "tags", Memtop.tags, {}
      check "under way", [tag("route=GET /orders").calls, tag("route=GET /orders").active], [0, 1]
      body.each { |part| check "part", part, "part" }
      check "orders", orders("route=GET /orders"), 3
      check "file", [body.respond_to?(:to_path), body.to_path], [true, "/file"]
      check "array", [body.respond_to?(:to_ary), body.respond_to?(:call), body.respond_to?(:each)], [false, false, true]
      2.times { body.close }
      check "closed", parts.closed, 2
      check "ended", [tag("route=GET /orders").calls, tag("route=GET /orders").active], [1, 0]
      check "tags", Memtop.tags, {}
    RUBY
  end

  def test_a_body_that_writes_to_the_stream_itself
    assert_script(<<~RUBY)
      body = Memtop::Rack.new(->(_) { [200, {}, ->(stream) { Order.new; stream << "x" }] }).call(environment("/a"))[2]
      check "kinds", [body.respond_to?(:call), body.respond_to?(:each)], [true, false]
      body.call(out = [])
      body.close
      check "out", out, ["x"]
      check "orders", orders("route=GET /a"), 1
    RUBY
  end

  def test_what_is_raised_and_thrown_passes_and_ends_the_call
    assert_script(<<~RUBY)
      app = Memtop::Rack.new(->(env) { env["PATH_INFO"] == "/raise" ? raise(IOError, "mine") : throw(:async, 7) })
      begin
        app.call(environment("/raise"))
        abort "not raised"
      rescue IOError => e
        check "message", e.message, "mine"
      end
      check "thrown", catch(:async) { app.call(environment("/throw")) }, 7
      check "calls", [tag("route=GET /raise").calls, tag("route=GET /throw").calls], [1, 1]
      check "tags", Memtop.tags, {}
    RUBY
  end

  def test_paths_lose_what_is_no_name
    assert_script(<<~'RUBY')
      app = Memtop::Rack.new(->(_) { [200, {}, []] })
      paths = { "/" => "GET /", "" => "GET /", "/users/17/edit" => "GET /users/:id/edit", "/v2/a" => "GET /v2/a",
                "/x/1b4e28ba-2fa1-11d2-883f-0016d3cca427" => "GET /x/:id", "/sha/0123456789abcdef01" => "GET /sha/:id",
                "/t/eyJhbGciOiJIUzI1NiJ9abc" => "GET /t/:id", "/a-long-title-without-numbers" => "GET /a-long-title-without-numbers",
                "/1/2/3/4/5/6/7/8/9/10" => "GET /:id/:id/:id/:id/:id/:id/:id/:id/…", "/\xff" => "GET (no text)" }
      paths.each_key { |path| app.call(environment(path)) }
      found = $client.tags.keys
      paths.each_value { |name| abort "#{name} is not among\n#{found.join("\n")}" unless found.include?("route=#{name}") }
      1100.times { |i| app.call(environment("/page#{i}")) }
      check "bounded", tag("route=GET (other paths)").calls, 1100 + paths.values.uniq.size - 1000
    RUBY
  end

  def test_the_application_may_name_its_routes
    errors = assert_script(<<~RUBY)
      app = Memtop::Rack.new(->(_) { [200, {}, []] }, route: ->(env) { env.fetch("name") })
      app.call(environment("/a").merge("name" => "mine"))
      app.call(environment("/a").merge("name" => nil))
      2.times { app.call(environment("/b")) }
      check "names", $client.tags.keys.sort, ["route=GET /a", "route=GET /b", "route=mine"]
    RUBY
    assert_equal 1, errors.scan("the route: of Memtop::Rack raised KeyError").size
  end

  def test_collections_before_and_after_leave_what_is_retained
    assert_script(<<~RUBY)
      KEPT = []
      app = Memtop::Rack.new(->(_) { KEPT << Order.new; 500.times { Order.new }; [200, {}, Parts.new] }, force_gc: true, every: 2)
      collect = -> { GC.stat(:major_gc_count) }
      before = collect.()
      body = app.call(environment("/a"))[2]
      body.close
      check "not its turn", collect.(), before
      body = app.call(environment("/a"))[2]
      check "before", collect.(), before + 1
      body.each { }
      body.close
      check "after", collect.(), before + 2
      row = $client.tag_classes("route=GET /a")["Order"]
      check "retained", [row.allocated, row.live <= 2 + 1], [1005, true] # one may be on the stack
      begin
        Memtop::Rack.new(nil, force_gc: true, every: 0)
        abort "every: 0"
      rescue ArgumentError => e
        check "words", e.message, "every: wants a whole number from 1 up"
      end
    RUBY
  end

  def test_without_a_probe_it_passes_everything_on
    assert_script(<<~RUBY, auto: false)
      response = [200, {}, Parts.new]
      check "response", Memtop::Rack.new(->(_) { response }, force_gc: true).call({}).equal?(response), true
    RUBY
  end

  def test_responses_are_as_rack_wants_them
    assert_script(<<~RUBY)
      require "rack"
      require "rack/lint"
      require "rack/mock"
      parts = Class.new(Parts) { undef_method :to_path }
      app = Rack::Lint.new(Memtop::Rack.new(Rack::Lint.new(->(_) { [200, { "content-type" => "text/plain" }, parts.new] })))
      check "body", Rack::MockRequest.new(app).get("/a").body, "partpartpart"
      check "calls", tag("route=GET /a").calls, 1
    RUBY
  end
end
