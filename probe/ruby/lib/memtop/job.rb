# frozen_string_literal: true

require "memtop"

module Memtop
  # What a job is called, the same whether Sidekiq or ActiveJob is asked.
  module Job
    # The jobs in which mails are sent: the tag is the mail.
    MAILERS = %w[ActionMailer::MailDeliveryJob ActionMailer::DeliveryJob ActionMailer::Parameterized::DeliveryJob].freeze

    class << self
      # @param job [Hash] as Sidekiq has it
      # @return [String]
      def name_of(job)
        wrapped = (job["wrapped"] || job["class"]).to_s
        arguments = MAILERS.include?(wrapped) ? job.dig("args", 0, "arguments") : nil
        named(wrapped, arguments)
      rescue StandardError # what is in a queue can be anything
        job["class"].to_s
      end

      # @param job [ActiveJob::Base]
      # @return [String]
      def name_of_active(job) = named(job.class.name.to_s, job.arguments)

      # Tag the jobs of ActiveJob, whatever runs them. Under Sidekiq's middleware they
      # have their tag already.
      def tag_active_jobs(base)
        base.around_perform do |job, block|
          name = Job.name_of_active(job)
          Memtop.tags[:job] == name ? block.call : Memtop.tag(job: name) { block.call }
        end
      end

      private

      def named(class_name, arguments)
        return class_name unless MAILERS.include?(class_name) && arguments.is_a?(Array)

        "#{arguments[0]}##{arguments[1]}"
      end
    end
  end
end
