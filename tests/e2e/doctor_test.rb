# frozen_string_literal: true

require "test_helper"
require "json"
require "open3"
require "probed"
require "tmpdir"

# `memtop doctor`, in surroundings that lack something.
class DoctorTest < Minitest::Test
  MEMTOP = File.expand_path("../bin/memtop", Probed::LOAD_PATHS.grep(%r{/lib\z}).first)

  def setup
    @folder = Dir.mktmpdir("memtop-test")
    @environment = { "TMPDIR" => @folder, "XDG_RUNTIME_DIR" => nil, "EDITOR" => "vi", "VISUAL" => nil, "TERM" => "xterm-256color",
                     "LC_ALL" => "C.UTF-8", "NO_COLOR" => nil, "MEMTOP_LIB" => nil, "RUBYOPT" => nil }
  end

  def teardown = FileUtils.rm_rf(@folder)

  # [what was found, by name; exit status]
  def doctor(**changes)
    output, errors, status = Open3.capture3(@environment.merge(changes.transform_keys(&:to_s)), MEMTOP, "doctor", "--json")
    assert_empty errors
    document = JSON.parse(output)
    assert_equal document["works"], status.success?
    [document["checks"].to_h { |check| [check["name"], check] }, status.exitstatus]
  end

  # A folder for PATH that has these programs and no other.
  def path(*programs)
    folder = Dir.mktmpdir(nil, @folder)
    programs.each { |name| File.symlink(`which #{name}`.chomp, File.join(folder, name)) }
    folder
  end

  def test_where_all_is_there_it_says_so
    found, status = doctor
    assert_equal 0, status
    %w[ruby probe sockets gdb encoding terminal screen memtop].each do |name|
      assert_equal "good", found.fetch(name)["state"], found[name]
    end
    refute_equal "bad", found["features"]["state"]
    assert_includes found["ruby"]["words"], RUBY_VERSION
    assert_equal 0o700, File.stat(File.join(@folder, "memtop-#{Process.euid}")).mode & 0o777
  end

  def test_without_ruby_it_does_not_work
    found, status = doctor(PATH: path("gdb"))
    assert_equal [1, "bad"], [status, found["ruby"]["state"]]
    assert_match(/apt-get install ruby/, found["ruby"]["remedy"])
  end

  def test_without_gdb_it_works_and_says_what_is_lacking
    found, status = doctor(PATH: path("ruby"))
    assert_equal [0, "lacks"], [status, found["gdb"]["state"]]
    assert_match(/apt-get install gdb/, found["gdb"]["remedy"])
  end

  def test_a_probe_that_does_not_load
    FileUtils.mkdir_p(File.join(@folder, "lib/memtop"))
    File.write(File.join(@folder, "lib/memtop.rb"), "raise LoadError, 'incompatible library version'\n")
    File.write(File.join(@folder, "lib/memtop/memtop.so"), "")
    found, status = doctor(MEMTOP_LIB: File.join(@folder, "lib"))
    assert_equal [1, "bad"], [status, found["probe"]["state"]]
    assert_match(/incompatible library version/, found["probe"]["words"])
    assert_match(/RUBY_EXECUTABLE/, found["probe"]["remedy"])
  end

  def test_a_folder_for_sockets_that_others_can_enter
    Dir.mkdir(File.join(@folder, "memtop-#{Process.euid}"), 0o700)
    File.chmod(0o755, File.join(@folder, "memtop-#{Process.euid}"))
    found, status = doctor
    assert_equal [1, "bad"], [status, found["sockets"]["state"]]
    assert_match(/other users may enter it/, found["sockets"]["words"])
  end

  def test_a_poor_terminal_is_no_hindrance
    found, status = doctor(TERM: "nonsense", LC_ALL: "C", EDITOR: "no-such-editor")
    assert_equal 0, status
    %w[terminal encoding editor].each { |name| assert_equal "lacks", found[name]["state"] }
  end

  def test_for_people_it_is_a_list_with_remedies
    output, = Open3.capture3(@environment.merge("EDITOR" => nil), MEMTOP, "doctor")
    assert_match(/^✓ ruby  +ruby 3/, output)
    assert_match(/^– editor .*\n +.*export EDITOR/, output)
    assert_match(/^memtop works here\.$/, output)
    output, = Open3.capture3(@environment, MEMTOP, "doctor", "--ascii")
    assert output.ascii_only?
  end

  def test_wrong_use
    _, errors, status = Open3.capture3(MEMTOP, "doctor", "now")
    assert_equal [2, true], [status.exitstatus, errors.include?("no arguments")]
  end
end
