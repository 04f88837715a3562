# frozen_string_literal: true

require "msgpack"
require "socket"
require "zlib"

# A viewer for tests: speaks memtop's protocol with Ruby's msgpack and nothing of
# memtop's own code.
class MemtopClient
  HEADER = "a4NCCnNQ>Q>"
  HEADER_BYTES = 32
  KINDS = { 1 => :hello, 2 => :names, 3 => :sample, 4 => :notice, 5 => :result, 6 => :bye }.freeze
  ACTIONS = { gc: 1, census: 2, mode: 3, key: 4 }.freeze
  MODES = %w[dormant census count trace].freeze
  Row = Struct.new(:id, :live, :allocated, :freed, :bytes)
  PROCESS = %i[rss heap_live heap_free gc_count gc_major gc_ms heap_age_ms].freeze
  PROBE = %i[cost_ppm drift drift_total dropped_frames census_us census_objects viewers].freeze

  attr_reader :hello, :names, :flags, :rows, :notices, :process, :probe, :totals, :mode, :bye, :samples, :keys

  def initialize(path, greet: true, timeout: 20)
    @path = path
    @timeout = timeout
    @socket = UNIXSocket.new(path)
    @names = {}
    @flags = {}
    @rows = {}
    @notices = {}
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

  def mode!(name) = request(:mode, MODES.index(name))

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

  def apply_notice(body) = @notices[body[0]] = body[2]
  def apply_result(body) = @result = [body[0], body[1], body[2]]
  def apply_bye(body) = @bye = { reason: body[0], status: body[1], text: body[2] }
end
