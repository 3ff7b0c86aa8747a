/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_STEPS_H
#define TSCOPE_RUN_STEPS_H

#include "base/intern.h"
#include "base/sort.h"
#include "timeline/timeline.h"

/*
 * The steps of one rank, whichever source they came from: the records that the job wrote itself
 * (steps.jsonl), the timeline of a trace, or both joined by step number. The analyzers of a run
 * read them, and `tscope export` writes them. Times are integer nanoseconds.
 */

enum step_has {
	STEP_HAS_TIME = 1 << 0, /* time_ns and phases; without it only the budget is known */
	STEP_HAS_LOSS = 1 << 1,
	STEP_HAS_GRAD_NORM = 1 << 2,
	STEP_TIME_UNKNOWN = 1 << 3,   /* no phase, or one that is no duration, was recorded */
	STEP_MEMORY_UNKNOWN = 1 << 4, /* bytes were recorded that are no size: NO_BYTES */
};

#define STEP_MEMORIES(X)                                                                           \
	X(STEP_MEMORY_ALLOC, "alloc") /* in the order of pytscope's memory block */                \
	X(STEP_MEMORY_RESERVED, "reserved")                                                        \
	X(STEP_MEMORY_PEAK_ALLOC, "peak_alloc")                                                    \
	X(STEP_MEMORY_PEAK_RESERVED, "peak_reserved")

enum step_memory { STEP_MEMORIES(TSI_NAMED_ID) STEP_MEMORY_COUNT };

enum { NO_BYTES = -1 }; /* not recorded */

struct step_record {
	int64_t number;
	/*
	 * From records: the sum of the phases, phases of unknown names included.
	 * From a trace: the wall time of the step's window, which the phases sum to.
	 */
	int64_t time_ns;
	int64_t phase_ns[PHASE_COUNT];           /* 0 where the step has no such phase */
	int64_t memory_bytes[STEP_MEMORY_COUNT]; /* or NO_BYTES */
	double loss, grad_norm; /* any double: NaN and infinity are what was recorded */
	uint32_t budget;        /* index in step_series.budgets, or NO_ROW */
	uint8_t has;            /* enum step_has */
	uint8_t phases;         /* a bit for each enum phase that was recorded */
	uint8_t mark;           /* enum tscope_step_mark */
};

/* FLOPs of what a step launched, as far as operators say them; all 0: unknown. */
struct step_flops {
	double flops;          /* all that ran */
	double repeated_flops; /* of them, forward work that checkpointing computed again */
	int64_t matrix_ns;     /* time of the kernels that multiply matrices */
	int64_t counted_ns;    /* of it, of those whose FLOPs are known */
};

/* Parts of exposed communication. */
enum exposed_part {
	EXPOSED_WAIT,     /* for ranks that come later */
	EXPOSED_TRANSFER, /* of collectives that all had come to */
	EXPOSED_UNSPLIT,  /* not matched, or does not end together */
	EXPOSED_OWN,      /* the rank did not wait for it: its own work was late, and hides it */
	EXPOSED_PART_COUNT
};

/* "wait", "transfer", … */
const char *tsi_exposed_part_name(enum exposed_part part);

/* A step by its trace. Lines and FLOPs are sums over the rank's devices. */
struct step_budget {
	int64_t start_ns;        /* Unix time where has_start; else on the trace's own clock */
	int64_t wall_ns;         /* of the window, once */
	struct budget device;    /* zero where the rank has no device */
	struct host_budget host; /* zero where it has */
	/*
	 * Where has_split: what the line exposed_comm (of host: HOST_COMM) is made of, by the
	 * traces of all ranks (comm/world.h). The parts sum to that line; what
	 * several devices expose is unsplit where the one that the rank's log follows did not.
	 */
	int64_t exposed_ns[EXPOSED_PART_COUNT];
	bool has_split;
	struct step_flops flops;
	int64_t alloc_peak_ns; /* where has_alloc_peak; the clock is that of start_ns */
	bool has_alloc_peak;   /* known is when the record's PEAK_ALLOC was reached first */
	uint8_t mark;          /* enum tscope_step_mark of the trace's step */
};

/* A phase or a scalar whose name is not one of ours. */
struct step_extra {
	uint32_t record; /* ascending */
	uint32_t name;   /* in step_series.names */
	double value;    /* ns of a phase, the value of a scalar */
};

struct step_extras {
	struct step_extra *items;
	size_t count, capacity;
};

/* Room for the texts below, with their NULs; trace_flops.h has the same ones. */
enum { PRECISION_BYTES = 64, PEAK_LACK_BYTES = 200 };

