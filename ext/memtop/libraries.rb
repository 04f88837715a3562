# frozen_string_literal: true

# What the gem is built with, as pkg-config calls it, and the package that Debian has it
# in. scripts/setup installs the same, and more, for the whole project.
module Libraries
  # The first of these that is there: Debian 12 calls it msgpack, Debian 13 msgpack-c.
  MSGPACK = %w[msgpack-c msgpack].freeze
  MSGPACK_PACKAGE = "libmsgpack-dev (Debian 12) or libmsgpack-c-dev (Debian 13)"

  VIEWER = {
    "libuv"         => "libuv1-dev",
    "ncursesw"      => "libncurses-dev",
    "libutf8proc"   => "libutf8proc-dev",
    "jansson"       => "libjansson-dev",
    "popt"          => "libpopt-dev",
    "libzstd"       => "libzstd-dev",
    "libprotobuf-c" => "libprotobuf-c-dev",
    "zlib"          => "zlib1g-dev",
    "libxml-2.0"    => "libxml2-dev",
    "inih"          => "libinih-dev"
  }.freeze

  # Programs that its build runs.
  TOOLS = { "cmake" => "cmake", "protoc-c" => "protobuf-c-compiler" }.freeze

  module_function

  def there?(name)
    system("pkg-config", "--exists", name, out: File::NULL, err: File::NULL)
  end

  # What the viewer lacks, and the packages that have it: {name => package}.
  def missing(find)
    VIEWER.reject { |name, _| there?(name) }.merge(TOOLS.reject { |name, _| find.call(name) })
  end
end
