/* SPDX-License-Identifier: MIT */
/*
 * Output of `memray stats --json`: totals, sizes, allocators, and the places that allocated most,
 * in bytes and in number. The two lists of places name some in common: a place has one row, and
 * what neither list says of it stays unknown. Anything but the totals may be missing.
 */
#include "model/memory/host_memory.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/key_map.h"

enum { NOT_SAID = -1, MS_PER_S = 1000, MAX_TEXTS = 1 << 20 };

static struct plain_value find(const struct plain *plain, struct plain_value dict, const char *key)
{
	return tsi_plain_find(plain, dict, tsi_str_of(key));
}

/* A number ≥ 0, or NOT_SAID. */
static int64_t find_number(const struct plain *plain, struct plain_value dict, const char *key)
{
	int64_t number;

	if (!tsi_plain_to_int64(plain, find(plain, dict, key), &number) || number < 0)
		return NOT_SAID;
	return number;
}

static signed char find_flag(const struct plain *plain, struct plain_value dict, const char *key)
{
	bool flag;

	return tsi_plain_to_bool(find(plain, dict, key), &flag) ? flag : NOT_SAID;
}

bool tsi_is_memray_stats(const struct plain *plain)
{
	struct plain_value root = tsi_plain_root(plain);

	return tsi_plain_kind(find(plain, root, "total_num_allocations")) == PLAIN_INT &&
	       tsi_plain_kind(find(plain, root, "total_bytes_allocated")) == PLAIN_INT &&
	       tsi_plain_kind(find(plain, root, "metadata")) == PLAIN_DICT;
}

/* ---- times -------------------------------------------------------------------------------- */

/* Takes up to `most` digits off; false: there is none. */
static bool take_digits(struct str *text, size_t most, int64_t *number)
{
	size_t count = 0;

	*number = 0;
	while (count < most && count < text->length && tsi_is_digit(text->data[count]))
		*number = *number * 10 + (text->data[count++] - '0');
	*text = tsi_str_tail(*text, count);
	return count > 0;
}

static bool take_sign(struct str *text, const char *signs, char *sign)
{
	if (text->length == 0 || !strchr(signs, text->data[0]))
		return false;
	*sign = text->data[0];
	*text = tsi_str_tail(*text, 1);
	return true;
}

/* Days since 1 March of the year 0: years begin in March, so that leap days are last. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
	int64_t y = month > 2 ? year : year - 1, m = (month + 9) % 12;

	return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day;
}

/* "2026-05-04 12:30:00.250000+02:00"; fraction and zone may be missing. */
static bool parse_time(struct str text, int64_t *time_ms)
{
	static const char *const separators[] = { "-", "-", " T", ":", ":" };
	int64_t part[6] = { 0 }, hours = 0, minutes = 0, fraction = 0;
	char sign = '+';

	for (size_t i = 0; i < TSI_COUNT_OF(part); i++)
		if ((i > 0 && !take_sign(&text, separators[i - 1], &sign)) ||
		    !take_digits(&text, 4, &part[i]))
			return false;
	if (part[0] == 0 || part[1] < 1 || part[1] > 12)
		return false;
	if (take_sign(&text, ".", &sign)) {
		size_t length = text.length;

		(void)take_digits(&text, 3, &fraction);
		for (size_t i = length - text.length; i < 3; i++)
			fraction *= 10;
		text = tsi_str_tail(text, tsi_count_digits(text));
	}
	sign = '+';
	if (take_sign(&text, "+-", &sign) && take_digits(&text, 2, &hours) &&
	    take_sign(&text, ":", &(char){ 0 }))
		(void)take_digits(&text, 2, &minutes);
	minutes = 60 * (part[3] - (sign == '+' ? hours : -hours)) + part[4] -
		  (sign == '+' ? minutes : -minutes);
	*time_ms =
		((days_of(part[0], part[1], part[2]) * 1440 + minutes) * 60 + part[5]) * MS_PER_S +
		fraction;
	return true;
}

/* ---- parts -------------------------------------------------------------------------------- */

static enum tscope_status read_metadata(struct host_memory *host, const struct plain *plain,
					struct plain_value metadata, struct tscope_error *err)
{
	int64_t start_ms, end_ms;

	host->at_peak.bytes = find_number(plain, metadata, "peak_memory");
	host->pid = find_number(plain, metadata, "pid");
	host->has_native_stacks = find_flag(plain, metadata, "has_native_traces");
	host->traces_python_allocators = find_flag(plain, metadata, "trace_python_allocators");
	if (parse_time(tsi_plain_text(plain, find(plain, metadata, "start_time")), &start_ms) &&
	    parse_time(tsi_plain_text(plain, find(plain, metadata, "end_time")), &end_ms) &&
	    end_ms >= start_ms)
		host->capture_ms = end_ms - start_ms;
	return tsi_intern_add(&host->texts,
			      tsi_plain_text(plain, find(plain, metadata, "command_line")),
			      &host->command_line, err);
}

/* "MALLOC", "PYMALLOC_FREE": as memray's enum names them. */
static void read_allocators(struct host_memory *host, const struct plain *plain,
			    struct plain_value dict)
{
	size_t count = tsi_plain_length(plain, dict);

	for (size_t i = 0; i < count; i++) {
		struct str name = tsi_plain_text(plain, tsi_plain_key(plain, dict, i));
		size_t known = 0;
		int64_t number;

		while (known < MEMRAY_ALLOCATOR_COUNT &&
		       !tsi_str_equal_nocase(name, tsi_str_of(tsi_memray_allocator_name(
							   (enum memray_allocator)known))))
			known++;
		if (known < MEMRAY_ALLOCATOR_COUNT &&
		    tsi_plain_to_int64(plain, tsi_plain_value(plain, dict, i), &number) &&
		    number >= 0)
			host->allocators[known] = (struct host_use){ NOT_SAID, number };
		else
			host->dropped_count++;
	}
}

