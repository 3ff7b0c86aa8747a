/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_FACT_SHEET_H
#define TSCOPE_ANALYZE_FACT_SHEET_H

#include "analyze/facts.h"
#include "base/arena.h"

/* The inside of a sheet, for facts.c and analysis.c only. */

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
	struct tscope_value *spare_row;        /* what tsi_table_row() hands out without memory */
	struct arena texts;                    /* those that the analyzer made */
	struct arena scratch;                  /* its working memory, while it runs */
};

/* An empty sheet for an analyzer. On failure it may still be deinited. */
TSI_MUST_CHECK
enum tscope_status tsi_fact_sheet_init(struct fact_sheet *sheet,
				       const struct tscope_analyzer_def *def,
				       struct tscope_error *err);

/* TSCOPE_OK, or TSCOPE_E_NOMEM if anything that went into the sheet was lost. */
TSI_MUST_CHECK
enum tscope_status tsi_fact_sheet_status(const struct fact_sheet *sheet, struct tscope_error *err);

/* Begins a sheet and lets the analyzer fill it. On failure it may still be deinited. */
TSI_MUST_CHECK
enum tscope_status tsi_fill_sheet(const struct analyzer *analyzer,
				  const struct analysis_scope *scope, struct fact_sheet *sheet,
				  struct tscope_error *err);

/* Fine on a zeroed sheet. */
void tsi_fact_sheet_deinit(struct fact_sheet *sheet);

#endif
