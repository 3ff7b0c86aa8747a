/* SPDX-License-Identifier: MIT */
/*
 * Reads both forms of a memory timeline. The .json form is [times, sizes]: microseconds, and for
 * each the bytes of every category in force after it, behind a column of zeros that torch's plot
 * stacks them on. The .raw.json form is rows of [time, action, bytes, category]: nanoseconds, and
 * what came (positive) or went (negative). Memory that existed before the profile began has the
 * time -1.
 */
#include "model/memory/memory_timeline.h"

#include "base/ckd.h"
#include "base/sum.h"

static const char *const names[] = { MEMORY_CATEGORIES(TSI_NAMED_TEXT) };

const char *tsi_memory_category_name(enum memory_category category)
{
	return names[category];
}

int64_t tsi_memory_point_bytes(const struct memory_point *point)
{
	int64_t sum = 0;

	for (size_t i = 0; i < MEMORY_CATEGORY_COUNT; i++)
		tsi_sum_signed(&sum, point->bytes[i]);
	return sum;
}

/* ---- which form -------------------------------------------------------------------------- */

enum raw_column { RAW_TIME, RAW_ACTION, RAW_BYTES, RAW_CATEGORY, RAW_COLUMN_COUNT };

enum raw_action {
	RAW_PREEXISTING = 1,
	RAW_CREATE,
	RAW_INCREMENT_VERSION, /* twice: -bytes of the old category, +bytes of the new one */
	RAW_DESTROY,
	RAW_ACTION_END,
};

enum { SIZES_COLUMN_COUNT = 1 + MEMORY_CATEGORY_COUNT, NS_PER_US = 1000 };

/* Rows may be damaged; among so many one is whole. */
enum { TASTED_ROWS = 16 };

/* A list of exactly so many integers; at most SIZES_COLUMN_COUNT. */
static bool read_row(const struct plain *plain, struct plain_value row, int64_t *numbers,
		     size_t count)
{
	struct plain_value items[SIZES_COLUMN_COUNT];

	if (!tsi_plain_is_list(row) || tsi_plain_length(plain, row) != count)
		return false;
	tsi_plain_items(plain, row, 0, items, count);
	for (size_t i = 0; i < count; i++)
		if (!tsi_plain_to_int64(plain, items[i], &numbers[i]))
			return false;
	return true;
}

static bool read_raw_row(const struct plain *plain, struct plain_value row,
			 int64_t numbers[RAW_COLUMN_COUNT])
{
	return read_row(plain, row, numbers, RAW_COLUMN_COUNT) &&
	       numbers[RAW_ACTION] >= RAW_PREEXISTING && numbers[RAW_ACTION] < RAW_ACTION_END &&
	       numbers[RAW_CATEGORY] >= 0 && numbers[RAW_CATEGORY] < MEMORY_CATEGORY_COUNT;
}

/* [times, sizes]; both may be empty. */
static bool is_pair(const struct plain *plain, struct plain_value root)
{
	struct plain_value times = tsi_plain_item(plain, root, 0);
	struct plain_value sizes = tsi_plain_item(plain, root, 1);

	if (tsi_plain_length(plain, root) != 2 || !tsi_plain_is_list(times) ||
	    !tsi_plain_is_list(sizes))
		return false;
	return tsi_plain_length(plain, sizes) == 0
		       ? tsi_plain_length(plain, times) == 0
		       : tsi_plain_is_list(tsi_plain_item(plain, sizes, 0));
}

static bool has_raw_rows(const struct plain *plain, struct plain_value root)
{
	struct plain_value rows[TASTED_ROWS];
	size_t count = tsi_plain_items(plain, root, 0, rows, TASTED_ROWS);
	int64_t numbers[RAW_COLUMN_COUNT];

	for (size_t i = 0; i < count; i++)
		if (read_raw_row(plain, rows[i], numbers))
			return true;
	return false;
}

bool tsi_is_memory_timeline(const struct plain *plain)
{
	struct plain_value root = tsi_plain_root(plain);

	return tsi_plain_is_list(root) && (is_pair(plain, root) || has_raw_rows(plain, root));
}

/* ---- reading ------------------------------------------------------------------------------ */

/* A new point, or NULL without memory. */
static struct memory_point *add_point(struct memory_timeline *timeline)
{
	return tsi_arena_push(&timeline->arena, &timeline->points, &timeline->count,
			      &timeline->capacity, sizeof(*timeline->points));
}

