# frozen_string_literal: true

require "fileutils"
require "open3"
require "tmpdir"
require "test_helper"

# The profile, read by pprof itself. Its program is a part of Go, which is larger than
# everything else that tests need, so it is not installed for them: scripts/setup pprof.
class PprofTest < Minitest::Test
  BUILD = $LOAD_PATH.grep(%r{/build[^/]*/lib\z}).first&.then { |lib| File.dirname(lib) } || "build"
  WRITER = File.expand_path("tests/tui_export_write_formats", BUILD)

  def setup
    skip "go is not installed, which has pprof: scripts/setup pprof" unless system("go", "version", %i[out err] => File::NULL)
    @folder = Dir.mktmpdir
    assert system(WRITER, @folder), "#{WRITER} failed"
  end

  def teardown
    FileUtils.remove_entry(@folder) if @folder
  end

  def pprof(*arguments)
    env = {"HOME" => @folder, "PPROF_TMPDIR" => @folder, "GOFLAGS" => nil}
    output, status = Open3.capture2e(env, "go", "tool", "pprof", "-symbolize=none", *arguments)
    assert status.success?, output
    output
  end

  def file(model)
    File.join(@folder, "#{model}.pprof")
  end

  def test_top_shows_where_the_objects_of_all_classes_come_from
    output = pprof("-top", file("mixed"))
    assert_includes output, "Type: live_objects"
    assert_includes output, "100% of 1200 total"
    assert_match(/^ +658 54\.83% .* <main>$/, output)
    assert_match(/^ +40 .* Hash#fetch$/, output)
  end

  def test_top_shows_one_class_by_its_label
    output = pprof("-top", "-tagfocus=class=Order", "-sample_index=live_bytes", file("mixed"))
    assert_match(/^ +4000B .* Cart#add$/, output)
    refute_includes output, "(other)"
  end

  def test_raw_has_every_sample_place_and_comment
    output = pprof("-raw", file("mixed"))
    assert_includes output, "Comment: process 4120: ruby /srv/app.rb"
    assert_includes output, "live_objects/count[dflt] live_bytes/bytes allocated_objects/count"
    assert_match(/^ +100 +4000 +110: /, output)
    assert_match(%r{Cart#add /srv/cart\.rb:9}, output)
    assert_includes output, "Period: 8"
  end

  def test_reads_every_other_model
    %w[empty exact sampled beyond noise even odd].each { |model| pprof("-raw", file(model)) }
  end
end
