/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYSIS_H
#define TSCOPE_ANALYSIS_H

#include <tscope/model.h>
#include <tscope/scalar.h>
#include <tscope/timeline.h>
#include <tscope/trace.h>

/*
 * Facts: what the analyzers computed from a trace and its timeline, or from the
 * steps of a run. A fact has an id ("overlap.exposed_comm_ratio"), a value, a
 * unit and a scope (the whole trace, rank or run, or one device). Tables
 * ("kernels.by_name") are facts with rows. Reporters print them, gates compare
 * them, diff subtracts them.
 */
struct tscope_analysis;

/* Keys by which the attribution analyzer divides time. */
enum tscope_grouping {
	TSCOPE_BY_NOTHING,
	TSCOPE_BY_MODULE,
	TSCOPE_BY_SOURCE, /* functions or lines of the user's code */
	TSCOPE_BY_OPERATOR,
	TSCOPE_BY_KERNEL,
	TSCOPE_BY_CATEGORY, /* what kernels compute */
};

struct tscope_analysis_options {
	bool python;        /* run the python analyzer (the trace must have kept the frames) */
	size_t table_limit; /* rows kept of each table; 0: all */
	/* FLOPs per step on one device, and the device's peak per second; 0: unknown. */
	double flops_per_step, peak_flops;
	struct tscope_model model;          /* used without flops_per_step; zero: none */
	struct tscope_scalar_names scalars; /* names of metrics that do not follow a convention */
	/* Number of pipeline stages that the ranks form (0: as the traces show) ... */
	unsigned pipeline_stages;
	unsigned microbatches; /* ... and microbatches per step (0: unknown) */
	/* Least excess over the others' median that makes a rank slow; 0: 0.01 */
	double slow_rank_min_excess;
	/* A step counts where so many of a run's ranks have it, in percent; 0: 99 */
	unsigned quorum_percent;
	/* Frames in an allocation site, innermost first (0: 1) ... */
	unsigned stack_depth;
	const char *stack_filter; /* ... from stacks with this text; NULL: all */
	/*
	 * Figures that few reports show are computed when they are asked for: then one thread at
	 * a time may read the analysis, and of a trace that is still open. A run keeps its trace
	 * open where there is only one.
	 */
	bool on_demand;
	enum tscope_grouping by;
	const char *under; /* only what is in such modules, or functions; NULL: all */
};

enum tscope_unit {
	TSCOPE_UNIT_COUNT,
	TSCOPE_UNIT_NS,
	TSCOPE_UNIT_BYTES,
	TSCOPE_UNIT_BYTES_PER_SECOND,
	TSCOPE_UNIT_FLOPS,
	TSCOPE_UNIT_FLOPS_PER_SECOND,
	TSCOPE_UNIT_RATIO,  /* 0 to 1 */
	TSCOPE_UNIT_NUMBER, /* without unit */
	TSCOPE_UNIT_TEXT,
	TSCOPE_UNIT_FLAG,
	TSCOPE_UNIT_ANY, /* of a column: that which another column names */
};

/* "count", "ns", "bytes", "bytes/s", "flop", "flop/s", "ratio", "number" …: never NULL. */
const char *tscope_unit_name(enum tscope_unit unit);

enum tscope_value_kind {
	TSCOPE_VALUE_ABSENT, /* the input cannot yield it; null in JSON */
	TSCOPE_VALUE_INT,
	TSCOPE_VALUE_REAL, /* finite */
	TSCOPE_VALUE_TEXT,
	TSCOPE_VALUE_FLAG,
};

struct tscope_value {
	enum tscope_value_kind kind;
	union {
		int64_t integer;
		double real;
		const char *
			text; /* as long as the analysis; may hold any bytes of the input but NUL */
		bool flag;
	};
};

/* A fact or a column: its name within the analyzer or table, unit and meaning. */
struct tscope_fact_def {
	const char *name;
	enum tscope_unit unit;
	const char *meaning;
};

/* How a table is written as JSON. */
enum tscope_table_shape {
	TSCOPE_TABLE_ROWS,   /* an array of objects */
	TSCOPE_TABLE_LIST,   /* one column: an array of values */
	TSCOPE_TABLE_OBJECT, /* at most one row: an object or null */
	/* An object of arrays, one for each column that has a value in any row. */
	TSCOPE_TABLE_COLUMNS,
};

struct tscope_table_def {
	const char *name;
	const struct tscope_fact_def *columns;
	size_t column_count;
	const char *meaning;
	enum tscope_table_shape shape;
};

