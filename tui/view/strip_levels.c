#include "tui/view/strip_levels.h"

#include <math.h>

// Of a cell while it is filled.
struct heap {
    bool own;     // a point is in it, not only one from before
    double sum;   // of collections
    double known; // part of the cell that they were counted in, 0 to 1
};

int
strip_levels_cell(const struct strip_data *data, int cells, uint64_t wall_us)
{
    if (wall_us >= data->to_us || data->from_us >= data->to_us) {
        return cells - 1;
    }
    if (wall_us <= data->from_us) {
        return 0;
    }
    double share = (double)(wall_us - data->from_us) /
                   (double)(data->to_us - data->from_us) * (double)cells;
    int cell = (int)share;
    return cell < cells ? cell : cells - 1;
}

static uint64_t
value_of(const struct strip_point *point, enum strip_series series)
{
    return series == STRIP_RSS   ? point->rss_bytes
           : series == STRIP_GCS ? point->gc_count
                                 : point->live;
}

static void
widen(struct strip_level *level, double value)
{
    level->low = !level->known || value < level->low ? value : level->low;
    level->high = !level->known || value > level->high ? value : level->high;
    level->known = true;
}

// The first gap that begins at `from_us` or later, and before `to_us`; or NULL. Gaps are
// in order.
static const struct strip_gap *
gap_between(const struct strip_data *data, uint64_t from_us, uint64_t to_us)
{
    size_t low = 0;
    size_t high = data->gap_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (data->gaps[middle].from_us < from_us) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < data->gap_count && data->gaps[low].from_us < to_us;
    return found ? &data->gaps[low] : NULL;
}

// A value was there from one time to another.
static void
hold(struct strip_levels *levels, const struct strip_data *data, uint64_t value,
     uint64_t from_us, uint64_t to_us)
{
    if (value == COUNT_UNKNOWN || to_us < data->from_us || from_us > to_us) {
        return;
    }
    int last = strip_levels_cell(data, levels->cells, to_us);
    for (int i = strip_levels_cell(data, levels->cells, from_us); i <= last; i++) {
        widen(&levels->list[i], (double)value);
    }
}

static void
make_values(struct strip_levels *levels, struct heap *heaps,
            const struct strip_data *data)
{
    for (size_t i = 0; i < data->point_count; i++) {
        const struct strip_point *point = &data->points[i];
        uint64_t value = value_of(point, data->series);
        uint64_t next_us =
            i + 1 < data->point_count ? data->points[i + 1].wall_us : data->to_us;
        if (point->wall_us > data->to_us) {
            continue;
        }
        if (point->wall_us >= data->from_us) {
            int cell = strip_levels_cell(data, levels->cells, point->wall_us);
            heaps[cell].own = true;
            if (value != COUNT_UNKNOWN) {
                widen(&levels->list[cell], (double)value);
            }
        }
        const struct strip_gap *gap = gap_between(data, point->wall_us, next_us);
        next_us = gap != NULL ? gap->from_us : next_us;
        if (next_us > point->wall_us) {
            // up to the next point, whose cell has a value of its own
            hold(levels, data, value, point->wall_us, next_us - 1);
        }
    }
}

// Spread the collections between two points over the cells between them.
static void
spread(struct heap *heaps, const struct strip_data *data, int cells,
       const struct strip_point *from, const struct strip_point *to)
{
    if (from->gc_count == COUNT_UNKNOWN || to->gc_count == COUNT_UNKNOWN ||
        to->gc_count < from->gc_count || to->wall_us <= from->wall_us ||
        gap_between(data, from->wall_us, to->wall_us) != NULL) {
        return;
    }
    double per_us =
        (double)(to->gc_count - from->gc_count) / (double)(to->wall_us - from->wall_us);
    double cell_us = (double)(data->to_us - data->from_us) / (double)cells;
    // in cells, from the start of the span
    double begin = ((double)from->wall_us - (double)data->from_us) / cell_us;
    double end = ((double)to->wall_us - (double)data->from_us) / cell_us;
    begin = fmax(begin, 0);
    end = fmin(end, (double)cells);
    for (int i = (int)begin; i < cells && (double)i < end; i++) {
        double part = fmin(end, (double)i + 1) - fmax(begin, (double)i);
        heaps[i].sum += part * cell_us * per_us;
        heaps[i].known += part;
    }
}

static void
make_collections(struct strip_levels *levels, struct heap *heaps,
                 const struct strip_data *data)
{
    for (size_t i = 0; i + 1 < data->point_count && data->from_us < data->to_us; i++) {
        const struct strip_point *from = &data->points[i];
        const struct strip_point *to = &data->points[i + 1];
        if (to->wall_us > data->from_us && from->wall_us < data->to_us) {
            spread(heaps, data, levels->cells, from, to);
        }
    }
    for (int i = 0; i < levels->cells; i++) {
        heaps[i].own = heaps[i].known > 0;
        if (heaps[i].own) {
            widen(&levels->list[i], heaps[i].sum / heaps[i].known);
        }
    }
}

static void
make_gaps(struct strip_levels *levels, const struct heap *heaps,
          const struct strip_data *data)
{
    for (size_t i = 0; i < data->gap_count; i++) {
        const struct strip_gap *gap = &data->gaps[i];
        if (gap->to_us < data->from_us || gap->from_us > data->to_us) {
            continue;
        }
        int last = strip_levels_cell(data, levels->cells, gap->to_us);
        for (int cell = strip_levels_cell(data, levels->cells, gap->from_us);
             cell <= last; cell++) {
            if (!heaps[cell].own) {
                levels->list[cell] = (struct strip_level){.gap = true};
            }
        }
    }
}

// What a cell shows: its highest value, unless it is the lowest that stands out.
static double
shown(const struct strip_levels *levels, int cell)
{
    const struct strip_level *level = &levels->list[cell];
    double floor = INFINITY; // of the neighbours
    double ceiling = -INFINITY;
    for (int beside = cell - 1; beside <= cell + 1; beside += 2) {
        if (beside >= 0 && beside < levels->cells && levels->list[beside].known) {
            floor = fmin(floor, levels->list[beside].low);
            ceiling = fmax(ceiling, levels->list[beside].high);
        }
    }
    if (floor > ceiling) {
        return level->high; // it has none
    }
    double fall = floor - level->low;
    double rise = level->high - ceiling;
    return fall > rise && fall >= (level->high - level->low) / 2 ? level->low
                                                                 : level->high;
}

void
strip_levels_make(struct strip_levels *levels, const struct strip_data *data, int cells)
{
    struct heap heaps[STRIP_CELLS_MAX] = {{0}};
    levels->cells = cells;
    for (int i = 0; i < cells; i++) {
        levels->list[i] = (struct strip_level){0};
    }
    if (data->series == STRIP_GCS) {
        make_collections(levels, heaps, data);
    } else {
        make_values(levels, heaps, data);
    }
    make_gaps(levels, heaps, data);
    for (int i = 0; i < cells; i++) {
        if (levels->list[i].known) {
            levels->list[i].value = shown(levels, i);
        }
    }
}
