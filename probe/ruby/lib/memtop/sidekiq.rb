# frozen_string_literal: true

require "memtop"
require "memtop/job"

module Memtop
  # What each class of Sidekiq's jobs allocates and leaves behind.
  module Sidekiq
    # Server middleware:
    #
    #   Sidekiq.configure_server do |config|
    #     config.server_middleware { |chain| chain.prepend Memtop::Sidekiq::Middleware }
    #     Memtop.start unless Memtop.running?
    #   end
    #
    # The tag is `job:` with the class of the job: that which ActiveJob wraps, not its
    # wrapper, and of a mail "UserMailer#welcome".
    class Middleware
      # @param options [Hash] Sidekiq 6 hands keywords over as a Hash
      # @option options [Boolean] :force_gc collect garbage before and after jobs
      # @option options [Integer] :every with force_gc: of one job of so many
      def initialize(options = nil, **keywords)
        options = { force_gc: false, every: 1, **(options || {}), **keywords }
        @collections = Tags::Collections.for(options[:force_gc], options[:every])
      end

      # @param _worker [Object]
      # @param job [Hash]
      # @param _queue [String]
      def call(_worker, job, _queue, &block)
        return yield unless Memtop.running?

        turn = @collections.before
        begin
          Memtop.tag(job: Job.name_of(job), &block)
        ensure
          @collections.after(turn)
        end
      end
    end
  end
end
