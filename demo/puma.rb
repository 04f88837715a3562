# frozen_string_literal: true

require "socket"

# How scripts/demo runs the shop: one process, a few threads, this machine only.
environment "production"
threads 4, 4
workers 0
tag "shop"

# Without a PORT any that is free, asked for here so that Puma's name shows it.
port = ENV.fetch("PORT") { TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] } }
bind "tcp://127.0.0.1:#{port}"
