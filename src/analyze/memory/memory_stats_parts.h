/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MEMORY_MEMORY_STATS_PARTS_H
#define TSCOPE_ANALYZE_MEMORY_MEMORY_STATS_PARTS_H

#include "analyze/facts.h"
#include "model/memory/memory_file.h"

/*
 * The parts that the analyzer `memory_stats` is made of, and what its tables hold.
 */
#define STATS_TABLES(X)                                                                            \
	X(STATS_LARGEST, "largest", largest_columns, "the largest value of each name")             \
	X(STATS_BY_FUNCTION, "by_function", function_columns,                                      \
	  "what calls of each function changed in all")                                            \
	X(STATS_CHANGES, "changes", changes_columns, "what each call changed")                     \
	X(STATS_MOMENTS, "moments", moments_columns, "device and host memory at each moment")

enum stats_table { STATS_TABLES(TSI_TABLE_ID) };

#define FUNCTION_COLUMNS(X)                                                                        \
	X(FUNCTION_RANK, "rank", COUNT, "rank")                                                    \
	X(FUNCTION_FUNCTION, "function", TEXT, "function that was called")                         \
	X(FUNCTION_CALL_COUNT, "call_count", COUNT, "calls with start and end")                    \
	X(FUNCTION_ALLOCATED_CHANGE_BYTES, "allocated_change_bytes", BYTES,                        \
	  "sum of what they changed of what is allocated")                                         \
	X(FUNCTION_RESERVED_CHANGE_BYTES, "reserved_change_bytes", BYTES,                          \
	  "the same of what is reserved")                                                          \
	X(FUNCTION_RSS_CHANGE_BYTES, "rss_change_bytes", BYTES,                                    \
	  "the same of the process's host memory")

enum function_column { FUNCTION_COLUMNS(TSI_FACT_ID) };

#define CHANGES_COLUMNS(X)                                                                         \
	X(CHANGES_RANK, "rank", COUNT, "rank")                                                     \
	X(CHANGES_FUNCTION, "function", TEXT, "function that was called")                          \
	X(CHANGES_ITERATION, "iteration", COUNT, "which call of it")                               \
	X(CHANGES_NAME, "name", TEXT, "name of the value")                                         \
	X(CHANGES_START, "start", NUMBER, "before the call")                                       \
	X(CHANGES_END, "end", NUMBER, "after it")                                                  \
	X(CHANGES_CHANGE, "change", NUMBER, "end less start")

enum changes_column { CHANGES_COLUMNS(TSI_FACT_ID) };

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
