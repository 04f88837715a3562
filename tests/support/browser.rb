# frozen_string_literal: true

require "io/nonblock"
require "json"
require "timeout"
require "zlib"

# A real browser without a window: headless Chromium, spoken to in its DevTools
# protocol over two pipes. One page, of which everything is written down that it said,
# asked of the network, or did wrong.
class Browser
  NAMES = %w[chromium-headless-shell chromium].freeze
  SECONDS = 60 # for one answer

  attr_reader :messages, :requests

  # Its program, nil when there is none.
  def self.path
    folders = ENV.fetch("PATH").split(":")
    NAMES.flat_map { |name| folders.map { |folder| File.join(folder, name) } }
         .find { |file| File.executable?(file) }
  end

  def initialize(folder, width: 1280, height: 900)
    to_browser, @input = IO.pipe
    @output, from_browser = IO.pipe
    # what the browser cannot read at once it takes for the end
    [to_browser, from_browser].each { |pipe| pipe.nonblock = false }
    @pid = Process.spawn(
      {"HOME" => folder}, self.class.path, "--headless", "--no-sandbox", "--disable-gpu",
      "--disable-dev-shm-usage", "--remote-debugging-pipe", "--user-data-dir=#{folder}/profile",
      "--window-size=#{width},#{height}", "--hide-scrollbars", "about:blank",
      3 => to_browser, 4 => from_browser, in: File::NULL, out: File::NULL, err: File::NULL, pgroup: true
    )
    [to_browser, from_browser].each(&:close)
    @buffer = String.new
    @last = 0
    @messages = []
    @requests = []
    @events = Hash.new(0)
    attach
  end

  # Ended as it wants to be, or not: all of its processes.
  def close
    call("Browser.close")
    Timeout.timeout(SECONDS) { Process.wait(@pid) }
  ensure
    Process.kill(:KILL, -@pid) rescue nil
    [@input, @output].each(&:close)
  end

  # Open a file and wait until it is there.
  def open(file)
    loaded = @events["Page.loadEventFired"]
    call("Page.navigate", url: "file://#{file}")
    receive until @events["Page.loadEventFired"] > loaded
  end

  def scripts=(allowed)
    call("Emulation.setScriptExecutionDisabled", value: !allowed)
  end

  # media: "screen" or "print"; scheme: "light" or "dark".
  def media(media, scheme)
    call("Emulation.setEmulatedMedia",
         media: media, features: [{name: "prefers-color-scheme", value: scheme}])
  end

  def resize(width, height)
    call("Emulation.setDeviceMetricsOverride",
         width: width, height: height, deviceScaleFactor: 1, mobile: false)
  end

  def evaluate(expression)
    answer = call("Runtime.evaluate", expression: expression, returnByValue: true)
    raise answer.inspect if answer["exceptionDetails"]

    answer.dig("result", "value")
  end

  # Click in the middle of what a selector finds.
  def click(selector)
    x, y = evaluate(<<~JS)
      (() => {
        const element = document.querySelector(#{selector.to_json});
        element.scrollIntoView({block: "center"});
        const box = element.getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];
      })()
    JS
    %w[mousePressed mouseReleased].each do |type|
      call("Input.dispatchMouseEvent", type: type, x: x, y: y, button: "left", clickCount: 1)
    end
  end

  # The whole page as a PNG, or what a selector finds.
  def screenshot(selector = "body")
    box = evaluate(<<~JS)
      (() => {
        const box = document.querySelector(#{selector.to_json}).getBoundingClientRect();
        return {x: box.x + scrollX, y: box.y + scrollY, width: box.width, height: box.height};
      })()
    JS
    answer = call("Page.captureScreenshot", format: "png", captureBeyondViewport: true,
                                            clip: box.merge("scale" => 1))
    answer.fetch("data").unpack1("m")
  end

  private

  def attach
    target = call("Target.getTargets").fetch("targetInfos").find { |info| info["type"] == "page" }
    @session = call("Target.attachToTarget", targetId: target["targetId"], flatten: true)
               .fetch("sessionId")
    %w[Page Runtime Log Network].each { |domain| call("#{domain}.enable") }
  end

  def call(method, **parameters)
    @last += 1
    request = {id: @last, method: method, params: parameters}
    request[:sessionId] = @session if @session && !method.start_with?("Browser.")
    @input.write(JSON.generate(request), "\0")
    @input.flush
    id = @last
    answer = receive until answer && answer["id"] == id
    raise "#{method}: #{answer['error']}" if answer["error"]

    answer["result"]
  end

  def receive
    Timeout.timeout(SECONDS) do
      @buffer << @output.readpartial(1 << 16) until @buffer.include?("\0")
    end
    message = JSON.parse(@buffer.slice!(0..@buffer.index("\0")).chomp("\0"))
    note(message["method"], message["params"]) if message["method"]
    message
  end

  def note(method, words)
    @events[method] += 1
    case method
    when "Network.requestWillBeSent" then @requests << words.dig("request", "url")
    when "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded" then @messages << words
    end
  end
end

# The pixels of a PNG of 8 bits a channel, as Chromium writes it.
class Picture
  attr_reader :width, :height, :rows

  def initialize(png)
    @width, @height, depth, kind = png[16, 10].unpack("NNCC")
    raise "not 8 bits of RGB" unless depth == 8 && [2, 6].include?(kind)

    @channels = kind == 2 ? 3 : 4
    @rows = unfilter(Zlib::Inflate.inflate(data(png)))
  end

  # Of a pixel: red, green, blue.
  def at(column, row)
    @rows[row][column * @channels, 3]
  end

  # Different colours among every n-th pixel.
  def colours(step: 7)
    (0...height).step(step).flat_map do |row|
      (0...width).step(step).map { |column| at(column, row) }
    end.uniq
  end

  private

  def data(png)
    found = String.new
    place = 8
    while place < png.bytesize
      length, type = png[place, 8].unpack("Na4")
      found << png[place + 8, length] if type == "IDAT"
      place += length + 12
    end
    found
  end

  def unfilter(bytes)
    size = width * @channels
    above = [0] * size
    bytes.bytes.each_slice(size + 1).map do |filter, *line|
      line.each_index { |i| line[i] = (line[i] + guess(filter, line, above, i)) & 255 }
      above = line
    end
  end

  def guess(filter, line, above, index)
    left = index < @channels ? 0 : line[index - @channels]
    case filter
    when 0 then 0
    when 1 then left
    when 2 then above[index]
    when 3 then (left + above[index]) / 2
    else paeth(left, above[index], index < @channels ? 0 : above[index - @channels])
    end
  end

  def paeth(left, up, corner)
    guess = left + up - corner
    [left, up, corner].min_by.with_index { |value, order| [(guess - value).abs, order] }
  end
end
