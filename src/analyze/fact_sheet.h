/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_FACT_SHEET_H
#define TSCOPE_ANALYZE_FACT_SHEET_H

#include "analyze/facts.h"

/* What facts.c and analysis.c know of a sheet, and analyzers need not. */

struct fact_table {
	struct tscope_value *cells; /* row by row, column_count each */
	size_t row_count, row_capacity;
};

struct fact_sheet {
	const struct tscope_analyzer_def *def; /* NULL: the analyzer did not run */
	struct tscope_value *facts;            /* def->fact_count */
	const char **doubts;                   /* of each fact: why, or NULL */
	struct fact_table *tables;             /* def->table_count */
	const char *unreliable;                /* why, or NULL */
};

/* An empty sheet for an analyzer. On failure it may still be deinited. */
TSI_MUST_CHECK
enum tscope_status tsi_fact_sheet_init(struct fact_sheet *sheet,
				       const struct tscope_analyzer_def *def,
				       struct tscope_error *err);

/* Fine on a zeroed sheet. */
void tsi_fact_sheet_deinit(struct fact_sheet *sheet);

#endif