static bool read_point(const struct plain *plain, struct plain_value time, struct plain_value row,
		       struct memory_point *point)
{
	int64_t time_us, sizes[SIZES_COLUMN_COUNT];

	if (!tsi_plain_to_int64(plain, time, &time_us) ||
	    tsi_ckd_mul(&point->time_ns, time_us, NS_PER_US) ||
	    !read_row(plain, row, sizes, SIZES_COLUMN_COUNT))
		return false;
	for (size_t i = 0; i < MEMORY_CATEGORY_COUNT; i++)
		point->bytes[i] = sizes[1 + i];
	return true;
}

static void read_pair(struct memory_timeline *timeline, const struct plain *plain,
		      struct plain_value root)
{
	struct plain_value times = tsi_plain_item(plain, root, 0);
	struct plain_value sizes = tsi_plain_item(plain, root, 1);
	size_t time_count = tsi_plain_length(plain, times);
	size_t size_count = tsi_plain_length(plain, sizes);
	size_t count = time_count < size_count ? time_count : size_count;

	timeline->is_uneven = time_count != size_count;
	timeline->dropped_count = (time_count > size_count ? time_count : size_count) - count;
	for (size_t i = 0; i < count; i++) {
		struct memory_point point, *added;

		if (!read_point(plain, tsi_plain_item(plain, times, i),
				tsi_plain_item(plain, sizes, i), &point))
			timeline->dropped_count++;
		else if ((added = add_point(timeline)))
			*added = point;
	}
}

static void count_action(struct memory_timeline *timeline, int64_t action, int64_t bytes)
{
	uint64_t *const counts[RAW_ACTION_END] = {
		[RAW_PREEXISTING] = &timeline->preexisting_count,
		[RAW_CREATE] = &timeline->created_count,
		[RAW_INCREMENT_VERSION] = &timeline->changed_count,
		[RAW_DESTROY] = &timeline->destroyed_count,
	};

	++*counts[action];
	if (action == RAW_PREEXISTING)
		tsi_sum_signed(&timeline->preexisting_bytes, bytes);
}

/* Rows of equal time make one point: what holds between them is never a peak. */
static void add_raw_row(struct memory_timeline *timeline, const int64_t row[RAW_COLUMN_COUNT])
{
	size_t count = timeline->count;

	if (count == 0 || timeline->points[count - 1].time_ns != row[RAW_TIME]) {
		struct memory_point *added = add_point(timeline);
		if (!added)
			return;
		if (count)
			*added = timeline->points[count - 1];
		added->time_ns = row[RAW_TIME];
	}
	tsi_sum_signed(&timeline->points[timeline->count - 1].bytes[row[RAW_CATEGORY]],
		       row[RAW_BYTES]);
	count_action(timeline, row[RAW_ACTION], row[RAW_BYTES]);
}

static void read_raw(struct memory_timeline *timeline, const struct plain *plain,
		     struct plain_value root)
{
	size_t row_count = tsi_plain_length(plain, root);

	timeline->is_raw = true;
	timeline->row_count = row_count;
	for (size_t i = 0; i < row_count; i++) {
		int64_t row[RAW_COLUMN_COUNT];

		if (read_raw_row(plain, tsi_plain_item(plain, root, i), row))
			add_raw_row(timeline, row);
		else
			timeline->dropped_count++;
	}
	timeline->changed_count /= 2;
}

/* Memory that existed before the profile begins with the rest. */
static void settle_times(struct memory_timeline *timeline)
{
	int64_t earliest_ns = INT64_MAX;

	for (size_t i = 0; i < timeline->count; i++) {
		int64_t time_ns = timeline->points[i].time_ns;
		if (time_ns >= 0 && time_ns < earliest_ns)
			earliest_ns = time_ns;
	}
	if (earliest_ns == INT64_MAX)
		earliest_ns = NO_MEMORY_TIME_NS;
	for (size_t i = 0; i < timeline->count; i++)
		if (timeline->points[i].time_ns < 0)
			timeline->points[i].time_ns = earliest_ns;
}

void tsi_memory_timeline_init(struct memory_timeline *timeline, const struct plain *plain)
{
	struct plain_value root = tsi_plain_root(plain);

	*timeline = (struct memory_timeline){ 0 };
	if (is_pair(plain, root))
		read_pair(timeline, plain, root);
	else
		read_raw(timeline, plain, root);
	settle_times(timeline);
}
