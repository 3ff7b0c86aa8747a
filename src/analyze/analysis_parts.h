/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_ANALYSIS_PARTS_H
#define TSCOPE_ANALYZE_ANALYSIS_PARTS_H

#include "analyze/analysis.h"
#include "analyze/fact_sheet.h"

/* The inside of an analysis, for analysis*.c only. */

struct analysis_device {
	int32_t ordinal;
	const char *name; /* "" if not said */
};

/* Inputs and outcome of analyzers that run on demand. */
struct waiting {
	struct analysis_scope scope;
	struct tscope_analysis_options options;
	struct arena arena; /* places and their totals */
	bool has_places;    /* they are looked for */
	enum tscope_status status;
};

struct tscope_analysis {
	const struct tscope_trace *trace; /* NULL: there was none, or it is closed */
	const struct tscope_timeline *timeline;
	struct trace_flops *flops;            /* of the trace, as long as that is open */
	struct arena trace_arena;             /* likewise: kernel_kinds of the scope */
	struct waiting *waiting;              /* likewise, or NULL: analyzers when_asked */
	const struct tscope_analysis *before; /* answers where no sheet is; NULL: nobody */
	/* Files about memory, asked before `before`; NULL where there is none. */
	const struct tscope_analysis *memory[TSCOPE_MEMORY_KIND_COUNT];
	/* Other traces of the rank, for figures that no analysis above has; or NULL. */
	const struct tscope_analysis *secondary[MAX_SECONDARY_ANALYSES];
	struct step_series steps; /* of the trace */
	struct analysis_device *devices;
	uint32_t device_count;
	size_t scope_count;
	struct fact_sheet *sheets; /* [analyzer * scope_count + slot]; slot 0: the whole */
	struct intern texts;       /* of a closed trace */
};

/* Room for the sheets of the whole and of each device, of which there are device_count. */
TSI_MUST_CHECK
enum tscope_status tsi_make_sheets(struct tscope_analysis *analysis, struct tscope_error *err);

static inline struct fact_sheet *tsi_sheet_at(const struct tscope_analysis *analysis,
					      size_t analyzer, size_t slot)
{
	return &analysis->sheets[analyzer * analysis->scope_count + slot];
}

/* How many of an analyzer's sheets may be in use; the others stay untouched. */
static inline size_t tsi_sheet_slots(const struct tscope_analysis *analysis, size_t analyzer)
{
	return tscope_analyzer(analyzer)->per_device ? analysis->scope_count : 1;
}

/* Runs an analyzer for the whole scope and, at the level of a trace, for each device. */
TSI_MUST_CHECK
enum tscope_status tsi_run_analyzer(const struct tscope_analysis *analysis, size_t index,
				    const struct analysis_scope *whole, struct tscope_error *err);

/* analysis_waiting.c: analyzers when_asked of a trace; the scope is copied. */
TSI_MUST_CHECK
enum tscope_status tsi_let_wait(struct tscope_analysis *analysis,
				const struct analysis_scope *scope, struct tscope_error *err);
void tsi_run_waiting(const struct tscope_analysis *analysis, size_t analyzer);
void tsi_free_waiting(struct tscope_analysis *analysis);

#endif
