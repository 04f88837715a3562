# frozen_string_literal: true

require_relative "probe/ruby/lib/memtop/version"

Gem::Specification.new do |spec|
  spec.name = "memtop"
  spec.version = Memtop::VERSION
  spec.summary = "htop for the Ruby heap"
  spec.description = <<~WORDS
    Which classes of a running Ruby program grow, how fast, and which line of code keeps
    making what grows, live in a terminal: a probe inside the program counts every
    allocation and free, a viewer outside shows them.
  WORDS
  spec.authors = ["The memtop contributors"]
  spec.license = "MIT"
  spec.required_ruby_version = ">= 3.1"
  spec.platform = Gem::Platform::RUBY
  spec.metadata = { "rubygems_mfa_required" => "true" }

  # What both builds are made of, found by pattern: a new file has to be listed nowhere.
  spec.files = Dir.chdir(__dir__) do
    Dir.glob(%w[protocol/*.{c,h} probe/{attach,core,ruby}/*.{c,h} probe/ruby/features.txt
                probe/ruby/lib/**/*.rb sig/**/*.rbs tui/**/*.{c,h,css,js,proto}
                {protocol,tui}/CMakeLists.txt CMakeLists.txt cmake/*
                ext/**/*.rb exe/* man/* completions/* docs/*.md
                README.md CHANGELOG.md LICENSE SECURITY.md]).select { |path| File.file?(path) }
  end
  spec.require_paths = ["probe/ruby/lib"]
  spec.bindir = "exe"
  spec.executables = ["memtop"]
  spec.extensions = ["ext/memtop/extconf.rb"]
  spec.extra_rdoc_files = ["README.md"]
end
