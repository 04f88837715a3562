# frozen_string_literal: true

# The demo application in Puma, under HTTP requests from another process:
# CPU seconds of the server for a fixed number of them.
require "io/console"
require "json"
require "net/http"
require "rbconfig"
require "socket"

REQUESTS = 1500
ROOT = File.expand_path("../..", __dir__)

def free_port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }

def cpu_seconds(pid)
  fields = File.read("/proc/#{pid}/stat").rpartition(")").last.split
  (fields[11].to_i + fields[12].to_i) / Etc.sysconf(Etc::SC_CLK_TCK).to_f
end

def rss(pid) = File.read("/proc/#{pid}/statm").split[1].to_i * 4096

def wait_for(port)
  200.times do
    return TCPSocket.new("127.0.0.1", port).close
  rescue Errno::ECONNREFUSED
    sleep 0.05
  end
  abort "the shop did not start"
end

def visit(http, number)
  session = { "Cookie" => "session=#{number % 50}", "Content-Type" => "application/x-www-form-urlencoded" }
  http.get("/products?page=#{number % 5 + 1}")
  http.post("/cart", "product=#{number % 200 + 1}", session)
  http.post("/orders", "", session)
end

require "etc"
require "uri"

port = free_port
shop = Process.spawn({ "PORT" => port.to_s, "RACK_ENV" => "production" }, RbConfig.ruby, *ARGV, "-S", "puma",
                     "-C", "demo/puma.rb", "demo/app.ru", chdir: ROOT, %i[out err] => File::NULL)
begin
  wait_for(port)
  Net::HTTP.start("127.0.0.1", port) do |http|
    100.times { |number| visit(http, number) } # warm
    before = cpu_seconds(shop)
    (REQUESTS / 3).times { |number| visit(http, number) }
    puts JSON.generate(seconds: cpu_seconds(shop) - before, rss: rss(shop), kept: 0)
  end
ensure
  Process.kill(:KILL, shop)
  Process.wait(shop)
end
