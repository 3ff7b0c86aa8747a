/* SPDX-License-Identifier: MIT */
/*
 * Steps at which several signals of a rank jump at once: loss, gradient norm, step
 * time and memory, each against its own near past. One alone is noise; together
 * they are an event, and events close to each other are one group (pytscope's
 * CROSS.CORRELATED_INSTABILITY, which reports the first three groups).
 */
#include "analyze/facts.h"
#include "analyze/shared/robust.h"

#include "base/ckd.h"
#include <math.h>

#define FACTS(X)                                                                                   \
	X(GROUP_COUNT, "group_count", COUNT, "groups of events at most 2 recorded steps apart")    \
	X(EVENT_COUNT, "event_count", COUNT, "steps at which two or more signals jump")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define GROUP_COLUMNS(X)                                                                           \
	X(FIRST_STEP, "first_step", COUNT, "number of its first event")                            \
	X(LAST_STEP, "last_step", COUNT, "number of its last event")                               \
	X(PEAK_STEP, "peak_step", COUNT, "its event of the largest loss")                          \
	X(AXES, "axes", TEXT, "signals that jump in it")                                           \
	X(LOSS, "loss", NUMBER, "at the peak, if finite")                                          \
	X(GRAD_NORM, "grad_norm", NUMBER, "at the peak")                                           \
	X(STEP_NS, "step_ns", NS, "at the peak")                                                   \
	X(ALLOC_BYTES, "alloc_bytes", BYTES, "at the peak")

TSI_FACT_LIST(enum column, group_columns, GROUP_COLUMNS);

#define TABLES(X) X(GROUPS, "groups", group_columns, "the groups, in order of time")

TSI_TABLE_LIST(enum table, tables, TABLES);

/* A bit for each signal, in the order of their names. */
enum axis {
	AXIS_GRAD_NORM = 1 << 0,
	AXIS_LOSS = 1 << 1,
	AXIS_MEMORY = 1 << 2,
	AXIS_STEP_TIME = 1 << 3,
	AXES_END = 1 << 4,
};

/* A label for every combination of two or more signals. */
static const char *const axes_names[AXES_END] = {
	[AXIS_GRAD_NORM | AXIS_LOSS] = "grad_norm, loss",
	[AXIS_GRAD_NORM | AXIS_MEMORY] = "grad_norm, memory",
	[AXIS_GRAD_NORM | AXIS_STEP_TIME] = "grad_norm, step_time",
	[AXIS_LOSS | AXIS_MEMORY] = "loss, memory",
	[AXIS_LOSS | AXIS_STEP_TIME] = "loss, step_time",
	[AXIS_MEMORY | AXIS_STEP_TIME] = "memory, step_time",
	[AXIS_GRAD_NORM | AXIS_LOSS | AXIS_MEMORY] = "grad_norm, loss, memory",
	[AXIS_GRAD_NORM | AXIS_LOSS | AXIS_STEP_TIME] = "grad_norm, loss, step_time",
	[AXIS_GRAD_NORM | AXIS_MEMORY | AXIS_STEP_TIME] = "grad_norm, memory, step_time",
	[AXIS_LOSS | AXIS_MEMORY | AXIS_STEP_TIME] = "loss, memory, step_time",
	[AXIS_GRAD_NORM | AXIS_LOSS | AXIS_MEMORY | AXIS_STEP_TIME] =
		"grad_norm, loss, memory, step_time",
};

enum {
	MIN_STEPS = 8, /* pytscope's: fewer are not judged */
	MAX_GAP = 2,   /* between two events of a group, in steps that were recorded */
};

struct signals {
	const struct step_record **records; /* the counted ones, in order of time */
	unsigned *axes;                     /* by record: those that jump */
	double *values;                     /* by record: one signal; NaN where it has none */
	bool *is_spike;
	size_t count;
	double spacing; /* of their numbers: loggers take every tenth or fiftieth step */
};

static bool has_signal(const struct step_record *record, enum axis axis)
{
	switch (axis) {
	case AXIS_GRAD_NORM:
		return record->has & STEP_HAS_GRAD_NORM;
	case AXIS_LOSS:
		return record->has & STEP_HAS_LOSS;
	case AXIS_MEMORY:
		return record->memory_bytes[STEP_MEMORY_ALLOC] != NO_BYTES;
	default:
		return record->has & STEP_HAS_TIME;
	}
}

/* A step of which only metrics are known has its place among the others. */
static bool has_any_signal(const struct step_record *record)
{
	for (unsigned axis = 1; axis < AXES_END; axis <<= 1)
		if (has_signal(record, (enum axis)axis))
			return true;
	return false;
}

static void signals_init(struct signals *signals, const struct step_series *steps,
			 struct arena *scratch)
{
	size_t room = steps->count;

	signals->records = tsi_arena_new(scratch, room, sizeof(*signals->records));
	signals->axes = tsi_arena_new(scratch, room, sizeof(*signals->axes));
	signals->values = tsi_arena_new(scratch, room, sizeof(*signals->values));
	signals->is_spike = tsi_arena_new(scratch, room, sizeof(*signals->is_spike));
	if (scratch->has_failed)
		return;
	for (size_t i = 0; i < room; i++)
		if (steps->records[i].mark == TSCOPE_STEP_COUNTED &&
		    has_any_signal(&steps->records[i]))
			signals->records[signals->count++] = &steps->records[i];
}

