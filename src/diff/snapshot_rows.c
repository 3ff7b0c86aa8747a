/* SPDX-License-Identifier: MIT */
/* Access to the rows of two memory snapshots. */
#include "diff/snapshot_rows.h"

#include "base/attributes.h"

static struct snapshot_rows open_rows(const struct comparison *comparison, size_t side,
				      const char *table,
				      const char *const columns[READ_COLUMNS_MAX])
{
	struct snapshot_rows rows = {
		.view = tsi_lookup_table(comparison->sides[side].analysis, table),
	};

	for (size_t i = 0; i < READ_COLUMNS_MAX && columns[i]; i++)
		rows.columns[i] = tsi_table_column(&rows.view, columns[i]);
	return rows;
}

struct tscope_value tsi_rows_cell(const struct snapshot_rows *rows, size_t row, size_t column)
{
	return tsi_table_cell(&rows->view, row, rows->columns[column]);
}

int64_t tsi_rows_int(const struct snapshot_rows *rows, size_t row, size_t column)
{
	struct tscope_value value = tsi_rows_cell(rows, row, column);
	return value.kind == TSCOPE_VALUE_INT ? value.integer : 0;
}

const char *tsi_rows_text(const struct snapshot_rows *rows, size_t row, size_t column)
{
	struct tscope_value value = tsi_rows_cell(rows, row, column);
	return value.kind == TSCOPE_VALUE_TEXT ? value.text : "";
}

int64_t tsi_rows_device(const struct snapshot_pair *pair, const struct snapshot_rows *rows,
			size_t row)
{
	return pair->is_one_device ? pair->device : tsi_rows_int(rows, row, READ_DEVICE);
}

/* The device of all rows of a side; false: there are none, or they have several. */
static bool only_device(const struct snapshot_pair *pair, size_t side, int64_t *device)
{
	const struct snapshot_rows *tables_of_side[] = { &pair->sites[side],
							 &pair->segments[side] };
	bool is_known = false;

	for (size_t i = 0; i < TSI_COUNT_OF(tables_of_side); i++) {
		for (size_t row = 0; row < tables_of_side[i]->view.row_count; row++) {
			int64_t own = tsi_rows_int(tables_of_side[i], row, READ_DEVICE);
			if (is_known && own != *device)
				return false;
			*device = own;
			is_known = true;
		}
	}
	return is_known;
}

void tsi_snapshot_pair_open(struct snapshot_pair *ret, const struct comparison *comparison)
{
	static const char *const site_names[READ_COLUMNS_MAX] = {
		[READ_DEVICE] = "device",       [READ_SITE] = "site",
		[READ_END_BYTES] = "end_bytes", [READ_END_COUNT] = "end_count",
		[READ_PEAK_BYTES] = "bytes",
	};
	static const char *const segment_names[READ_COLUMNS_MAX] = {
		[READ_DEVICE] = "device",
		[READ_ADDRESS] = "address",
		[READ_RESERVED] = "reserved_bytes",
		[READ_ALLOCATED] = "allocated_bytes",
		[READ_POOL] = "pool",
		[READ_KIND] = "kind",
	};
	int64_t a_device = 0;

	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++) {
		ret->sites[i] = open_rows(comparison, i, "snapshot.sites", site_names);
		ret->segments[i] = open_rows(comparison, i, "snapshot.segments", segment_names);
	}
	ret->is_one_device = only_device(ret, TSCOPE_SIDE_A, &a_device) &&
			     only_device(ret, TSCOPE_SIDE_B, &ret->device);
}
