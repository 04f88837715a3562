# frozen_string_literal: true

require "test_helper"
require "probed"

# Who allocated it? objspace keeps file and line of each object as Ruby itself names
# them; memtop has the innermost frame with a line of the stack it took. Both watch the
# same objects, and must agree on them.
#
# Two hooks on allocations at once hide frees from each other (Ruby 3.3 and older), so
# nothing may be freed while they watch: collections are off from the first object to
# the last look. That is fair, because what is compared is where objects were born.
class AttributionTest < Minitest::Test
  include Probed

  LOADS = {
    "yaml" => <<~'RUBY',
      require "yaml"
      TEXT = Array.new(60) { |i| { "id" => i, "name" => "Product #{i}", "tags" => %w[a b], "price" => i * 1.5 } }.to_yaml
      LOAD = -> { YAML.load(TEXT) }
    RUBY
    "json" => <<~'RUBY',
      require "json"
      TEXT = JSON.generate(Array.new(200) { |i| { id: i, name: "Product #{i}", tags: %w[a b], price: i * 1.5 } })
      LOAD = -> { [JSON.parse(TEXT), JSON.pretty_generate(JSON.parse(TEXT))] }
    RUBY
    "erb" => <<~'RUBY',
      require "erb"
      TEMPLATE = ERB.new("<% 50.times do |i| %><li><%= i %>: <%= ERB::Util.h('<' + i.to_s) %></li>\n<% end %>")
      LOAD = -> { Array.new(10) { TEMPLATE.result(binding) } }
    RUBY
    "csv" => <<~'RUBY',
      require "csv"
      TEXT = Array.new(200) { |i| "#{i},Product #{i},\"a, b\",#{i * 1.5}\n" }.join
      LOAD = -> { CSV.parse(TEXT) }
    RUBY
    "literals" => <<~'RUBY',
      Point = Struct.new(:x, :y)
      def literals(i)
        a = [i, "text", :"sym#{i}", i * 1.25,
             { key: "value", "other" => [1, 2] },
             "inter#{i}polation"]
        b = -> { a.map { |x| x.to_s } }
        c = (1..i).step(2)
        d = /re#{i}/
        e = %w[one two three]
        f = Point.new(1.5, "y")
        g = i.rationalize(1) + 2i
        h = "a" \
            "b" + "c"
        [a, b.call, c, d, e, f, g, h, 2**80, `true`, <<~TEXT, proc { }, method(:puts)]
          here #{i}
        TEXT
      end
      LOAD = -> { Array.new(40) { |i| literals(i) } }
    RUBY
    "sinatra" => <<~'RUBY'
      require "sinatra/base"
      require "rack/mock"
      class Shop < Sinatra::Base
        set :environment, :production
        disable :logging, :show_exceptions
        get("/orders/:id") { JSON.generate(id: params["id"], lines: Array.new(5) { |i| { name: "P#{i}" } }) }
      end
      require "json"
      SESSION = Rack::MockRequest.new(Shop.new)
      3.times { SESSION.get("/orders/1") }
      LOAD = -> { Array.new(15) { |i| SESSION.get("/orders/#{i}") } }
    RUBY
  }.freeze

  # Live objects by class, file and line, as each of the two has them.
  COMPARE = <<~'RUBY'
    require "memtop_client"
    require "objspace"
    LOAD.call # warm: code is loaded, caches are filled
    GC.start
    client = MemtopClient.new(Memtop.socket)
    client.sample
    GC.disable
    client.mode!("trace")
    ObjectSpace.trace_object_allocations_start
    kept = LOAD.call
    ObjectSpace.trace_object_allocations_stop
    client.mode!("count") # no stack is taken any more
    classes = Hash.new { |hash, klass| hash[klass] = Hash.new(0) }
    ObjectSpace.each_object do |object|
      file = ObjectSpace.allocation_sourcefile(object) or next
      klass = Kernel.instance_method(:class).bind_call(object)
      classes[klass.name][[File.exist?(file) ? File.realpath(file) : file, ObjectSpace.allocation_sourceline(object)]] += 1 if klass.name
    end
    same = all = 0
    wrong = []
    classes.sort_by { |_, places| -places.values.sum }.first(8).each do |name, theirs|
      ours = client.tree(name).places
      theirs.each do |place, count|
        all += count
        same += [count, ours[place]].min
        wrong << [name, place, count, ours[place]] if ours[place] < count
      end
      client.request(:close, client.open_class(name))
    end
    puts "#{same} of #{all}"
    warn wrong.first(10).map(&:inspect)
    kept.frozen?
  RUBY

  LOADS.each do |name, load|
    define_method(:"test_agrees_with_objspace_on_#{name}") do
      output, errors, status = ruby(load + COMPARE, env: { "MEMTOP_BUDGET" => "100", "MEMTOP_INTERVAL" => "0.1", "MEMTOP_DEPTH" => "256" })
      assert status.success?, errors.lines.first(10).join
      same, all = output[/(\d+ of \d+)/].split(" of ").map(&:to_i)
      assert_operator all, :>, 300, output
      assert_operator same, :>=, all * 0.999, "#{output}#{errors}"
    end
  end
end
