# frozen_string_literal: true

# Makes the Makefile that `gem install` runs. Two things come out of it:
#
# - the extension that puts the probe into a Ruby program, from protocol/, probe/core/
#   and probe/ruby/. It needs a C compiler, pkg-config and msgpack-c, and the gem is not
#   installed without them;
# - the program memtop, by the same CMake build that a checkout has. It needs more. When
#   something of that is missing the probe is installed alone, and exe/memtop says what
#   was missing and which packages bring it.

require "etc"
require "mkmf"
require_relative "libraries"

ROOT = File.expand_path("../..", __dir__)
ROOMS = %w[protocol probe/core probe/ruby].freeze

def stop(what, remedy)
  message("memtop: %s\n", what)
  abort "memtop: #{what}\n#{remedy}"
end

def find_pkg_config
  return if find_executable("pkg-config")

  stop("the program pkg-config is missing, which says where libraries are.",
       "On Debian: apt-get install pkgconf")
end

def find_msgpack
  name = Libraries::MSGPACK.find { |candidate| Libraries.there?(candidate) }
  found = name && pkg_config(name)
  # On Debian 13 the flags name a folder relative to nowhere; the compiler knows it anyway.
  return if found && have_header("msgpack.h")

  stop("the library msgpack-c is missing: pkg-config knows none of #{Libraries::MSGPACK.join(', ')}.",
       "On Debian: apt-get install #{Libraries::MSGPACK_PACKAGE}")
end

# probe/ruby/features.txt is CMake's list as well.
def find_features
  File.readlines("#{ROOT}/probe/ruby/features.txt", chomp: true).grep(/\Arb_/).each do |line|
    function, required = line.split
    next if have_func(function) || !required

    stop("this Ruby (#{RUBY_DESCRIPTION}) hides #{function}, which the probe lives on.",
         "memtop is for MRI, the Ruby of ruby-lang.org, from 3.1 on.")
  end
end

# What CMake makes of the same template.
def write_version
  template = File.read("#{ROOT}/cmake/version.h.in")
  version = File.read("#{ROOT}/probe/ruby/lib/memtop/version.rb")[/VERSION = "(.*)"/, 1]
  File.write("version.h", template.sub("@PROJECT_VERSION@", version))
end

# The sources of all rooms: objects named after the path, since a name may come twice.
def sources
  ROOMS.flat_map { |room| Dir.glob("#{room}/*.c", base: ROOT).sort }
       .to_h { |path| ["#{path.delete_suffix('.c').tr('/', '_')}.o", path] }
end

def rules
  sources.map do |object, path|
    "#{object}: $(memtop_root)/#{path}\n" \
      "\t$(ECHO) compiling $<\n" \
      "\t$(Q) $(CC) $(INCFLAGS) $(CPPFLAGS) $(CFLAGS) $(COUTFLAG)$@ -c $(CSRCFLAG)$<\n"
  end
end

# What gdb loads for `memtop attach`: linked with no Ruby.
def inject_rules
  <<~MAKE
    all: inject.so
    inject.so: $(memtop_root)/probe/attach/inject.c
    \t$(ECHO) compiling $<
    \t$(Q) $(CC) $(INCFLAGS) $(CPPFLAGS) $(CFLAGS) $(CCDLFLAGS) -shared -o $@ $< -lpthread -ldl
    install: install-inject
    install-inject: inject.so
    \t$(MAKEDIRS) $(RUBYARCHDIR)
    \t$(INSTALL_PROG) inject.so $(RUBYARCHDIR)/inject.so
  MAKE
end

# The viewer, by CMake, into the folder from which RubyGems takes all. When building it
# fails the gem is installed all the same, and exe/memtop has what was said.
def viewer_rules
  missing = Libraries.missing(method(:find_executable))
  lacks = missing.map { |name, package| "#{name} (#{package})" }.join(", ")
  apt = "apt-get install #{missing.values.uniq.join(' ')}"
  unless missing.empty?
    message("memtop: the probe is installed without the viewer, which needs %s.\n" \
            "On Debian: %s\nThen: gem pristine memtop\n", lacks, apt)
    File.write("missing.txt", "It was not built, for want of #{lacks}.\nOn Debian: #{apt}\n")
  end
  <<~MAKE
    viewer_folder = $(RUBYARCHDIR)
    all: viewer.stamp
    viewer.stamp:
    #{missing.empty? ? build_viewer : "\tcp missing.txt viewer.txt"}
    \ttouch $@
    install: install-viewer
    install-viewer: viewer.stamp
    \t$(MAKEDIRS) $(viewer_folder)
    \tif test -e memtop-viewer; then $(INSTALL_PROG) memtop-viewer $(viewer_folder)/viewer; else $(INSTALL_DATA) viewer.txt $(viewer_folder)/viewer.txt; fi
    clean: clean-viewer
    clean-viewer:
    \t-$(Q) rm -rf viewer viewer.stamp memtop-viewer
  MAKE
end

def build_viewer
  configure = "cmake -S $(memtop_root) -B viewer -DMEMTOP_VIEWER_ONLY=ON -DCMAKE_BUILD_TYPE=Release " \
              "-DRUBY_EXECUTABLE=$(RUBY_PROGRAM)"
  build = "cmake --build viewer --parallel $(memtop_jobs) --target memtop"
  failure = "(echo 'Building it failed:'; tail -n 40 viewer.log) >viewer.txt; cat viewer.txt"
  "\t(#{configure} && #{build} && mv viewer/bin/memtop memtop-viewer) >viewer.log 2>&1 || { #{failure}; }\n" \
    "\trm -rf viewer"
end

find_pkg_config
find_msgpack
find_features
write_version

$CPPFLAGS += " -D_GNU_SOURCE"
$CFLAGS += " -std=c11 -fvisibility=hidden -fno-plt"
$INCFLAGS += " -I$(memtop_root)"
$objs = sources.keys
jobs = ENV.fetch("CMAKE_BUILD_PARALLEL_LEVEL") { Etc.nprocessors }

create_makefile("memtop/memtop") do |conf|
  conf << "memtop_root = #{ROOT}\nmemtop_jobs = #{jobs}\nRUBY_PROGRAM = #{RbConfig.ruby}\n"
end
File.write("Makefile", "\n#{rules.join("\n")}\n#{inject_rules}\n#{viewer_rules}", mode: "a")
