# frozen_string_literal: true

require "msgpack"
require "socket"
require "zlib"

# A viewer for tests: speaks memtop's protocol with Ruby's msgpack and nothing of
# memtop's own code.
class MemtopClient
  HEADER = "a4NCCnNQ>Q>"
  HEADER_BYTES = 32
  KINDS = { 1 => :hello, 2 => :names, 3 => :sample, 4 => :notice, 5 => :result, 6 => :bye,
            7 => :frames, 8 => :tree, 9 => :verdicts, 11 => :gap, 12 => :group, 14 => :tags }.freeze
  ACTIONS = { gc: 1, census: 2, mode: 3, key: 4, open: 5, close: 6, pin: 7, unpin: 8, flight: 9, tag: 10, detach: 11 }.freeze
  MODES = %w[dormant census count trace].freeze
  Row = Struct.new(:id, :live, :allocated, :freed, :bytes)
  Frame = Struct.new(:id, :flags, :label, :path, :line)
  Node = Struct.new(:id, :parent, :frame, :line, :block)
  Site = Struct.new(:node, :shift, :live, :allocated, :bytes, :ages)
  Verdict = Struct.new(:verdict, :ages, :reason)
  Tag = Struct.new(:id, :calls, :active, :allocated, :freed, :live, :bytes, :ages) do
    # Objects that survived two collections or more, as of the last census.
    def retained = ages.drop(1).sum
  end
  TagClass = Struct.new(:tag, :class_id, :allocated, :live, :bytes, :ages)
  SPECIAL = { 1 => "(before tracing)", 2 => "(other)", 3 => "(cut)", 4 => "(no Ruby frame)" }.freeze
  VERDICTS = [nil, "new", "steady", "churn", "growing", "leak?"].freeze
  PROCESS = %i[rss heap_live heap_free gc_count gc_major gc_ms heap_age_ms].freeze
  PROBE = %i[cost_ppm drift drift_total dropped_frames census_us census_objects viewers].freeze

  attr_reader :hello, :names, :flags, :rows, :notices, :process, :probe, :totals, :mode, :bye, :samples, :keys, :gaps, :groups

  # What a recording says to who reads all of it; the block is called after each message.
  def self.recording(path)
    client = new(path, greet: false, stream: File.open(path, "rb"))
    while (kind = client.step)
      yield client, kind if block_given?
    end
    client.close
    client
  end

  def initialize(path, greet: true, timeout: 20, stream: nil)
    @path = path
    @timeout = timeout
    @socket = stream || UNIXSocket.new(path)
    @names = {}
    @flags = {}
    @rows = {}
    @notices = {}
    @frames = {}
    @trees = {}
    @verdicts = {}
    @tag_names = {}
    @tags = {}
    @tag_classes = {}
    @gaps = []
    @groups = []
    @samples = @keys = @requests = 0
    send_frame(64, { 0 => 1, 1 => "test" }) if greet
  end

  def close = @socket.close

  def send_frame(kind, body)
    bytes = body.to_msgpack
    head = ["MTOP", bytes.bytesize, kind, 0, 0].pack("a4NCCn")
    times = [0, 0].pack("Q>Q>")
    crc = Zlib.crc32(head + times + bytes)
    @socket.write(head, [crc].pack("N"), times, bytes)
  end

  # The next message's kind; nil at the end of the stream.
  def step
    header = read(HEADER_BYTES) or return nil
    magic, length, kind, _flags, _reserved, crc, = header.unpack(HEADER)
    raise "bad magic #{magic.inspect}" unless magic == "MTOP"

    body = read(length) or raise "cut frame"
    raise "bad CRC" unless Zlib.crc32(header[0, 12] + header[16, 16] + body) == crc

    return :other unless KINDS.key?(kind) # as every client of the protocol does

    apply(KINDS.fetch(kind), MessagePack.unpack(body))
  end

  # Read until the block is true; raises when it never is.
  def until
    deadline = now + @timeout
    until yield
      raise "#{@path}: not seen within #{@timeout} s" if now > deadline

      step or raise "#{@path}: the stream ended"
    end
    self
  end

  # A sample taken after this call.
  def sample
    request(:key)
    before = @samples
    self.until { @samples > before }
  end

  # A sample with the heap's figures: the first have none until Ruby has looked at it.
  def heap
    sample.until { @process[:heap_age_ms] }
  end

  # Ask for something and wait for the answer: [status, text].
  def request(action, argument = nil)
    id = @requests += 1
    send_frame(65, { 0 => id, 1 => ACTIONS.fetch(action), 2 => argument || 0 })
    self.until { @result && @result[0] == id }
    [%i[done refused failed].fetch(@result[1]), @result[2]]
  end

  # A census, and a sample that has its figures.
  def census
    request(:census)
    sample
  end

  # What was allocated under each tag, by its text ("route=orders#show"). It comes after
  # a sample: with the next one it is certainly here.
  def tags
    2.times { sample }
    @tags.transform_keys { |id| @tag_names.fetch(id) }
  end

  # The classes of a tag, by name.
  def tag_classes(text)
    tags
    id = @tag_names.key(text) or return {}
    request(:tag, id)
    @tag_classes.delete(id)
    20.times { @tag_classes[id] ? break : sample }
    (@tag_classes[id] || []).to_h { |row| [@names[row.class_id], row] }
  end

  def mode!(name) = request(:mode, MODES.index(name))

  # The call tree of a class by its name, opened if it is not: of a sample taken
  # after this call. Frames have their names.
  def tree(name)
    id = open_class(name)
    2.times { sample } # a tree follows its sample
    self.until { @trees[id] && named?(@trees[id]) }
    2.times { sample }
    Tree.new(@trees[id], @frames)
  end

  # The tree as the probe sent it last, without asking.
  def tree_sent(name) = Tree.new(@trees[rows_named(name).max_by(&:live).id], @frames)

  # Ask for a class's tree: from the answer on its stacks are taken.
  def open_class(name)
    self.until { rows_named(name).any? }
    id = rows_named(name).max_by(&:live).id
    @opened ||= {}
    unless @opened[id]
      answer = request(:open, id)
      raise "open #{name}: #{answer}" unless answer[0] == :done

      @opened[id] = true
      self.until { @trees[id] && (@trees[id][:flags] & 1 == 1 || @hello[:capabilities] & 1 == 1) }
    end
    id
  end

  def verdict(name)
    row = rows_named(name).max_by(&:live) or return nil
    @verdicts[row.id]
  end

  # What a tree message says, asked in words.
  class Tree
    attr_reader :header, :nodes, :sites

    def initialize(state, frames)
      @header = state
      @nodes = state[:nodes]
      @sites = state[:sites].values
      @frames = frames
    end

    def live = @header[:live]
    def exact? = @header[:unsampled_live].zero? && @sites.all? { |site| site.shift.zero? }
    def sum = @sites.sum(&:live) + @header[:unsampled_live]
    def before = @sites.select { |site| @nodes[site.node].frame == 1 }.sum(&:live)

    # Live objects by path: labels from the root on.
    def paths
      @sites.each_with_object(Hash.new(0)) { |site, sums| sums[path(site.node)] += site.live }
    end

    # Live objects by [path, line] of the innermost frame that has a line.
    def places
      @sites.each_with_object(Hash.new(0)) { |site, sums| sums[place(site.node)] += site.live }
    end

    def path(id)
      labels = []
      while (node = @nodes[id])
        labels.unshift(label(node))
        id = node.parent
      end
      labels
    end

    def label(node)
      return SPECIAL.fetch(node.frame) if node.frame < 16

      levels = { 0 => "", 1 => "block in " }.fetch(node.block) { "block (#{node.block} levels) in " }
      levels + @frames.fetch(node.frame).label
    end

    def place(id)
      while (node = @nodes[id])
        return [@frames[node.frame].path, node.line] if node.line.positive?

        id = node.parent
      end
      [nil, nil]
    end
  end

  # The row of a class by its name; rows of several classes of one name are added.
  def [](name)
    found = rows_named(name)
    return Row.new(nil, 0, 0, 0, nil) if found.empty?

    found.reduce do |sum, row|
      Row.new(nil, *%i[live allocated freed bytes].map { |field| add(sum[field], row[field]) })
    end
  end

  def rows_named(name) = @rows.values.select { |row| @names[row.id] == name }

  private

  def add(one, other) = one && other ? one + other : nil

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def read(length)
    return +"" if length.zero?

    bytes = +""
    while bytes.bytesize < length
      raise "#{@path}: nothing came for #{@timeout} s" unless @socket.wait_readable(@timeout)

      part = @socket.read_nonblock(length - bytes.bytesize, exception: false)
      return nil if part.nil?

      bytes << part unless part == :wait_readable
    end
    bytes
  rescue Errno::ECONNRESET
    nil
  end

  def apply(kind, body)
    send(:"apply_#{kind}", body)
    kind
  end

  def apply_hello(body)
    keys = %i[version program_version pid parent_pid command runtime started_us mode capabilities interval_ms]
    @hello = keys.each_with_index.to_h { |key, i| [key, body[i]] }
  end

  def apply_names(body)
    body[0].each do |id, flags, name|
      @names[id] = name
      @flags[id] = flags
    end
  end

  def apply_sample(body)
    @samples += 1
    if body[0]
      @keys += 1
      @rows.clear
    end
    @mode = MODES[body[1]]
    @process = PROCESS.zip(body[2]).to_h
    @probe = PROBE.zip(body[3]).to_h
    @totals = %i[live allocated freed bytes].zip(body[4]).to_h
    body[5].each { |row| @rows[row[0]] = Row.new(*row) }
    (body[6] || []).each { |id| @rows.delete(id) }
  end

  def apply_frames(body)
    body[0].each { |row| @frames[row[0]] = Frame.new(*row) }
  end

  TREE = %i[class key flags live since_us shift unsampled_live unsampled_allocated depth nodes_used nodes_room].freeze

  def apply_tree(body)
    header = TREE.each_with_index.to_h { |key, i| [key, body[i]] }
    old = header[:key] ? nil : @trees[header[:class]]
    state = header.merge(nodes: old ? old[:nodes] : {}, sites: old ? old[:sites] : {})
    (body[11] || []).each { |row| state[:nodes][row[0]] = Node.new(*row) }
    (body[12] || []).each { |row| state[:sites][row[0, 2]] = Site.new(*row[0, 5], row[5..]) }
    @trees[header[:class]] = state
  end

  def named?(tree)
    tree[:nodes].each_value.all? { |node| node.frame < 16 || @frames[node.frame]&.label.to_s != "" }
  end

  def apply_verdicts(body)
    body[0].each { |row| @verdicts[row[0]] = Verdict.new(VERDICTS[row[1]], row[2, 4], row[6]) }
  end

  def apply_tags(body)
    [@tags, @tag_names, @tag_classes].each(&:clear) if body[0]
    (body[1] || []).each { |id, text| @tag_names[id] = text }
    (body[2] || []).each { |row| @tags[row[0]] = Tag.new(*row[0, 7], row[7..]) }
    (body[3] || []).group_by(&:first).each do |tag, rows|
      @tag_classes[tag] = rows.map { |row| TagClass.new(*row[0, 5], row[5..]) }
    end
  end

  def apply_notice(body) = @notices[body[0]] = body[2]
  def apply_gap(body) = @gaps << [body[0], body[1]]
  def apply_group(body) = @groups << body.values_at(0, 1, 2)
  def apply_result(body) = @result = [body[0], body[1], body[2]]
  def apply_bye(body) = @bye = { reason: body[0], status: body[1], text: body[2] }
end