/*
 * Scope of an analyzer's sums (of ns, bytes, FLOPs or counts), to compare runs of different
 * lengths; tscope_fact_total() says which facts are sums.
 */
enum tscope_total {
	TSCOPE_TOTAL_NONE,    /* no sums, or sums that do not grow with the run */
	TSCOPE_TOTAL_STEPS,   /* the steps that count, once for each device: budget.step_count */
	TSCOPE_TOTAL_TIMED,   /* the steps that have a time and count: step_time.count */
	TSCOPE_TOTAL_CAPTURE, /* the whole trace: steps.count */
};

/* Definition of an analyzer: the same for every trace. */
struct tscope_analyzer_def {
	const char *id;
	const char *summary;
	const struct tscope_fact_def *facts;
	size_t fact_count;
	const struct tscope_table_def *tables;
	size_t table_count;
	bool per_device;   /* its facts also exist per device */
	const char *needs; /* what the input must hold for them: "a trace with device activity" */
	enum tscope_total total;
};

size_t tscope_analyzer_count(void);
const struct tscope_analyzer_def *tscope_analyzer(size_t index);

/*
 * The index of the analyzer whose id stands before the first dot of a fact's or
 * table's id ("overlap.comm_ns"), or tscope_analyzer_count().
 */
size_t tscope_analyzer_find(const char *id);

/* The table with an id such as "kernels.by_name", and its indices; NULL: no such id. */
const struct tscope_table_def *tscope_table_find(const char *id, size_t *analyzer, size_t *table);

/* Scope of a fact's sum: its analyzer's total; NONE for a mean, a ratio, a maximum … */
enum tscope_total tscope_fact_total(const struct tscope_analyzer_def *analyzer, size_t fact);

/* The trace and timeline must outlive the analysis, which the caller frees. */
enum tscope_status tscope_analyze(struct tscope_analysis **ret, const struct tscope_trace *trace,
				  const struct tscope_timeline *timeline,
				  const struct tscope_analysis_options *options,
				  struct tscope_error *err);

void tscope_analysis_free(struct tscope_analysis *analysis);

/* NULL for the analyses of a run, which have closed their traces. */
const struct tscope_trace *tscope_analysis_trace(const struct tscope_analysis *analysis);
const struct tscope_timeline *tscope_analysis_timeline(const struct tscope_analysis *analysis);

/* Devices that ran something, and the ordinal and name ("" if not said) of each. */
uint32_t tscope_analysis_device_count(const struct tscope_analysis *analysis);
int32_t tscope_analysis_device_ordinal(const struct tscope_analysis *analysis, uint32_t device);
const char *tscope_analysis_device_name(const struct tscope_analysis *analysis, uint32_t device);

enum { TSCOPE_WHOLE_TRACE = -1 }; /* a scope; 0 … device count - 1 are the devices */

/* Whether this analyzer ran for this scope. */
bool tscope_analysis_has(const struct tscope_analysis *analysis, size_t analyzer, int scope);

/* Why the analyzer's figures are unreliable, or NULL. */
const char *tscope_analysis_reliability(const struct tscope_analysis *analysis, size_t analyzer,
					int scope);

/* Why a fact is absent or unreliable, or NULL. Includes doubts about its whole analyzer. */
const char *tscope_analysis_fact_doubt(const struct tscope_analysis *analysis, size_t analyzer,
				       size_t fact, int scope);

/* As above, without doubts about the whole analyzer. */
const char *tscope_analysis_fact_own_doubt(const struct tscope_analysis *analysis, size_t analyzer,
					   size_t fact, int scope);

/* Fact `fact` (index in the def) of analyzer `analyzer`. ABSENT where it did not run. */
struct tscope_value tscope_analysis_fact(const struct tscope_analysis *analysis, size_t analyzer,
					 size_t fact, int scope);

/* The fact of the whole with an id such as "overlap.comm_ns"; false: none. unit may be NULL. */
bool tscope_analysis_find(const struct tscope_analysis *analysis, const char *id,
			  struct tscope_value *value, enum tscope_unit *unit);

size_t tscope_analysis_row_count(const struct tscope_analysis *analysis, size_t analyzer,
				 size_t table, int scope);
struct tscope_value tscope_analysis_cell(const struct tscope_analysis *analysis, size_t analyzer,
					 size_t table, int scope, size_t row, size_t column);

#endif
