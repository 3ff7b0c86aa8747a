/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MEMORY_MEMORY_STATS_PARTS_H
#define TSCOPE_ANALYZE_MEMORY_MEMORY_STATS_PARTS_H

#include "analyze/facts.h"
#include "model/memory/memory_file.h"

/*
 * The parts that the analyzer `memory_stats` is made of. Definitions with units and meanings
 * stand in analyze_memory_stats.c.
 */
enum stats_table { STATS_LARGEST, STATS_BY_FUNCTION, STATS_CHANGES, STATS_MOMENTS };

enum function_column {
	FUNCTION_RANK,
	FUNCTION_FUNCTION,
	FUNCTION_CALL_COUNT,
	FUNCTION_ALLOCATED_CHANGE_BYTES,
	FUNCTION_RESERVED_CHANGE_BYTES,
	FUNCTION_RSS_CHANGE_BYTES,
};

enum changes_column {
	CHANGES_RANK,
	CHANGES_FUNCTION,
	CHANGES_ITERATION,
	CHANGES_NAME,
	CHANGES_START,
	CHANGES_END,
	CHANGES_CHANGE,
};

/* A name of values, and the largest of them. */
struct stats_name {
	struct str text;
	size_t text_index; /* in the plain data */
	struct plain_value largest;
};

/* Values that figures are made of. */
enum stats_key { KEY_ALLOCATED, KEY_RESERVED, KEY_ACTIVE, KEY_RSS, KEY_COUNT };

struct stats_view {
	const struct memory_stats *stats;
	const char **functions;   /* by moment: NUL-terminated */
	struct stats_name *names; /* in their order */
	size_t name_count, name_capacity;
	struct plain_value keys[KEY_COUNT];
	uint32_t *places; /* by index of the text: that of its name, plus 1; 0: is no name */
};

/* The value as a cell; absent where it is no finite number. */
struct tscope_value tsi_stats_cell(const struct plain *plain, struct plain_value number);

/* A finite number, which figures can be made of. */
bool tsi_stats_is_usable(const struct plain *plain, struct plain_value value);

bool tsi_stats_is_same_function(const struct memory_moment *a, const struct memory_moment *b);

/* Does the call that starts at this moment end with the next one? */
bool tsi_stats_is_call(const struct memory_stats *stats, size_t start);

/* memory_stats_calls.c: what calls changed, by function and each by itself */
void tsi_stats_put_functions(const struct stats_view *view, struct fact_sheet *out);
void tsi_stats_put_changes(const struct stats_view *view, struct fact_sheet *out);

#endif
