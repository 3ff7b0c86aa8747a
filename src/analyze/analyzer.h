/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_ANALYZER_H
#define TSCOPE_ANALYZE_ANALYZER_H

#include "base/attributes.h"
#include "run/steps.h"

#include <tscope/analysis.h>

struct trace_flops;   /* trace_flops.h */
struct places;        /* modules/places.h */
struct place_totals;  /* modules/place_sums.h */
struct tscope_memory; /* model/memory/memory_file.h */
struct tscope_hang;   /* hang/hang_file.h */
struct comparison;    /* diff/comparison.h */
struct world;         /* comm/world.h */
struct replay_graph;  /* comm/replay.h */

/*
 * An analyzer computes facts from a trace and its timeline, or from steps, and
 * has no opinion.
 *
 * To add one: write analyze_<id>.c with a `const struct analyzer
 * tsi_analyzer_<id>`, add ANALYZER(<id>) to analyzer_list.h, the file to
 * meson.build, entries to man/tscope-json.5 and the JSON Schema, and
 * tests/unit/test_analyze_<id>.c.
 * One list of facts, or of a table's columns, gives the enum that names them and the array of
 * definitions that it indexes:
 *
 *	#define FACTS(X) X(COMM_NS, "comm_ns", NS, "some communication runs")
 *
 *	TSI_FACT_LIST(enum fact, facts, FACTS);
 *
 * so that tsi_fact_int(out, COMM_NS, comm_ns) cannot get the wrong name. JSON, diff and gates
 * follow without another line.
 */
#define TSI_FACT_LIST(tag, array, LIST)                                                            \
	tag{ LIST(TSI_FACT_ID) };                                                                  \
	static const struct tscope_fact_def array[] = { LIST(TSI_FACT_DEF) }
#define TSI_FACT_ID(id, name, unit, meaning) id,
#define TSI_FACT_DEF(id, name, unit, meaning) { name, TSCOPE_UNIT_##unit, meaning },

struct analysis_scope {
	/* One trace; NULL at the levels of rank and run. */
	const struct tscope_trace *trace;
	const struct tscope_timeline *timeline;
	const struct trace_flops *flops; /* NULL to analyzers beside_flops */
	const uint8_t *kernel_kinds;     /* by name id, of kernels (kernel_vote.h) */
	/* To analyzers when_asked; NULL: the trace has no frames that say places. */
	const struct places *places;
	const struct place_totals *place_totals;
	/* Devices [first_device, end_device): one, or all for the trace's own figures. */
	uint32_t first_device, end_device;
	/* Steps of the trace or rank; at the run level the slowest rank's time of each step. */
	const struct step_series *steps;
	/* All ranks, in ascending order, at the level of the run; else NULL, 0. */
	const struct step_series *ranks;
	size_t rank_count;
	/*
	 * The traces of these ranks combined; only at the run level with communication on two or
	 * more ranks, else NULL. Its ranks are those of `ranks`, by index.
	 */
	const struct world *world;
	/* To replay the steps of that world; NULL where nothing matches. */
	const struct replay_graph *replay_graph;
	/*
	 * Analyses of the rank's memory files (at the run level the lowest rank's), by kind; NULL:
	 * none.
	 */
	const struct tscope_analysis *const *rank_memory;
	/* At the level of the rank: its traces, in order; NULL for one that has no analysis. */
	const struct tscope_analysis *const *windows;
	size_t window_count;
	/* A memory file, and an earlier one to compare with or NULL. At other levels both NULL. */
	const struct tscope_memory *memory, *earlier;
	const struct tscope_hang *hang;      /* dumps; else NULL */
	const struct comparison *comparison; /* of two sides, at its level; else NULL */
	const struct tscope_analysis_options *options;
};

/* Scope of an analyzer. A level without its own value inherits the previous level's. */
enum analyzer_level {
	LEVEL_TRACE = 1 << 0, /* a trace; for the whole of it and perhaps for each device */
	LEVEL_RANK = 1 << 1,  /* the steps of one rank, from records and traces */
	LEVEL_RUN = 1 << 2,   /* all ranks; the level before is the lowest rank's */
	/* A file about memory: a level for each kind. Ranks and runs take its figures over. */
	LEVEL_SNAPSHOT = 1 << 3,
	LEVEL_MEMORY_TIMELINE = 1 << 4,
	LEVEL_MEMORY_STATS = 1 << 5,
	LEVEL_MEMORY_TRACKER = 1 << 6,
	LEVEL_HOST_MEMORY = 1 << 7,
	LEVEL_DIFF = 1 << 8, /* a comparison: the analyzers in src/diff/ */
	LEVEL_HANG = 1 << 9, /* flight-recorder dumps */
	/* A comparison of one rank of each side, for gates: analyzers of LEVEL_DIFF, too. */
	LEVEL_DIFF_RANK = 1 << 10,
};

/* The facts and the tables of a definition, from the arrays of them. */
#define TSI_FACTS(array) .facts = (array), .fact_count = TSI_COUNT_OF(array)
#define TSI_TABLES(array) .tables = (array), .table_count = TSI_COUNT_OF(array)

/* The definition of a table of rows; and its list, as of facts: X(BY_NAME, "by_name", …). */
#define TSI_TABLE_DEF(name, columns, meaning)                                                      \
	{                                                                                          \
		name, columns, TSI_COUNT_OF(columns), meaning, TSCOPE_TABLE_ROWS                   \
	}
#define TSI_TABLE_ID(id, name, columns, meaning) id,
#define TSI_TABLE_ROW(id, name, columns, meaning) TSI_TABLE_DEF(name, columns, meaning),
#define TSI_TABLE_LIST(tag, array, LIST)                                                           \
	tag{ LIST(TSI_TABLE_ID) };                                                                 \
	static const struct tscope_table_def array[] = { LIST(TSI_TABLE_ROW) }

struct fact_sheet; /* where an analyzer puts its facts: facts.h */

struct analyzer {
	struct tscope_analyzer_def def;
	unsigned levels; /* enum analyzer_level, those at which it runs */
	bool on_request; /* only with options.python, or where the trace is VizTracer's */
	/* Trace level: uses no FLOPs (nor scope->steps'), so it may run while they are counted. */
	bool beside_flops;
	/* Trace level: with options.on_demand it runs when a figure of it is asked for. */
	bool when_asked;
	/* Trace level: what it says is true of the file, be it of one process or of several. */
	bool is_of_file;
	/* Its tables are a trace's: a level without rows shows those of the level before. */
	bool keeps_tables;
	/* LEVEL_RUN only with several ranks: of one the rank's sheet says the same, row by row. */
	bool needs_several_ranks;
	/* LEVEL_RUN counts for all ranks, and leaves the figures to the lowest rank. */
	bool is_of_lowest_rank;
	/*
	 * Fills the sheet for a scope. With def.per_device it is called once for each device and
	 * once for all of them. Facts that cannot be computed are left absent. It cannot fail: the
	 * sheet remembers if memory ran out.
	 */
	void (*fill)(const struct analysis_scope *scope, struct fact_sheet *out);
};

#endif