static void read_sizes(struct host_memory *host, const struct plain *plain, struct plain_value list)
{
	size_t count = tsi_plain_length(plain, list);

	for (size_t i = 0; i < count; i++) {
		struct plain_value row = tsi_plain_item(plain, list, i);
		struct host_size size = {
			.min_bytes = find_number(plain, row, "min_bytes"),
			.max_bytes = find_number(plain, row, "max_bytes"),
			.count = find_number(plain, row, "count"),
		};

		if (size.min_bytes < 0 || size.max_bytes < 0 || size.count < 0 ||
		    host->size_count == HOST_SIZES)
			host->dropped_count++;
		else if (size.count > 0)
			host->sizes[host->size_count++] = size;
	}
}

/* ---- places ------------------------------------------------------------------------------- */

/* "function:file:line" as a site, "file:line:function"; without a stack "". */
static enum tscope_status add_site(struct host_memory *host, struct str location, uint32_t *site,
				   struct tscope_error *err)
{
	ptrdiff_t colon = tsi_str_find(location, TSI_STR(":"));
	size_t rest;
	char *text;

	if (tsi_str_is(location, "<stack trace unavailable>"))
		return tsi_intern_add(&host->texts, TSI_STR(""), site, err);
	if (colon < 0)
		return tsi_intern_add(&host->texts, location, site, err);
	if (tsi_array_new(&text, location.length, 1, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	rest = location.length - (size_t)colon - 1;
	memcpy(text, location.data + colon + 1, rest);
	text[rest] = ':';
	memcpy(text + rest + 1, location.data, (size_t)colon);
	enum tscope_status status =
		tsi_intern_add(&host->texts, (struct str){ text, location.length }, site, err);
	free(text);
	return status;
}

/* The row of a site, which is added if it is new; NULL without memory. */
static struct host_place *find_place(struct host_memory *host, struct key_map *rows, uint32_t site)
{
	uint32_t row = tsi_key_map_find(rows, site);

	if (row != UINT32_MAX)
		return &host->places[row];
	row = (uint32_t)host->place_count;
	struct host_place *place = tsi_arena_push(&host->arena, &host->places, &host->place_count,
						  &host->place_capacity, sizeof(*place));
	if (!place || tsi_key_map_put(rows, site, row, NULL) != TSCOPE_OK)
		return NULL;
	*place = (struct host_place){ site, { NOT_SAID, NOT_SAID } };
	return place;
}

static enum tscope_status read_place(struct host_memory *host, struct key_map *rows,
				     const struct plain *plain, struct plain_value row,
				     struct tscope_error *err)
{
	struct plain_value location = find(plain, row, "location");
	int64_t bytes = find_number(plain, row, "size"), count = find_number(plain, row, "count");
	uint32_t site;

	if (tsi_plain_kind(location) != PLAIN_TEXT || (bytes < 0 && count < 0)) {
		host->dropped_count++;
		return TSCOPE_OK;
	}
	enum tscope_status status = add_site(host, tsi_plain_text(plain, location), &site, err);
	if (status != TSCOPE_OK)
		return status;
	struct host_place *place = find_place(host, rows, site);
	if (!place)
		return tsi_fail_nomem(err);
	if (bytes >= 0)
		place->allocated.bytes = bytes;
	if (count >= 0)
		place->allocated.count = count;
	return TSCOPE_OK;
}

static enum tscope_status read_places(struct host_memory *host, const struct plain *plain,
				      struct tscope_error *err)
{
	static const char *const lists[] = { "top_allocations_by_size",
					     "top_allocations_by_count" };
	enum tscope_status status = TSCOPE_OK;
	struct key_map rows = { 0 };

	for (size_t i = 0; i < TSI_COUNT_OF(lists); i++) {
		struct plain_value list = find(plain, tsi_plain_root(plain), lists[i]);
		size_t count = tsi_plain_length(plain, list);

		for (size_t row = 0; row < count && status == TSCOPE_OK; row++)
			status = read_place(host, &rows, plain, tsi_plain_item(plain, list, row),
					    err);
	}
	tsi_key_map_deinit(&rows);
	return status;
}

enum tscope_status tsi_host_memory_init(struct host_memory *host, const struct plain *plain,
					struct tscope_error *err)
{
	struct plain_value root = tsi_plain_root(plain);
	enum tscope_status status;

	*host = (struct host_memory){
		.source = HOST_STATS,
		.temporary = { NOT_SAID, NOT_SAID },
		.at_peak = { NOT_SAID, NOT_SAID },
		.live = { NOT_SAID, NOT_SAID },
		.middle_bytes = NOT_SAID,
		.capture_ms = NOT_SAID,
	};
	host->allocated.bytes = find_number(plain, root, "total_bytes_allocated");
	host->allocated.count = find_number(plain, root, "total_num_allocations");
	status = tsi_intern_init(&host->texts, MAX_TEXTS, err);
	if (status == TSCOPE_OK)
		status = read_metadata(host, plain, find(plain, root, "metadata"), err);
	if (status != TSCOPE_OK)
		return status;
	read_allocators(host, plain, find(plain, root, "allocator_type_distribution"));
	read_sizes(host, plain, find(plain, root, "allocation_size_histogram"));
	return read_places(host, plain, err);
}
