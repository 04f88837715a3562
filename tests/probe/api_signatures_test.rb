# frozen_string_literal: true

require "test_helper"
require "api"

# sig/memtop.rbs is what the classes are: it is valid, it has every public method, and a
# program that is checked against it at run time passes.
class ApiSignaturesTest < Minitest::Test
  include Api

  SIGNATURES = File.expand_path("../../sig", __dir__)

  def setup
    super
    skip "this Ruby has no rbs, which comes with it as a bundled gem" unless system(*Probed::RUBY, "-e", "require 'rbs'", err: File::NULL)
  end

  def test_the_signatures_are_valid
    script = "require 'rbs'; require 'rbs/cli'; RBS::CLI.new(stdout: $stdout, stderr: $stderr).run(ARGV)"
    output, status = Open3.capture2e(*Probed::RUBY, "-e", script, "-I", SIGNATURES, "validate", "--silent")
    assert status.success?, output
  end

  def test_every_public_method_has_one
    check(<<~RUBY, SIGNATURES, warnings: false)
      $VERBOSE = nil
      require "rbs"
      require "memtop/minitest"
      begin
        require "memtop/rspec"
      rescue LoadError
        nil # not installed
      end
      loader = RBS::EnvironmentLoader.new
      loader.add(path: Pathname(ARGV[0]))
      builder = RBS::DefinitionBuilder.new(env: RBS::Environment.from_loader(loader).resolve_type_names)
      hidden = %i[begin_at unlisten finish reset from abandon keep counting_ends running class_name
                  each_upwards give_up survivor heir matches? supports_block_expectations? supports_value_expectations?]
      modules = [Memtop]
      modules.each { |mod| modules.concat(mod.constants.map { |name| mod.const_get(name) }.grep(Module).select { |one| one.name&.start_with?("Memtop::") }) }
      modules.reject! { |mod| %w[Memtop::RactorGuard Memtop::HiddenThread].include?(mod.name) }
      missing = modules.flat_map do |mod|
        *outer, last = mod.name.split("::").map(&:to_sym)
        name = RBS::TypeName.new(name: last, namespace: RBS::Namespace.new(path: outer, absolute: true))
        own = mod.is_a?(Class) && mod < Struct ? [] : mod.public_instance_methods(false)
        instance = (own - hidden - builder.build_instance(name).methods.keys).map { |method| "\#{mod}#\#{method}" }
        instance + (mod.singleton_methods(false) - hidden - %i[new [] members keyword_init?] - builder.build_singleton(name).methods.keys).map { |method| "\#{mod}.\#{method}" }
      end
      expect_equal [], missing
      expect modules.size >= 10, modules
    RUBY
  end

  def test_a_program_that_is_checked_at_run_time_passes
    classes = %w[Capture Allocations Sampler Sampler::Sample Retained CallTree Frame].map { |name| "Memtop::#{name}" }
    env = { "RBS_TEST_TARGET" => classes.join(","), "RBS_TEST_OPT" => "-I #{SIGNATURES}", "RBS_TEST_LOGLEVEL" => "error",
            "RUBYOPT" => "-rrbs -rrbs/test/setup" }
    output, errors, status = ruby(<<~RUBY, env: env, auto: false)
      require "memtop"
      class Order; end
      KEPT = []
      capture = Memtop::Capture.new
      capture.track(Order) { |_, _, data| data || 1 }
      capture.track(Hash)
      capture.track_all = true
      [capture.start, capture.start]
      KEPT << Order.new
      [capture[Order].as_json, capture[Integer], capture.each.to_a, capture.each_object(Order).to_a, capture.statistics,
       capture.new_count, capture.free_count, capture.retained_count, capture.count_for(Order), capture.tracking?(Order)]
      capture.untrack(Hash)
      [capture.stop, capture.stop, capture.clear]
      sampler = Memtop::Sampler.new(gc: { full_mark: false }, filter: ->(frame) { frame.path })
      sampler.start
      sampler.track(Order)
      KEPT << Order.new
      [sampler.statistics(Order), sampler.statistics(Hash), sampler.analyze(Order, retained_minimum: nil), sampler.sample! { 1 },
       sampler.call_tree(Order).as_json, sampler.call_trees, sampler.count(Order), sampler.samples[Order].as_json]
      [sampler.clear(Order), sampler.stop, sampler.clear_all!, sampler.stop!]
      result = Memtop.retained(Order) { KEPT << Order.new }
      [result.to_s, result.to_h, result.paths(Order)[0].path[0].base_label, result.each.to_a, result.classes, result[Order], result.count, result.inspect, result.empty?]
      puts "done"
    RUBY
    assert status.success?, "#{errors.lines.first(6).join}\n#{output}"
    assert_equal "done\n", output
  end
end
