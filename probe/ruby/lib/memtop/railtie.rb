# frozen_string_literal: true

require "memtop"
require "memtop/job"
require "memtop/rack"
require "rails/railtie"

module Memtop
  # The probe in a Rails application: `gem "memtop", require: "memtop/railtie"`, or
  # `require "memtop/railtie"` in config/application.rb, after Rails.
  #
  #   config.memtop.start      = true     # start the probe (default: not in the test environment)
  #   config.memtop.settings   = { mode: "count" }    # keywords of Memtop.start
  #   config.memtop.middleware = true     # tag requests by route, see Memtop::Rack
  #   config.memtop.force_gc   = false    # or true, or every how many requests
  #   config.memtop.jobs       = true     # tag ActiveJob's jobs by class
  #
  # A server that forks its workers after it loaded the application hands the probe down:
  # each worker has a socket of its own.
  class Railtie < ::Rails::Railtie
    config.memtop = ActiveSupport::OrderedOptions.new
    config.memtop.start = nil
    config.memtop.settings = {}
    config.memtop.middleware = true
    config.memtop.force_gc = false
    config.memtop.jobs = true

    initializer "memtop.middleware" do |app|
      options = app.config.memtop
      if options.middleware
        every = options.force_gc.is_a?(Integer) ? options.force_gc : 1
        app.middleware.insert(0, Memtop::Rack, force_gc: options.force_gc ? true : false, every: every)
        Memtop::Rack::Routes.watch_rails
      end
    end

    initializer "memtop.jobs" do |app|
      ActiveSupport.on_load(:active_job) { Memtop::Job.tag_active_jobs(self) } if app.config.memtop.jobs
    end

    config.after_initialize { |app| Railtie.start(app.config.memtop) }

    # Without a probe the application runs on.
    def self.start(options)
      wanted = options.start.nil? ? !::Rails.env.test? : options.start
      Memtop.start(**options.settings) if wanted && !Memtop.running?
    rescue Memtop::Error, ArgumentError => e
      ::Rails.logger&.warn("memtop: not started: #{e.message}")
    end
  end
end
