# frozen_string_literal: true

require "test_helper"
require "fileutils"
require "memtop/version"
require "open3"
require "rbconfig"
require "rubygems/package"
require "tmpdir"
require "timeout"

# The gem, made and installed as people do, into a folder of its own and from no network.
class GemTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)
  SECONDS = 240
  FOLDER = Dir.mktmpdir("memtop-gem")
  Minitest.after_run { FileUtils.rm_rf(FOLDER) }

  def setup
    @socket = File.join(Dir.mktmpdir("app", FOLDER), "app.sock")
  end

  # [what it said, status]
  def run_command(*command, env: {}, folder: ROOT)
    clean = { "RUBYOPT" => nil, "RUBYLIB" => nil, "BUNDLE_GEMFILE" => nil, "TEST_OUTPUT" => nil, "LANG" => "C.UTF-8" }
    Timeout.timeout(SECONDS) { Open3.capture2e({ **clean, **env }, *command, chdir: folder) }
  end

  def succeed(*command, **options)
    said, status = run_command(*command, **options)
    assert status.success?, "#{command.join(' ')}\n#{said}"
    said
  end

  # The gem's file, made once.
  def built
    file = File.join(FOLDER, "memtop-#{Memtop::VERSION}.gem")
    succeed("gem", "build", "memtop.gemspec", "-o", file) unless File.exist?(file)
    file
  end

  # The environment of a place where gems are installed; made once with the gem in it.
  def home(name, env = {})
    folder = File.join(FOLDER, name)
    here = { "GEM_HOME" => folder, "GEM_PATH" => "#{folder}:#{Gem.default_dir}:#{Gem.path.join(':')}" }
    return here if File.directory?(folder)

    succeed("sh", "-c", "gem install memtop --local --no-document", env: { **here, **env }, folder: File.dirname(built))
    here
  end

  # Start a program, and give what `memtop` says of it.
  def watch(env, *command, folder: FOLDER)
    env = { "MEMTOP_SOCKET" => @socket, "RUBYOPT" => nil, "RUBYLIB" => nil, "BUNDLE_GEMFILE" => nil, **env }
    pid = Process.spawn(env, *command, chdir: folder, err: File.join(FOLDER, "errors"))
    look = ["#{env['GEM_HOME']}/bin/memtop", "--once", "--socket", @socket]
    said = nil
    # `bundle exec` has a probe as well, until it becomes what it runs
    Timeout.timeout(60) do
      said = run_command(*look, env: env.slice("GEM_HOME", "GEM_PATH")) until said&.first&.match?(/Order$/) || Process.wait(pid, Process::WNOHANG)
    end
    said
  ensure
    Process.kill(:KILL, pid)
    Process.wait(pid) rescue nil
  end

  LEAK = "class Order; end; $kept = Array.new(321) { Order.new }; sleep"

  def extconf(env)
    Dir.mktmpdir(nil, FOLDER) do |folder|
      run_command(RbConfig.ruby, "#{ROOT}/ext/memtop/extconf.rb", env: env, folder: folder)
    end
  end

  def test_holds_all_that_both_builds_are_made_of
    files = Gem::Package.new(built).contents
    wanted = Dir.glob("{protocol,probe,tui}/**/*.{c,h,rb,proto,css,js}", base: ROOT)
    assert_empty wanted - files
    assert_empty files.grep(%r{\A(tests|build|bench|demo|screenshots)})
  end

  def test_has_the_version_that_ruby_and_the_program_have
    specification = Gem::Package.new(built).spec
    assert_includes succeed("#{ROOT}/build/bin/memtop", "--version"), specification.version.to_s
  end

  def test_installs_the_probe_and_the_program
    here = home("gems")
    said, status = watch(here, "sh", "-c", 'RUBYOPT=-rmemtop/auto exec "$@"', "sh", RbConfig.ruby, "-e", LEAK)
    assert status.success?, said
    assert_match(/^\s+321 .* Order$/, said)
  end

  def test_goes_with_bundler_and_is_required_only_when_asked
    here = home("gems")
    app = File.join(FOLDER, "app")
    FileUtils.mkdir_p(app)
    File.write("#{app}/Gemfile", "")
    bundle = { **here, "BUNDLE_GEMFILE" => "#{app}/Gemfile", "BUNDLE_PATH" => nil, "BUNDLE_FROZEN" => nil }
    succeed("bundle", "add", "memtop", "--require=false", "--skip-install", env: bundle, folder: app)
    assert_match(/gem "memtop".*require(: |.*=> )false/, File.read("#{app}/Gemfile"))
    succeed("bundle", "install", "--local", env: bundle, folder: app)
    loaded = "Bundler.require; abort 'loaded' if defined?(Memtop::SETTINGS); require 'memtop'; puts Memtop.running?"
    assert_equal "false\n", succeed("bundle", "exec", "ruby", "-e", loaded, env: bundle, folder: app)
    said, status = watch(bundle, "bundle", "exec", "ruby", "-r", "memtop/auto", "-e", LEAK, folder: app)
    assert status.success?, said
    assert_match(/^\s+321 .* Order$/, said)
  end

  def test_goes_into_a_gemfile_as_the_guides_say
    here = home("gems")
    app = File.join(FOLDER, "guide")
    FileUtils.mkdir_p(app)
    File.write("#{app}/Gemfile", <<~GEMFILE)
      gem "memtop", require: false
    GEMFILE
    bundle = { **here, "BUNDLE_GEMFILE" => "#{app}/Gemfile", "BUNDLE_PATH" => nil, "BUNDLE_FROZEN" => nil }
    script = 'RUBYOPT=-rmemtop/auto exec bundle exec "$@"'
    said, status = watch(bundle, "sh", "-c", script, "sh", "ruby", "-e", LEAK, folder: app)
    assert status.success?, said
    assert_match(/^\s+321 .* Order$/, said)
  end

  def test_says_which_library_the_probe_lacks_and_where_to_get_it
    said, status = extconf("PKG_CONFIG_LIBDIR" => FOLDER, "PKG_CONFIG_PATH" => nil)
    refute status.success?
    assert_match(/msgpack-c is missing.*\n.*apt-get install libmsgpack-dev/, said)
  end

  def test_says_that_pkg_config_is_missing
    empty = File.join(FOLDER, "empty")
    FileUtils.mkdir_p(empty)
    %w[gcc cc as ld sh].each do |name|
      path = `which #{name}`.chomp
      FileUtils.ln_sf(path, empty) unless path.empty?
    end
    said, status = extconf("PATH" => empty)
    refute status.success?
    assert_match(/pkg-config is missing.*\n.*apt-get install pkgconf/, said)
  end

  # Only msgpack is there: what the viewer lacks is no reason to go without the probe.
  def test_installs_the_probe_alone_where_the_viewers_libraries_are_missing
    folder = File.join(FOLDER, "pkgconfig")
    FileUtils.mkdir_p(folder)
    where = `pkg-config --variable=pcfiledir msgpack-c msgpack 2>/dev/null`.split.first ||
            `pkg-config --variable=pcfiledir msgpack`.chomp
    FileUtils.cp(Dir.glob("#{where}/msgpack*.pc"), folder)
    here = home("alone", "PKG_CONFIG_LIBDIR" => folder)
    succeed(RbConfig.ruby, "-r", "memtop", "-e", "Memtop.start(socket: '#{@socket}'); Memtop.stop", env: here)
    said, status = run_command("#{here['GEM_HOME']}/bin/memtop", "--once", env: here)
    assert_equal 2, status.exitstatus
    assert_match(/for want of .*libuv \(libuv1-dev\)/, said)
    assert_match(/apt-get install libuv1-dev.*\n.*gem pristine memtop/, said)
  end
end