/* Peak of a device of the rank, with the precisions that the job computes in. */
struct step_peak {
	double flops_per_second;         /* 0: not known */
	const char *device;              /* its name in the table of devices (static), or NULL */
	char precision[PRECISION_BYTES]; /* "bf16 97.0 %, fp32 3.0 %", "" where not known */
	char lack[PEAK_LACK_BYTES];      /* why the peak is not known, "" if nobody says */
};

/* An entry of what a job says of its environment or configuration: ids in step_series.names. */
struct step_setting {
	uint32_t name, value;
	bool is_text; /* value is a text as it is, else JSON (settings.h) */
};

struct step_settings {
	struct step_setting *items; /* by name, each name once */
	size_t count, capacity;
};

/* The roles that analyzers know of the metrics that a job logs. */
#define SCALAR_ROLES(X)                                                                            \
	X(SCALAR_LOSS, "loss")                                                                     \
	X(SCALAR_GRAD_NORM, "grad_norm")                                                           \
	X(SCALAR_LEARNING_RATE, "learning_rate")                                                   \
	X(SCALAR_THROUGHPUT, "throughput")                                                         \
	X(SCALAR_MFU, "mfu")                                                                       \
	X(SCALAR_OTHER, "")

enum scalar_role { SCALAR_ROLES(TSI_NAMED_ID) };

/* A metric of a series by its name; that of the loss stands in the records themselves. */
struct step_scalar {
	uint32_t name;   /* in step_series.names, as it was logged */
	uint32_t source; /* likewise: "steps_jsonl", "csv", "json", "tensorboard" … */
	uint8_t role;    /* enum scalar_role; of each but SCALAR_OTHER there is one at most */
};

/*
 * The clock of a rank by what Composer's ranks write down at one moment: the ranks' sync_ns
 * differ by what their clocks do. Unix time, each on its own clock.
 */
struct step_clock {
	int64_t sync_ns;
	int64_t error_ns;   /* bound that the writer states; 0: none */
	int64_t shifted_ns; /* added to all times of the trace by Composer's merger */
	int64_t first_step; /* the first step behind that moment: with others' it is the same one */
	bool is_known;
};

/* The job's own words on itself. */
struct step_provenance {
	uint32_t run_name;        /* in step_series.names; 0: not said */
	double started_s, wall_s; /* Unix time of its start, time to its end; NAN: not said */
	int64_t step_count;       /* -1: not said */
	struct step_settings environment, config;
};

struct step_series {
	int64_t rank;                /* -1: not said */
	int64_t world_size;          /* -1: not said */
	struct step_record *records; /* in the order of time */
	size_t count, capacity;
	struct step_budget *budgets; /* as records refer to them */
	size_t budget_count, budget_capacity;
	uint32_t device_count;   /* devices whose lines are summed in budgets; 0: host budgets */
	bool has_start;          /* start_ns of the budgets is Unix time */
	bool has_point_to_point; /* the trace holds sends or receives between ranks */
	bool is_counted;         /* no mark says the steps' numbers: they are their places */
	bool is_of_trace;        /* times and phases are a trace's, not the job's own records */
	bool has_shapes;         /* of a trace, which holds the inputs of operators */
	/* In a series of the slowest ranks: ranks' steps of unknown time, which may be slower. */
	int64_t unknown_time_count;
	bool is_timeless;           /* no phase took time: times are 0 and mean nothing */
	const char *doubt;          /* against device times; static or one of names; or NULL */
	struct step_extras phases;  /* of unknown names */
	struct step_extras scalars; /* but loss and grad_norm */
	struct step_scalar *scalar_names; /* each name of a scalar once; loss and grad_norm, too */
	size_t scalar_name_count, scalar_name_capacity;
	struct step_clock clock;
	struct intern names;
	double flops_per_step, peak_flops; /* what run.json says, or was asked for; 0: not said */
	double hardware_flops_per_step;    /* with what is computed again; 0 or NAN: not said */
	double counted_flops_per_step;     /* of a device, by its operators; 0: not certain */
	struct step_peak peak;             /* by the trace; zero without one */
	int64_t memory_event_count; /* events of traces that the memory of steps is made of */
	int64_t oom_count;          /* "[OutOfMemory]" events of traces, on any device */
	struct step_provenance provenance;
	bool has_failed; /* memory ran out while it was made: see tsi_steps_status() */
};

/* The devices that sums are over and are divided by: a rank without any counts as one. */
static inline uint32_t tsi_counted_devices(const struct step_series *steps)
{
	return steps->device_count ? steps->device_count : 1;
}

/*
 * An empty series. Running out of memory is sticky, as in an arena: from then on nothing is added
 * to the series, and tsi_steps_status() says so, once all is there that belongs to it.
 */
void tsi_steps_init(struct step_series *steps);
void tsi_steps_deinit(struct step_series *steps); /* fine on a zeroed struct */

