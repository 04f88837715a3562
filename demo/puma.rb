# frozen_string_literal: true

# How scripts/demo runs the shop: one process, a few threads, this machine only.
environment "production"
threads 4, 4
workers 0
tag "shop"
bind "tcp://127.0.0.1:#{ENV.fetch('PORT', '0')}" # 0: any free port