static double value_of(const struct step_record *record, enum axis axis)
{
	switch (axis) {
	case AXIS_GRAD_NORM:
		return record->grad_norm;
	case AXIS_LOSS:
		return record->loss;
	case AXIS_MEMORY:
		return (double)record->memory_bytes[STEP_MEMORY_ALLOC];
	default:
		return (double)record->time_ns;
	}
}

static bool has_bad_loss(const struct step_record *record)
{
	return has_signal(record, AXIS_LOSS) && !isfinite(record->loss);
}

/* Marks where a signal jumps. True if it was recorded at all. */
static bool mark_jumps(struct signals *signals, enum axis axis)
{
	bool is_recorded = false;

	for (size_t i = 0; i < signals->count; i++) {
		bool has = has_signal(signals->records[i], axis);
		signals->values[i] = has ? value_of(signals->records[i], axis) : NAN;
		is_recorded |= has;
	}
	tsi_local_spikes(signals->values, signals->count, signals->is_spike);
	for (size_t i = 0; i < signals->count; i++)
		if (signals->is_spike[i] ||
		    (axis == AXIS_LOSS && has_bad_loss(signals->records[i])))
			signals->axes[i] |= axis;
	return is_recorded;
}

static bool is_event(unsigned axes)
{
	return (axes & (axes - 1)) != 0; /* more than one bit */
}

/* The median distance between the numbers of neighbours; 1 where they do not ascend. */
static double spacing_of(const struct signals *signals)
{
	size_t count = 0;

	for (size_t i = 1; i < signals->count; i++) {
		int64_t gap;
		if (!tsi_ckd_sub(&gap, signals->records[i]->number,
				 signals->records[i - 1]->number))
			signals->values[count++] = (double)gap;
	}
	return fmax(1, tsi_median(signals->values, count));
}

/* Does a step belong to the group whose last event is `last`? */
static bool is_near(const struct signals *signals, const struct step_record *last,
		    const struct step_record *record)
{
	int64_t gap;

	return !tsi_ckd_sub(&gap, record->number, last->number) && gap >= 0 &&
	       (double)gap <= MAX_GAP * signals->spacing;
}

/* For the peak: what is not finite is larger than all, what is not recorded less. */
static double height_of(const struct step_record *record)
{
	if (!has_signal(record, AXIS_LOSS))
		return -INFINITY;
	return isfinite(record->loss) ? record->loss : INFINITY;
}

static void fill_row(struct tscope_value *cells, const struct step_record *peak)
{
	cells[PEAK_STEP] = tsi_int(peak->number);
	if (has_signal(peak, AXIS_STEP_TIME))
		cells[STEP_NS] = tsi_int(peak->time_ns);
	if (has_signal(peak, AXIS_LOSS))
		cells[LOSS] = tsi_real(peak->loss);
	if (has_signal(peak, AXIS_GRAD_NORM))
		cells[GRAD_NORM] = tsi_real(peak->grad_norm);
	if (has_signal(peak, AXIS_MEMORY))
		cells[ALLOC_BYTES] = tsi_int(peak->memory_bytes[STEP_MEMORY_ALLOC]);
}

/* Lists the group that begins at an event; returns the index behind its last event. */
static size_t list_group(const struct signals *signals, size_t first, int64_t *event_count,
			 struct tscope_value *cells)
{
	const struct step_record *const *records = signals->records;
	const struct step_record *peak = records[first];
	unsigned axes = 0;
	size_t last = first;

	for (size_t i = first; i < signals->count; i++) {
		if (!is_event(signals->axes[i]))
			continue;
		if (!is_near(signals, records[last], records[i]))
			break;
		if (height_of(records[i]) > height_of(peak))
			peak = records[i];
		axes |= signals->axes[i];
		last = i;
		(*event_count)++;
	}
	fill_row(cells, peak);
	cells[FIRST_STEP] = tsi_int(records[first]->number);
	cells[LAST_STEP] = tsi_int(records[last]->number);
	cells[AXES] = tsi_text(axes_names[axes]);
	return last + 1;
}

static void list_groups(const struct signals *signals, struct fact_sheet *out)
{
	int64_t group_count = 0, event_count = 0;

	for (size_t i = 0; i < signals->count;) {
		if (!is_event(signals->axes[i])) {
			i++;
			continue;
		}
		struct tscope_value *cells = tsi_table_row(out, GROUPS);
		i = list_group(signals, i, &event_count, cells);
		group_count++;
	}
	tsi_fact_int(out, GROUP_COUNT, group_count);
	tsi_fact_int(out, EVENT_COUNT, event_count);
}

static void fill_correlation(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct signals signals = { 0 };
	unsigned recorded = 0;

	signals_init(&signals, scope->steps, tsi_sheet_scratch(out));
	if (signals.count < MIN_STEPS)
		return;
	for (unsigned axis = 1; axis < AXES_END; axis <<= 1)
		if (mark_jumps(&signals, (enum axis)axis))
			recorded |= axis;
	/* With step times alone, absent is better than "no event". */
	if (!is_event(recorded))
		return;
	signals.spacing = spacing_of(&signals);
	list_groups(&signals, out);
}

const struct analyzer tsi_analyzer_correlation = {
	.def = {
		.id = "correlation",
		.summary = "steps at which several signals jump at once",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "8 or more steps with a loss, a gradient norm or memory beside their time",
		.total = TSCOPE_TOTAL_TIMED,
	},
	.levels = LEVEL_RANK,
	.fill = fill_correlation,
};
