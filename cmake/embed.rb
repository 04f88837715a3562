#!/usr/bin/env ruby
# frozen_string_literal: true

# embed.rb OUT FILE…: files as arrays in C, with what a Content-Security-Policy calls
# them. "report.css" becomes `asset_report_css`; tui/export/assets.h declares them.
#
# What is embedded stands in a <style> or <script> as it is, which HTML ends at the
# first "</" and XML reads as markup: so it has neither "<" nor "&".

require "digest"

out, *files = ARGV

def array(bytes)
  bytes.each_slice(16).map { |slice| "    #{slice.join(', ')}," }.join("\n")
end

def definition(file)
  text = File.binread(file)
  abort "#{file}: has a < or a &, and may not" if text.match?(/[<&]/n)
  abort "#{file}: is not ASCII" unless text.ascii_only?
  name = File.basename(file).tr("^a-z0-9", "_")
  <<~C
    static const char #{name}[] = {
    #{array(text.bytes + [0])}
    };
    const struct asset asset_#{name} = {
        #{name},
        "sha256-#{Digest::SHA256.base64digest(text)}",
    };
  C
end

body = files.map { |file| definition(file) }
File.write(out, ["#include \"tui/export/assets.h\"\n", *body].join("\n"))
