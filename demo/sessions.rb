# frozen_string_literal: true

require_relative "cart"

# A customer who is in the shop.
Session = Struct.new(:id, :cart)

# All of them. A bounded store done right: beyond its limit, whoever was away
# longest is forgotten. It fills up, then stays level.
class Sessions
  def initialize(limit:)
    @limit = limit
    @sessions = {} # the one used last comes last
    @lock = Mutex.new
  end

  def fetch(id)
    @lock.synchronize do
      session = @sessions.delete(id) || Session.new(id, Cart.new)
      @sessions[id] = session
      @sessions.shift if @sessions.size > @limit
      session
    end
  end
end
