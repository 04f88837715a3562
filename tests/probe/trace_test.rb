# frozen_string_literal: true

require "test_helper"
require "probed"

# Call trees of a real program: the stack is the allocation's own, the root is the
# table's number and what ObjectSpace finds, and nothing is left when all is freed.
# Every case runs in a Ruby of its own, with a viewer in it.
class TraceTest < Minitest::Test
  include Probed

  CHECK = SELF_CHECK + <<~RUBY
    class Order; end
    FIRST = Order.new # so that there is a class to open
    $client.open_class("Order")
    # The tree adds up to the table and to the heap; what was allocated where.
    def tree(klass = Order)
      40.times do |depth|
        collect(depth)
        found = $client.tree(klass.name)
        heap = heap_count(klass)
        row = $client[klass.name].live
        same = found.sum == found.live && found.live == row && row == heap
        return found if same
      end
      abort "the tree says \#{found.sum}, its root \#{found.live}, the table \#{row}, the heap \#{heap}"
    end
    def expect(condition, words) = condition || abort(words.to_s)
    # Live objects below a path that ends so.
    def at(tree, *labels) = tree.paths.select { |path, _| (path.last == "Class#new" ? path[0..-2] : path).last(labels.size) == labels }.values.sum
    def gone(tree) = tree.sites.reject { |site| tree.nodes[site.node].frame == 1 }.sum(&:live)
    KEPT = []
  RUBY

  def check(script, env: {})
    output, errors, status = ruby(CHECK + script, env: { "MEMTOP_BUDGET" => "100", "MEMTOP_INTERVAL" => "0.1", **env })
    assert status.success?, "#{errors.lines.first(20).join}\n#{output}"
  end

  def test_each_path_has_its_own_count_and_loses_what_is_freed
    check(<<~RUBY)
      def one = KEPT << Order.new
      def two = KEPT << Order.new
      30.times { one }
      20.times { two }
      found = tree
      expect found.before == 1, "before \#{found.before}"
      expect at(found, "Object#one") == 30, found.paths
      expect at(found, "Object#two") == 20, found.paths
      KEPT.clear
      one
      found = tree
      expect gone(found).between?(1, 4), found.paths # a stack may hold a few
      KEPT.clear
    RUBY
  end

  def test_when_everything_is_freed_every_node_is_empty
    check(<<~RUBY)
      def deep(n) = n.zero? ? KEPT << Order.new : [n].each { deep(n - 1) }
      Thread.new { 100.times { |i| deep(i % 7) } }.join
      expect gone(tree) == 100, "not 100"
      Thread.new { KEPT.clear }.join
      last = nil
      30.times { |depth| collect(depth); break if gone(last = tree).zero? }
      expect gone(last).zero?, last.paths
      expect last.sites.sum(&:allocated) == 101, last.sites
    RUBY
  end

  def test_labels_are_those_of_a_backtrace
    check(<<~RUBY)
      module Shop
        class Cart
          def add(count)
            count.times do
              [1].each do
                keep
              end
            end
          end

          def self.build
            KEPT << Order.new
            $labels = caller(0).map { |line| line[/[`'](.*)'/, 1] }
          end

          def keep
            KEPT << Order.new
            $labels = caller(0).map { |line| line[/[`'](.*)'/, 1] }
          end
          define_method(:defined) do
            KEPT << Order.new
          end
        end
      end
      Shop::Cart.new.add(5)
      plain = ->(label) { label.sub(/Shop::Cart[#.]/, "").sub(/\\A(Integer|Array)#/, "") } # Ruby 3.4 says whose it is
      short = $labels.reverse.map(&plain)
      found = tree
      path = found.paths.keys.find { |labels| labels.include?("Shop::Cart#keep") }
      ruby = path.map(&plain) - ["Class#new"]
      expect ruby == short, [ruby, short].inspect
      expect path.include?("block in Shop::Cart#add"), path
      expect path.include?("block (2 levels) in Shop::Cart#add"), path
      expect path.include?("Integer#times"), path
      Shop::Cart.build
      Shop::Cart.new.defined
      found = tree
      expect at(found, "Shop::Cart.build") == 1, found.paths
      expect found.paths.keys.flatten.any? { |label| label.include?("block in <class:Cart>") || label == "Shop::Cart#defined" }, found.paths
    RUBY
  end

  def test_threads_and_fibers_have_roots_of_their_own
    check(<<~RUBY)
      def work = KEPT << Order.new
      Thread.new { 3.times { work } }.join
      Fiber.new { 4.times { work } }.resume
      threads = Array.new(4) { Thread.new { 50.times { work; Thread.pass } } }
      threads.each(&:join)
      found = tree
      roots = found.paths.select { |path, _| path.include?("Object#work") }.group_by { |path, _| path.first }
      expect roots.keys.all? { |root| root.start_with?("block") }, roots.keys
      expect at(found, "Object#work") == 207, found.paths
    RUBY
  end

  def test_exceptions_timeouts_and_killed_threads_pass_through
    check(<<~RUBY)
      require "timeout"
      class Boom < StandardError; end
      def fail_often
        200.times do |i|
          KEPT << Order.new
          raise Boom if i.odd?
        rescue Boom
          KEPT << Order.new
        end
      end
      fail_often
      5.times { begin Timeout.timeout(0.02) { loop { Order.new } }; rescue Timeout::Error; end }
      killed = Thread.new { loop { Order.new } }
      sleep 0.05
      killed.kill.join
      catch(:out) { 3.times { KEPT << Order.new; throw :out } }
      found = tree
      failing = found.paths.select { |path, _| path.include?("Object#fail_often") }
      expect failing.values.sum == 300, found.paths
      # a loop without pause may be sampled, at any budget: what came then has no path
      expect found.sum.between?(302, 310), [found.sum, found.paths]
    RUBY
  end

  def test_a_stack_deeper_than_is_kept_says_so
    check(<<~RUBY, env: { "MEMTOP_DEPTH" => "20" })
      def deep(n) = n.zero? ? KEPT << Order.new : deep(n - 1)
      deep(9_000)
      deep(5)
      found = tree
      cut = found.paths.keys.find { |path| path.first == "(cut)" }
      expect cut && cut.size == 21, cut
      expect at(found, "Object#deep") == 2, found.paths
    RUBY
  end

  def test_ten_thousand_frames_are_kept_as_far_as_the_setting_goes
    check(<<~RUBY, env: { "MEMTOP_DEPTH" => "4096" })
      def deep(n) = n.zero? ? KEPT << Order.new : deep(n - 1)
      Thread.new { deep(3_000) }.join
      begin
        deep(10_000)
      rescue SystemStackError
        KEPT << Order.new
      end
      found = tree
      expect found.paths.keys.any? { |path| path.size > 3_000 && path.first != "(cut)" }, "not whole"
      expect found.paths.keys.any? { |path| path.first == "(cut)" } || KEPT.size == 2, "not cut"
    RUBY
  end

  def test_eval_define_method_and_refinements
    check(<<~RUBY)
      module Keeping
        refine(Integer) { def keep = KEPT << Order.new }
      end
      using Keeping
      7.keep
      eval "def evaluated = KEPT << Order.new", TOPLEVEL_BINDING, "made.rb", 42
      6.times { evaluated }
      5.times { eval "KEPT << Order.new", binding, "line.rb", 7 }
      found = tree
      expect found.places[["made.rb", 42]] == 6, found.places
      expect found.places[["line.rb", 7]] == 5, found.places
      expect found.paths.keys.flatten.any? { |label| label.end_with?("#keep") }, found.paths
    RUBY
  end

  def test_code_that_is_loaded_again_dies_and_its_objects_stay_counted
    check(<<~RUBY)
      12.times do |round|
        Object.class_eval("def reloaded = KEPT << Order.new\\ndef dropped = Order.new", "reloaded.rb", 1)
        10.times { reloaded; dropped }
        Object.send(:remove_method, :reloaded, :dropped)
        3.times { GC.start }
        Array.new(5_000) { Object.new.method(:to_s).unbind } # others move in where it was
        found = tree
        expect found.places[["reloaded.rb", 1]] == 10 * (round + 1), found.places
      end
      GC.compact if GC.respond_to?(:compact)
      expect tree.places[["reloaded.rb", 1]] == 120, tree.places
    RUBY
  end

  def test_collections_at_every_allocation
    check(<<~RUBY)
      def work = KEPT << Order.new
      GC.stress = true
      20.times { work }
      GC.stress = false
      found = tree
      expect at(found, "Object#work") == 20, found.paths
    RUBY
  end

  def test_compaction_moves_objects_and_code
    skip "this Ruby does not compact" unless GC.respond_to?(:compact)
    check(<<~RUBY)
      def work = KEPT << Order.new
      200.times { work; Object.new }
      5.times do
        GC.compact
        expect at(tree, "Object#work") == 200, tree.paths
      end
      GC.auto_compact = true
      100.times { work }
      GC.start
      found = tree
      expect at(found, "Object#work") == 300, [1, found.paths]
      Thread.new { KEPT.slice!(0, 250); nil }.join
      GC.verify_compaction_references(toward: :empty, double_heap: true)
      found = tree
      expect at(found, "Object#work").between?(50, 53), [2, found.paths, KEPT.size]
    RUBY
  end

  def test_a_child_keeps_the_tree_and_goes_on_by_itself
    check(<<~RUBY)
      def work = KEPT << Order.new
      10.times { work }
      expect at(tree, "Object#work") == 10, "parent"
      pid = fork do
        $client = nil
        20.times { work }
        sleep 0.05 until Memtop.running? && File.socket?(Memtop.socket)
        $client = MemtopClient.new(Memtop.socket)
        $client.sample
        found = tree
        expect at(found, "Object#work") >= 10, found.paths
        5.times { work }
        expect at(tree, "Object#work") == at(found, "Object#work") + 5, "child"
        exit! 0
      end
      expect Process.wait2(pid)[1].success?, "child failed"
      expect at(tree, "Object#work") == 10, "parent after"
    RUBY
  end

  def test_mode_trace_takes_the_classes_of_the_setting_from_the_start
    output, errors, status = ruby(<<~RUBY, env: { "MEMTOP_MODE" => "trace", "MEMTOP_TRACE" => "Order,Shop::Cart", "MEMTOP_BUDGET" => "100" })
      require "memtop_client"
      class Order; end
      module Shop; class Cart; end; end
      class Other; end
      KEPT = [Order.new, Shop::Cart.new, Other.new] # no class has a name yet
      client = MemtopClient.new(Memtop.socket)
      40.times { client.sample; break if client.flags.values_at(*%w[Order Shop::Cart].map { |name| client.names.key(name) }).all? { |flags| flags.to_i & 12 == 12 } }
      abort client.flags.inspect unless client.flags[client.names.key("Order")] & 12 == 12
      abort "other" unless client.flags[client.names.key("Other")] & 12 == 0
      def work = KEPT << Order.new
      9.times { work }
      tree = client.tree("Order")
      abort tree.paths.inspect unless tree.paths.any? { |path, live| path.include?("Object#work") && live == 9 }
      abort tree.before.to_s unless tree.before.zero?
    RUBY
    assert status.success?, "#{errors.lines.first(10).join}\n#{output}"
  end

  def test_mode_trace_alone_takes_every_class
    output, errors, status = ruby(<<~RUBY, env: { "MEMTOP_MODE" => "trace", "MEMTOP_BUDGET" => "100" })
      require "memtop_client"
      class Order; end
      def work = Order.new
      kept = Array.new(25) { work }
      client = MemtopClient.new(Memtop.socket)
      client.sample
      tree = client.tree("Order")
      abort client.mode unless client.mode == "trace"
      abort tree.paths.inspect unless tree.before.zero? && tree.paths.select { |path, _| path.include?("Object#work") }.values.sum == 25
      kept.clear
    RUBY
    assert status.success?, "#{errors.lines.first(10).join}\n#{output}"
  end

  def test_a_class_allocated_all_the_time_is_sampled_and_adds_up
    check(<<~RUBY, env: { "MEMTOP_BUDGET" => "1" })
      def often = Order.new
      def kept = KEPT << Order.new
      stop = false
      busy = Thread.new { (2000.times { often; kept if rand(50).zero? }; sleep 0.001) until stop } # lets the client have the GVL
      found = nil
      100.times do
        $client.sample
        found = $client.tree("Order")
        break if found.header[:shift] > 2
        sleep 0.05
      end
      stop = true
      busy.join
      expect found.header[:shift] > 2, found.header.slice(:shift, :live)
      found = tree # adds up to the heap, samples or not
      weighed = found.sites.reject { |site| found.nodes[site.node].frame == 1 }
      expect !found.exact?, "exact"
      share = weighed.select { |site| found.path(site.node).include?("Object#kept") }.sum { |site| site.live << site.shift }
      expect share.positive?, weighed
    RUBY
  end
end
