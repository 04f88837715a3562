# frozen_string_literal: true

# Documents written and read again, as a web application does all day.
require "json"
require_relative "../load"

DOCUMENT = {
  "id" => 7, "customer" => "Ada", "paid" => true, "note" => nil,
  "lines" => Array.new(20) { |i| { "name" => "Product #{i}", "price" => i * 1.5, "tags" => %w[new red] } }
}.freeze

Load.measure { 12_000.times { JSON.parse(JSON.generate(DOCUMENT)) } }
