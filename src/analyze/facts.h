/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_FACTS_H
#define TSCOPE_ANALYZE_FACTS_H

#include "analyze/analyzer.h"
#include "base/arena.h"

/*
 * Helpers of analyzers, by room:
 *
 *	shared	quantile.h robust.h tail.h (statistics), nest.h (time of nested spans by name),
 *		reliability.h (doubts about device time), anchor.h (FLOPs and peak behind MFU)
 *	trace	path_walk.h (critical path), python_stalls.h
 *	ops	trace_flops.h (FLOPs of operators), op_sums.h step_work.h (time of operators, by
 *		step), kernel_vote.h (kinds of kernels), op_work.h (FLOPs and bytes of one call)
 *	steps	step_lines.h (lines of a budget), step_parts.h (what grew in a slow step)
 */

/*
 * The sheet that one analyzer fills for one scope: a value for each of its
 * facts (absent until set) and rows for each of its tables. Indices are those
 * of the analyzer's definitions.
 *
 * A sheet remembers that memory ran out: nothing here fails, and the analysis is
 * given up once the analyzer returns.
 */
void tsi_fact_int(struct fact_sheet *sheet, size_t fact, int64_t value);
void tsi_fact_real(struct fact_sheet *sheet, size_t fact, double value); /* NaN, infinity: absent */
/* text is borrowed and outlives the analysis. */
void tsi_fact_text(struct fact_sheet *sheet, size_t fact, const char *text);
void tsi_fact_flag(struct fact_sheet *sheet, size_t fact, bool flag);

/* numerator ÷ denominator, absent where the denominator is 0. */
void tsi_fact_ratio(struct fact_sheet *sheet, size_t fact, int64_t numerator, int64_t denominator);

/* As tsi_mean(). */
void tsi_fact_mean(struct fact_sheet *sheet, size_t fact, int64_t total, int64_t count);

/* Marks the sheet's figures as unreliable. Static or trace-owned text. The first reason stays. */
void tsi_fact_unreliable(struct fact_sheet *sheet, const char *reason);

/*
 * Says why one fact is absent or unreliable. Static or trace-owned text, or one of the steps'
 * names. The first reason stays.
 */
void tsi_fact_doubt(struct fact_sheet *sheet, size_t fact, const char *reason);

/*
 * A new row of a table, all cells absent: an array of column_count values, valid until the next
 * row. Never NULL: without memory a row that goes nowhere.
 */
struct tscope_value *tsi_table_row(struct fact_sheet *sheet, size_t table);

/*
 * Orders a table's rows by an integer column, largest first; ties by a text column.
 * Deterministic. Call it once all rows are there.
 */
void tsi_table_order(struct fact_sheet *sheet, size_t table, size_t by_column,
		     size_t then_text_column);

/* Text that lives as long as the analysis, cut at 1023 bytes. Never NULL. */
TSI_PRINTF(2, 3)
const char *tsi_sheet_print(struct fact_sheet *sheet, const char *format, ...);

/* A copy that lives as long as the analysis; a text with a NUL in it ends there. Never NULL. */
const char *tsi_sheet_copy(struct fact_sheet *sheet, struct str text);

/*
 * The analyzer's working memory: freed when it returns, and if that fails so does the sheet. See
 * base/arena.h.
 */
struct arena *tsi_sheet_scratch(struct fact_sheet *sheet);

/* Values for cells. */
static inline struct tscope_value tsi_int(int64_t integer)
{
	return (struct tscope_value){ .kind = TSCOPE_VALUE_INT, .integer = integer };
}

static inline struct tscope_value tsi_text(const char *text)
{
	return (struct tscope_value){ .kind = TSCOPE_VALUE_TEXT, .text = text };
}

/* As above; NULL: absent. */
static inline struct tscope_value tsi_text_if(const char *text)
{
	return text ? tsi_text(text) : (struct tscope_value){ 0 };
}

static inline struct tscope_value tsi_flag(bool flag)
{
	return (struct tscope_value){ .kind = TSCOPE_VALUE_FLAG, .flag = flag };
}

struct tscope_value tsi_real(double real); /* absent unless finite */
struct tscope_value tsi_ratio(int64_t numerator, int64_t denominator);
/* A mean that has the unit of its total, so an integer: halves up, absent where the count is 0. */
struct tscope_value tsi_mean(int64_t total, int64_t count);

#endif
