/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYSIS_H
#define TSCOPE_ANALYSIS_H

#include <tscope/timeline.h>
#include <tscope/trace.h>

/*
 * Facts: what the analyzers computed from a trace and its timeline. A fact has
 * an id ("overlap.exposed_comm_ratio"), a value, a unit and a scope (the whole
 * trace, or one device). Tables ("kernels.by_name") are facts with rows.
 * Reporters print them, gates compare them, diff subtracts them.
 */
struct tscope_analysis;

struct tscope_analysis_options {
	bool python;        /* run the python analyzer (the trace must have kept the frames) */
	size_t table_limit; /* rows kept of each table; 0: all */
};

enum tscope_unit {
	TSCOPE_UNIT_COUNT,
	TSCOPE_UNIT_NS,
	TSCOPE_UNIT_BYTES,
	TSCOPE_UNIT_BYTES_PER_SECOND,
	TSCOPE_UNIT_RATIO,  /* 0 to 1 */
	TSCOPE_UNIT_NUMBER, /* without unit */
	TSCOPE_UNIT_TEXT,
	TSCOPE_UNIT_FLAG,
};

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

struct tscope_table_def {
	const char *name;
	const struct tscope_fact_def *columns;
	size_t column_count;
	const char *meaning;
};

/* What an analyzer is and yields: the same for every trace. */
struct tscope_analyzer_def {
	const char *id;
	const char *summary;
	const struct tscope_fact_def *facts;
	size_t fact_count;
	const struct tscope_table_def *tables;
	size_t table_count;
	bool per_device; /* its facts exist per device, too */
};

size_t tscope_analyzer_count(void);
const struct tscope_analyzer_def *tscope_analyzer(size_t index);

/* The trace and timeline must outlive the analysis, which the caller frees. */
enum tscope_status tscope_analyze(struct tscope_analysis **ret, const struct tscope_trace *trace,
				  const struct tscope_timeline *timeline,
				  const struct tscope_analysis_options *options,
				  struct tscope_error *err);

void tscope_analysis_free(struct tscope_analysis *analysis);

const struct tscope_trace *tscope_analysis_trace(const struct tscope_analysis *analysis);
const struct tscope_timeline *tscope_analysis_timeline(const struct tscope_analysis *analysis);

/* Devices that ran something, and the ordinal and name ("" if not said) of each. */
uint32_t tscope_analysis_device_count(const struct tscope_analysis *analysis);
int32_t tscope_analysis_device_ordinal(const struct tscope_analysis *analysis, uint32_t device);
const char *tscope_analysis_device_name(const struct tscope_analysis *analysis, uint32_t device);

enum { TSCOPE_WHOLE_TRACE = -1 }; /* a scope; 0 … device count - 1 are the devices */

/* Did this analyzer run for this scope? */
bool tscope_analysis_has(const struct tscope_analysis *analysis, size_t analyzer, int scope);

/* Why the analyzer's figures must not be believed, or NULL where nothing speaks against them. */
const char *tscope_analysis_reliability(const struct tscope_analysis *analysis, size_t analyzer,
					int scope);

/* Fact `fact` (index in the def) of analyzer `analyzer`. ABSENT where it did not run. */
struct tscope_value tscope_analysis_fact(const struct tscope_analysis *analysis, size_t analyzer,
					 size_t fact, int scope);

/* The trace-level fact with an id such as "overlap.comm_ns"; false: no such id. */
bool tscope_analysis_find(const struct tscope_analysis *analysis, const char *id,
			  struct tscope_value *value, enum tscope_unit *unit);

size_t tscope_analysis_row_count(const struct tscope_analysis *analysis, size_t analyzer,
				 size_t table, int scope);
struct tscope_value tscope_analysis_cell(const struct tscope_analysis *analysis, size_t analyzer,
					 size_t table, int scope, size_t row, size_t column);

#endif