/* TSCOPE_OK, or TSCOPE_E_NOMEM with err filled. */
TSI_MUST_CHECK
enum tscope_status tsi_steps_status(const struct step_series *steps, struct tscope_error *err);

/* The id of a text among the names; NO_ROW where these have no room, or without memory. */
uint32_t tsi_steps_name(struct step_series *steps, struct str text);

/* Gives to what from held; from is zeroed. */
void tsi_steps_move(struct step_series *to, struct step_series *from);

/* A record that holds nothing yet. */
struct step_record tsi_step_record(int64_t number);

/* Appends a record that holds nothing yet, valid until the next call; NULL without memory. */
TSI_MUST_CHECK
struct step_record *tsi_steps_add(struct step_series *steps, int64_t number);

/* Notes a phase or scalar of another name for the last record. False: there is no room for it. */
bool tsi_steps_add_extra(struct step_series *steps, struct step_extras *extras, struct str name,
			 double value);

/* Appends a budget; returns its index for the record that it belongs to, NO_ROW without memory. */
TSI_MUST_CHECK
uint32_t tsi_steps_add_budget(struct step_series *steps, const struct step_budget *budget);

/* Appends the steps of a timeline, each with its budget: phases are made of budget lines. */
void tsi_steps_add_timeline(struct step_series *steps, const struct tscope_timeline *timeline);

/* A time of the trace as Unix time, or as it is where the trace does not know it. */
int64_t tsi_time_of_run(const struct tscope_trace *trace, int64_t time_ns);

/*
 * Applies the timeline options to step records: takes out those beyond the range of numbers, and
 * marks the first `warmup` that are left. options may be NULL.
 */
void tsi_steps_select(struct step_series *steps, const struct tscope_timeline_options *options);

/* Appends the steps of a later window of the same rank; from stays as it was. */
void tsi_steps_append(struct step_series *steps, const struct step_series *from);

/*
 * Sets is_timeless where none of the records holds a phase, or none that took any time. One without
 * a phase among others has an unknown time: in pytscope it took none, which would make the mean
 * step look short.
 */
void tsi_steps_settle_times(struct step_series *steps);

/*
 * Joins what traces say of a rank to its own records, by step number: budgets go
 * to the records, as does memory that these lack; steps without a record are appended
 * with their budget alone.
 * Where the records are timeless, times and phases are the trace's, too.
 * from is left as it was.
 */
void tsi_steps_join(struct step_series *records, const struct step_series *from);

/*
 * The steps of a run of several ranks: of each number that all ranks have a
 * counted time for, the record of the rank that took longest (ties: the lowest
 * rank). Records have no budgets.
 */
void tsi_steps_slowest(struct step_series *ret, const struct step_series *ranks, size_t rank_count,
		       unsigned quorum_percent);

/* ns of a phase of unknown name, as an integer. */
static inline int64_t tsi_extra_ns(const struct step_extra *extra)
{
	return extra->value >= 0x1p63 ? INT64_MAX : (int64_t)extra->value;
}

/* Does the record take part in the statistics of time? */
static inline bool tsi_step_is_timed(const struct step_record *record)
{
	return (record->has & STEP_HAS_TIME) && record->mark == TSCOPE_STEP_COUNTED;
}

/*
 * Do its loss and its gradient's norm take part in theirs? A step at an end of a capture has an
 * odd time, but they are not odd.
 */
static inline bool tsi_step_is_trained(const struct step_record *record)
{
	return record->mark != TSCOPE_STEP_WARMUP;
}

/* How many records take part in the statistics of time. */
size_t tsi_count_timed(const struct step_series *steps);

/* Steps that would count if it were known how long they took. */
int64_t tsi_count_unknown_times(const struct step_series *steps);

/*
 * The records in the order of their numbers, equal ones in the order of time: pairs
 * of number (as a key) and index. *ret is the caller's to free.
 */
TSI_MUST_CHECK
enum tscope_status tsi_steps_by_number(struct sort_pair **ret, size_t *count,
				       const struct step_series *steps, bool only_timed,
				       struct tscope_error *err);

/* The index of the first record with this number among such pairs, or NO_ROW. O(log count). */
uint32_t tsi_step_of_number(const struct sort_pair *pairs, size_t count, int64_t number);

/* Why times of a timeless series must not be believed. */
extern const char tsi_timeless_doubt[];

/* The doubts against all step times of a trace whose steps overlap, or are of several processes. */
extern const char tsi_overlap_doubt[], tsi_mixed_doubt[];
/* The one of these that holds, or NULL. */
const char *tsi_step_time_doubt(const struct step_series *steps);

/* "data", "forward" …: pytscope's names. Never NULL. */
const char *tsi_phase_name(enum phase phase);

#endif
