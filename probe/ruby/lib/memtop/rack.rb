# frozen_string_literal: true

require "memtop"

module Memtop
  # Rack middleware: what each route allocates and leaves behind.
  #
  #   use Memtop::Rack
  #   use Memtop::Rack, force_gc: true, every: 100    # in development
  #   use Memtop::Rack, route: ->(env) { env["my.route"] || "other" }
  #
  # Put it first, so that what other middleware allocates counts as well.
  #
  # A request is tagged with its route: in Rails "orders#show", in Sinatra "GET /orders/:id",
  # elsewhere the method and the path, with numbers and the like replaced: "GET /orders/:id".
  # Rails and Sinatra know the route only when they have found it: what was allocated before
  # that is under "GET (before its route)", the call under its route. Until the response is
  # closed, what it allocates belongs to the request, whoever sends it.
  #
  # When the probe does not run it passes everything on, untouched.
  class Rack
    # Different paths that are told apart; others are "GET (other paths)".
    PATHS_MAX = 1000
    # Parts of a path that are told; the rest is "…".
    PARTS_MAX = 8
    # What in a path is no name: numbers, UUIDs, digests, tokens.
    IDENTIFIER = /\A(?:\d+|\h{8}-\h{4}-\h{4}-\h{4}-\h{12}|\h{16,}|(?=[^\d]*\d)[\w-]{20,})\z/

    # @param app [#call]
    # @param force_gc [Boolean] collect garbage before and after requests
    # @param every [Integer] with force_gc: of one request of so many
    # @param route [#call, nil] names the route from the Rack environment; nil or an
    #   exception means: as without it
    def initialize(app, force_gc: false, every: 1, route: nil)
      @app = app
      @collections = Tags::Collections.for(force_gc, every)
      @route = route
      @paths = {}
      @lock = Mutex.new
      Routes.watch_sinatra
    end

    # @param env [Hash]
    # @return [Array(Integer, Hash, #each)]
    def call(env)
      return @app.call(env) unless Memtop.running?

      turn = @collections.before
      previous = Tags.open(route: route_of(env))
      begin
        response = @app.call(env)
        done = false
        response = wrap(response, previous, turn) { done = true }
        response
      ensure
        unless done
          Tags.close(previous)
          @collections.after(turn)
        end
      end
    end

    private

    # A response that is there already is done; of others the call ends when it is closed.
    def wrap(response, previous, turn)
      return response if previous.nil? || !response.is_a?(Array) || response[2].is_a?(Array)

      status, headers, body = response
      state = Tags.suspend(previous)
      yield
      [status, headers, Body.new(body, state) { @collections.after(turn) }]
    end

    def route_of(env)
      named = @route && named_by(env)
      return named if named

      Routes.known_later? ? "#{env["REQUEST_METHOD"]} (before its route)" : path_of(env)
    end

    # The program's own code must not break a request that would work without us.
    def named_by(env)
      @route.call(env)&.to_s
    rescue StandardError => e
      warn "memtop: the route: of Memtop::Rack raised #{e.class}: #{e.message}" unless @warned
      @warned = true
      nil
    end

    def path_of(env)
      path = "#{env["REQUEST_METHOD"]} #{pattern("#{env["SCRIPT_NAME"]}#{env["PATH_INFO"]}")}"
      return path if @paths.key?(path)

      @lock.synchronize do
        next "#{env["REQUEST_METHOD"]} (other paths)" if @paths.size >= PATHS_MAX

        @paths[path] = true
        path
      end
    end

    def pattern(path)
      parts = path.split("/", PARTS_MAX + 2)
      parts[-1] = "…" if parts.size == PARTS_MAX + 2
      parts.map! { |part| IDENTIFIER.match?(part) ? ":id" : part }
      parts.empty? ? "/" : parts.join("/")
    rescue ArgumentError # bytes that are no text
      "(no text)"
    end

    # A body that allocates under the request's tag until it is closed.
    class Body
      def initialize(body, state, &closed)
        @body = body
        @state = state
        @closed = closed
      end

      # @yieldparam part [String]
      def each(&block)
        under { @body.each(&block) }
      end

      # A body of Rack 3 that writes to the stream itself.
      def call(stream)
        under { @body.call(stream) }
      end

      # The end of the call, once.
      def close
        under { @body.close if @body.respond_to?(:close) }
      ensure
        state, @state = @state, nil
        if state
          Tags.finish(state)
          @closed.call
        end
      end

      # @return [Boolean] what the body itself would answer. As an array it would be read
      #   without its `close`.
      def respond_to?(name, all = false)
        case name
        when :to_ary then false
        when :close then true
        when :each, :call then @body.respond_to?(name, all)
        else super || @body.respond_to?(name, all)
        end
      end

      private

      def respond_to_missing?(name, all) = @body.respond_to?(name, all)

      def method_missing(name, ...)
        return super if name == :to_ary

        under { @body.__send__(name, ...) }
      end

      def under
        previous = Tags.resume(@state)
        yield
      ensure
        Tags.suspend(previous)
      end
    end

    # Frameworks that tell the route when they have found it.
    module Routes
      @later = false

      class << self
        # Whether some framework will call {Memtop.retag}.
        def known_later? = @later

        # Sinatra runs a route's block by `route_eval`, having said which one it is.
        def watch_sinatra
          return unless defined?(::Sinatra::Base) && !(::Sinatra::Base < Sinatra)

          ::Sinatra::Base.prepend(Sinatra)
          @later = true
        end

        # Rails says when it begins to process an action, before its filters.
        def watch_rails
          return if @rails

          @later = true
          @rails = ActiveSupport::Notifications.subscribe("start_processing.action_controller") do |*, payload|
            Memtop.retag(route: action_of(payload))
          end
        end

        # "admin/orders#show"
        def action_of(payload)
          parameters = payload[:request]&.path_parameters
          return "#{parameters[:controller]}##{parameters[:action]}" if parameters && parameters[:controller]

          "#{payload[:controller].to_s.delete_suffix("Controller")}##{payload[:action]}"
        end
      end

      # In front of Sinatra::Base.
      module Sinatra
        private

        def route_eval
          Memtop.retag(route: env["sinatra.route"]) if env["sinatra.route"]
          super
        end
      end
    end
  end
end
