# frozen_string_literal: true

# Ranks what sells, every few seconds, in a thread of its own. Makes objects all
# the time and keeps the last few rankings: churn, as a healthy program has it.
class Bestsellers
  Ranking = Struct.new(:made_at, :places)
  Place = Struct.new(:name, :pieces)

  PAUSE = 5 # seconds

  def initialize(catalog, keep:)
    @catalog = catalog
    @keep = keep
    @rankings = []
  end

  def start
    @thread = Thread.new do
      loop do
        rank
        sleep PAUSE
      end
    end
    @thread.name = "bestsellers"
    self
  end

  # The names of the three that sell best.
  def latest
    (@rankings.last&.places || []).first(3).map(&:name)
  end

  private

  def rank
    best = @catalog.sales.max_by(10) { |name, pieces| [pieces, name] }
    places = best.map { |name, pieces| Place.new(name, pieces) }
    @rankings.push(Ranking.new(Time.now, places))
    @rankings.shift if @rankings.size > @keep
  end
end
