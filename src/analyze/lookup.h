/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_LOOKUP_H
#define TSCOPE_ANALYZE_LOOKUP_H

#include <tscope/analysis.h>

/*
 * Facts and tables by the names that tscope-json(5) gives them ("overlap.comm_ns",
 * "kernels.by_name"), for rules, gates, reports and comparisons. A name that no analyzer defines
 * is a bug in the caller, and asserted.
 */

/* Finds a fact by a name from outside; NULL if no analyzer defines it. */
const struct tscope_fact_def *tsi_find_fact(const char *id, size_t *analyzer, size_t *fact);

/* A fact of the whole. */
struct tscope_value tsi_lookup(const struct tscope_analysis *analysis, const char *id);

/* A fact of one scope, with its unit. ABSENT also if the analyzer did not run for this scope. */
struct tscope_value tsi_lookup_fact(const struct tscope_analysis *analysis, int scope,
				    const char *id, enum tscope_unit *unit);

/* Why a fact of the whole is absent or unreliable, or NULL. */
const char *tsi_lookup_doubt(const struct tscope_analysis *analysis, const char *id);
/* Only what concerns this fact alone, not its analyzer. */
const char *tsi_lookup_own_doubt(const struct tscope_analysis *analysis, const char *id);

/* An integer fact; 0 if absent. */
int64_t tsi_lookup_int(const struct tscope_analysis *analysis, const char *id);

/* The index of an analyzer. */
size_t tsi_lookup_analyzer(const char *id);

/* A table of the whole. */
struct table_view {
	const struct tscope_analysis *analysis;
	const struct tscope_table_def *def;
	size_t analyzer, table;
	size_t row_count;
};

struct table_view tsi_lookup_table(const struct tscope_analysis *analysis, const char *id);

/* The index of a column. */
size_t tsi_table_column(const struct table_view *view, const char *name);

struct tscope_value tsi_table_cell(const struct table_view *view, size_t row, size_t column);

/* A cell by its column's name; as text ("" if it is none). */
struct tscope_value tsi_table_find(const struct table_view *view, size_t row, const char *column);
const char *tsi_table_text(const struct table_view *view, size_t row, const char *column);

#endif
