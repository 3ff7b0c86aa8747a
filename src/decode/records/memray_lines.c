/* SPDX-License-Identifier: MIT */
/*
 * Line tables of code objects. CPython wrote them in three ways: co_lnotab up to 3.9, pairs of
 * bytes that name ranges in 3.10, entries of several forms with columns from 3.11 on.
 */
#include "decode/records/memray_lines.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/error.h"

enum { MAX_LINES = 1 << 26 };

/* A table that is being decoded. */
struct table {
	const unsigned char *at, *end;
	uint32_t line; /* wraps as the writer's does */
	struct memray_lines *lines;
	size_t first;
	struct tscope_error *err;
};

/* The instructions up to `end` are of this line. Neighbours of one line become one range. */
static enum tscope_status add_range(struct table *table, uint32_t end, uint32_t line)
{
	struct memray_lines *lines = table->lines;
	struct memray_line range = { .end = end, .line = (int32_t)line > 0 ? (int32_t)line : 0 };

	if (lines->count > table->first && lines->items[lines->count - 1].line == range.line) {
		lines->items[lines->count - 1].end = end;
		return TSCOPE_OK;
	}
	if (lines->count >= MAX_LINES)
		return tsi_fail(table->err, TSCOPE_E_LIMIT,
				"line tables of more than %d lines (limit: lines)", MAX_LINES);
	if (tsi_array_reserve(&lines->items, &lines->capacity, lines->count + 1,
			      sizeof(*lines->items), table->err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	lines->items[lines->count++] = range;
	return TSCOPE_OK;
}

static uint32_t sign_extended(unsigned char byte)
{
	return (uint32_t)(int32_t)(signed char)byte;
}

/* Up to 3.9: so many bytes of code further on, the line is so much larger. The last one stays. */
static enum tscope_status decode_lnotab(struct table *table)
{
	enum tscope_status status = TSCOPE_OK;
	uint32_t end = 0;

	for (; table->end - table->at >= 2 && status == TSCOPE_OK; table->at += 2) {
		end += table->at[0];
		if (table->at[0])
			status = add_range(table, end, table->line);
		table->line += sign_extended(table->at[1]);
	}
	return status == TSCOPE_OK ? add_range(table, UINT32_MAX, table->line) : status;
}

/* 3.10: ranges of so many bytes of code, whose line is so much larger; frames count in words. */
static enum tscope_status decode_pairs(struct table *table)
{
	enum { NO_LINE = 0x80 };
	enum tscope_status status = TSCOPE_OK;
	uint32_t end = 0;

	for (; table->end - table->at >= 2 && status == TSCOPE_OK; table->at += 2) {
		bool has_line = table->at[1] != NO_LINE;
		end += table->at[0];
		if (has_line)
			table->line += sign_extended(table->at[1]);
		if (table->at[0])
			status = add_range(table, (end + 1) / 2, has_line ? table->line : 0);
	}
	return status;
}

/* ---- from 3.11 on ------------------------------------------------------------------------ */

/* 6 bits a byte, the low ones first. False: the table ends inside it, or it is too long. */
static bool take_number(struct table *table, uint32_t *number)
{
	enum { MORE = 0x40, BITS = 0x3f };
	unsigned shift = 0;
	unsigned char byte;

	*number = 0;
	do {
		if (table->at == table->end || shift > 30)
			return false;
		byte = *table->at++;
		*number |= (uint32_t)(byte & BITS) << shift;
		shift += 6;
	} while (byte & MORE);
	return true;
}

static bool take_line_delta(struct table *table)
{
	uint32_t number;

	if (!take_number(table, &number))
		return false;
	table->line += number & 1 ? 0 - (number >> 1) : number >> 1;
	return true;
}

/* End line, column and end column. */
static bool skip_numbers(struct table *table)
{
	uint32_t number;

	return take_number(table, &number) && take_number(table, &number) &&
	       take_number(table, &number);
}

static bool skip_bytes(struct table *table, ptrdiff_t count)
{
	if (table->end - table->at < count)
		return false;
	table->at += count;
	return true;
}

/* Reads the rest of an entry after its first byte; false: the table is broken here. */
static bool take_entry(struct table *table, unsigned code)
{
	enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NO_LINE = 15 };

	if (code == NO_LINE)
		return true;
	if (code == LONG)
		return take_line_delta(table) && skip_numbers(table);
	if (code == NO_COLUMNS)
		return take_line_delta(table);
	if (code < ONE_LINE)
		return skip_bytes(table, 1);
	table->line += code - ONE_LINE;
	return skip_bytes(table, 2);
}

static enum tscope_status decode_entries(struct table *table)
{
	enum { IS_FIRST = 0x80, NO_LINE = 15, BYTES_PER_UNIT = 2 };
	enum tscope_status status = TSCOPE_OK;
	uint32_t end = 0;

	while (table->at < table->end && status == TSCOPE_OK) {
		unsigned first = *table->at++;
		unsigned code = first >> 3 & 15;
		if (!(first & IS_FIRST) || !take_entry(table, code))
			break;
		end += ((first & 7) + 1) * BYTES_PER_UNIT;
		status = add_range(table, end, code == NO_LINE ? 0 : table->line);
	}
	return status;
}

/* ---- all --------------------------------------------------------------------------------- */

/* The last row whose version is not later. */
static const struct {
	int32_t python_version;
	enum tscope_status (*decode)(struct table *table);
} decoders[] = {
	{ INT32_MIN, decode_lnotab },
	{ 0x030a0000, decode_pairs },
	{ 0x030b0000, decode_entries },
};

enum tscope_status tsi_memray_lines_add(struct memray_lines *lines, int32_t python_version,
					struct str text, struct memray_line_range *range,
					struct tscope_error *err)
{
	const unsigned char *bytes = (const unsigned char *)text.data;
	struct table table = { .at = bytes,
			       .end = bytes + text.length,
			       .line = (uint32_t)range->first_line,
			       .lines = lines,
			       .first = lines->count,
			       .err = err };
	size_t i = TSI_COUNT_OF(decoders) - 1;

	while (python_version < decoders[i].python_version)
		i--;
	enum tscope_status status = decoders[i].decode(&table);
	range->first = table.first;
	range->count = lines->count - table.first;
	return status;
}

void tsi_memray_lines_deinit(struct memray_lines *lines)
{
	free(lines->items);
	*lines = (struct memray_lines){ 0 };
}

int32_t tsi_memray_lines_find(const struct memray_lines *lines, struct memray_line_range range,
			      int32_t offset)
{
	size_t low = range.first, high = range.first + range.count;

	if (offset < 0)
		return range.first_line > 0 ? range.first_line : 0;
	TSI_BISECT(low, high, lines->items[middle].end <= (uint32_t)offset);
	return low < range.first + range.count ? lines->items[low].line : 0;
}
