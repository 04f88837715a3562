# frozen_string_literal: true

require "test_helper"
require "browser"
require "digest"
require "open3"
require "tmpdir"

# The HTML report as somebody's browser shows it.
class HtmlReportTest < Minitest::Test
  LIBRARIES = $LOAD_PATH.grep(%r{/build[^/]*/lib\z}).first || File.expand_path("build/lib")
  WRITER = File.join(File.dirname(LIBRARIES), "tests/write_report")

  def setup
    skip "no Chromium here: scripts/setup test" unless Browser.path
    @folder = Dir.mktmpdir("memtop-test")
    @file = File.join(@folder, "report.html")
    @text, status = Open3.capture2({"TZ" => "UTC"}, WRITER, "2000")
    assert status.success?
    File.write(@file, @text)
    @browser = Browser.new(@folder)
  end

  def teardown
    @browser&.close
    FileUtils.rm_rf(@folder) if @folder
  end

  def test_opens_without_a_word_and_asks_for_nothing
    @browser.open(@file)
    assert_empty @browser.messages
    assert_equal ["file://#{@file}"], @browser.requests
    assert_equal "CSS1Compat", js("document.compatMode")
  end

  def test_the_policy_has_the_hashes_of_what_is_inside
    style = @text[%r{<style>(.*?)</style>}m, 1]
    script = @text[%r{<script>(.*?)</script>}m, 1]
    [["style", style], ["script", script]].each do |kind, bytes|
      assert_includes @text, "#{kind}-src 'sha256-#{Digest::SHA256.base64digest(bytes)}'"
    end
  end

  def test_the_policy_forbids_everything_else
    @browser.open(@file)
    js <<~JS
      const script = document.createElement("script");
      script.textContent = "window.ran = true";
      document.body.append(script);
      const image = document.createElement("img");
      image.src = "file://#{@file}";
      document.body.append(image);
      document.body.setAttribute("style", "color: red");
    JS
    assert_nil js("window.ran")
    refute_equal "rgb(255, 0, 0)", js("getComputedStyle(document.body).color")
    assert_equal 0, js("document.images[0].naturalWidth")
    refute_empty @browser.messages
  end

  def test_a_hostile_name_stays_a_name
    @browser.open(@file)
    refute_equal "owned", js("document.title")
    assert_equal 0, js("document.images.length")
    assert_includes names, "</script><img src=x onerror=\"document.title='owned'\">\\xFF'&amp;"
  end

  def test_a_click_on_a_head_sorts
    @browser.open(@file)
    before = names
    @browser.click("table.classes th:nth-child(2) button")
    live = column(2)
    assert_equal live.sort.reverse, live
    assert_equal "descending", js('document.querySelector("table.classes th:nth-child(2)").ariaSort')
    assert_nil js('document.querySelector("table.classes th:nth-child(3)").ariaSort')
    @browser.click("table.classes th:nth-child(2) button")
    assert_equal live.reverse, column(2)
    @browser.click("table.classes th:nth-child(1) button")
    assert_equal before.map(&:downcase).sort, names.map(&:downcase)
    assert_equal before.sort, names.sort
  end

  # The hostile class has no age.
  def test_what_nobody_measured_is_last_whichever_way
    @browser.open(@file)
    2.times do
      @browser.click("table.classes th:nth-child(7) button")
      assert_nil column(7).last
      assert_equal 1, column(7).count(nil)
    end
  end

  def test_searching_hides_the_other_classes
    @browser.open(@file)
    js <<~JS
      const search = document.querySelector("input[type=search]");
      search.value = "order";
      search.dispatchEvent(new Event("input"));
    JS
    shown = js('[...document.querySelectorAll("table.classes tbody tr")].filter(row => row.offsetHeight > 0).length')
    assert_equal 2, shown
  end

  def test_trees_open_and_close_as_a_whole
    @browser.open(@file)
    all = js('document.querySelectorAll(".tree details").length')
    assert_operator js('document.querySelectorAll(".tree details[open]").length'), :<, all
    js('document.querySelectorAll(".calls .tools button:first-child").forEach(button => button.click())')
    assert_equal all, js('document.querySelectorAll(".tree details[open]").length')
    js('document.querySelectorAll(".calls .tools button:last-child").forEach(button => button.click())')
    assert_equal 0, js('document.querySelectorAll(".tree details[open]").length')
  end

  def test_without_scripts_everything_can_be_read
    @browser.scripts = false
    @browser.open(@file)
    assert_equal 0, js('document.querySelectorAll("button, input").length')
    assert_equal 18, names.size
    assert_equal 12, js('[...document.querySelectorAll("figure svg")].filter(svg => svg.getBoundingClientRect().height > 50).length')
    @browser.click(".data summary")
    assert_equal 96, js('[...document.querySelectorAll("#charts tbody tr")].filter(row => row.offsetHeight > 0).length')
    assert_empty @browser.messages
    assert_operator picture("figure.wide").colours.size, :>, 20
  end

  def test_is_light_or_dark_as_one_likes_and_light_on_paper
    @browser.open(@file)
    seen = [%w[screen light], %w[screen dark], %w[print dark]].map do |media, scheme|
      @browser.media(media, scheme)
      shown = picture("header")
      assert_operator shown.colours.size, :>, 20, "#{media}, #{scheme}: blank"
      shown.at(0, 0).sum
    end
    assert_operator seen[0], :>, 700
    assert_operator seen[1], :<, 100
    assert_operator seen[2], :>, 700
  end

  # 400 pixels is a telephone.
  def test_fits_whatever_the_window
    @browser.open(@file)
    [400, 800, 1600].each do |width|
      @browser.resize(width, 900)
      assert_operator js("document.documentElement.scrollWidth"), :<=, width
    end
  end

  def test_says_what_is_under_the_pointer
    @browser.open(@file)
    titles = js('[...document.querySelectorAll("figure.wide .hit title")].map(title => title.textContent)')
    assert_equal 2 * 96, titles.size
    assert_match(/\A21:58:30   4[0-9.]+\u202fMiB\z/, titles.first)
    assert_equal "img", js('document.querySelector("figure.wide svg").getAttribute("role")')
    assert_match(/\AResident memory: from /, js('document.querySelector("figure.wide svg").ariaLabel'))
  end

  private

  def js(expression)
    @browser.evaluate(expression)
  end

  def picture(selector)
    Picture.new(@browser.screenshot(selector))
  end

  def names
    js('[...document.querySelectorAll("table.classes tbody th")].map(cell => cell.textContent)')
  end

  # Numbers, as the cells have them for sorting.
  def column(number)
    js(<<~JS)
      [...document.querySelectorAll("table.classes tbody tr > :nth-child(#{number})")]
        .map(cell => cell.dataset.value === undefined ? null : Number(cell.dataset.value))
    JS
  end
end
