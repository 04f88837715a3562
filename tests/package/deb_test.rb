# frozen_string_literal: true

require "test_helper"
require "fileutils"
require "open3"
require "rbconfig"
require "timeout"
require "tmpdir"

# Debian's package, as cpack makes it of the build that is tested.
class DebTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)
  FOLDER = Dir.mktmpdir("memtop-deb")
  Minitest.after_run { FileUtils.rm_rf(FOLDER) }

  def succeed(*command)
    said, status = Timeout.timeout(240) { Open3.capture2e(*command, chdir: FOLDER) }
    assert status.success?, "#{command.join(' ')}\n#{said}"
    said
  end

  def package
    found = Dir.glob("#{FOLDER}/*.deb")
    return found.first unless found.empty?

    succeed("cpack", "--config", "#{ROOT}/build/CPackConfig.cmake", "-B", FOLDER)
    Dir.glob("#{FOLDER}/*.deb").first
  end

  def unpacked
    folder = "#{FOLDER}/unpacked"
    succeed("dpkg-deb", "-x", package, folder) unless File.directory?(folder)
    folder
  end

  def relative(key) = RbConfig::CONFIG[key].delete_prefix("/")

  def field(name) = succeed("dpkg-deb", "-f", package, name).chomp

  def test_says_what_it_is_and_what_it_needs
    assert_equal "memtop", field("Package")
    assert_equal `#{ROOT}/build/bin/memtop --version`.split.last, field("Version")
    %w[libuv1 libncursesw6 libzstd1 libc6 ruby].each { |name| assert_match(/\b#{name}\b/, field("Depends")) }
    assert_match(/libmsgpackc2|libmsgpack-c2/, field("Depends"))
    assert_includes field("Depends"), "lib#{RbConfig::CONFIG['RUBY_SO_NAME'].delete('-')}"
    assert_includes field("Description"), "htop for the Ruby heap"
  end

  def test_has_the_program_the_probe_the_manual_and_the_completions
    files = succeed("dpkg-deb", "-c", package).lines.map { |line| line.split.last.delete_prefix("./") }
    wanted = %w[usr/bin/memtop usr/share/man/man1/memtop.1.gz usr/share/man/man1/memtop-tree.1.gz
                usr/share/man/man5/memtop-config.5.gz usr/share/bash-completion/completions/memtop
                usr/share/zsh/vendor-completions/_memtop usr/share/fish/vendor_completions.d/memtop.fish
                usr/share/doc/memtop/copyright usr/share/doc/memtop/changelog.gz]
    wanted.concat(%w[auto.rb memtop.so inject.so].map { |file| "#{relative('vendordir')}/memtop/#{file}" })
    assert_empty wanted - files
    assert_empty files.grep(%r{\A(?!usr/)}).reject { |file| ["", "usr/"].include?(file) }
    assert_empty files.grep(/\.(a|h|c|o)\z/)
  end

  def test_the_program_and_the_probe_of_the_package_work_together
    paths = ["-I", "#{unpacked}/#{relative('vendordir')}"]
    socket = "#{FOLDER}/app.sock"
    script = "abort 'another' unless $LOADED_FEATURES.grep(/memtop/).all? { |path| path.start_with?('#{unpacked}') }; " \
             "class Order; end; $kept = Array.new(321) { Order.new }; sleep"
    pid = Process.spawn({ "MEMTOP_SOCKET" => socket }, RbConfig.ruby, *paths, "-r", "memtop/auto", "-e", script)
    Timeout.timeout(60) { sleep 0.01 until File.socket?(socket) || Process.wait(pid, Process::WNOHANG) }
    assert_match(/^\s+321 .* Order$/, succeed("#{unpacked}/usr/bin/memtop", "--once", "--socket", socket))
  ensure
    Process.kill(:KILL, pid) && Process.wait(pid) if pid
  end

  def test_man_shows_its_pages
    page = "#{unpacked}/usr/share/man/man1/memtop.1.gz"
    assert_includes succeed("zcat", page), ".Nm memtop"
  end
end
