# frozen_string_literal: true

# Ranks what sells, every few seconds, in a thread of its own. Makes a lot of
# objects, and keeps a few rankings: churn, as a healthy program has it.
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
    places = @catalog.sales.map { |name, pieces| Place.new(name, pieces) }
    places = places.sort_by { |place| [-place.pieces, place.name] }
    @rankings.push(Ranking.new(Time.now, places.first(10)))
    @rankings.shift if @rankings.size > @keep
  end
end
