/* SPDX-License-Identifier: MIT */
/*
 * The device memory of the steps, as they recorded it or as a trace's "[memory]"
 * events show it: peaks, how much of what the allocator holds lies idle, and
 * growth. Figures are of the unmarked steps that say how much is allocated. Those of a run are its
 * lowest rank's, but requests that failed are counted on all ranks: one is enough to end the run.
 */
#include "analyze/facts.h"
#include "analyze/shared/robust.h"

#include <tscope/memory.h>

#include "base/arena.h"
#include "base/ckd.h"
#include "base/sum.h"

#define FACTS(X)                                                                                   \
	X(PEAK_ALLOC_BYTES, "peak_alloc_bytes", BYTES, "most that was allocated")                  \
	X(PEAK_RESERVED_BYTES, "peak_reserved_bytes", BYTES, "most that the allocator held")       \
	X(MEAN_ALLOC_BYTES, "mean_alloc_bytes", BYTES, "mean allocation at the end of a step")     \
	X(FRAGMENTATION, "fragmentation", RATIO,                                                   \
	  "mean share of what is held that is not allocated")                                      \
	X(GROWTH_BYTES_PER_STEP, "growth_bytes_per_step", BYTES,                                   \
	  "pytscope's slope of the allocation, a little too small")                                \
	X(SLOPE_BYTES_PER_STEP, "slope_bytes_per_step", BYTES, "slope of the allocation")          \
	X(PEAK_STEP, "peak_step", COUNT, "first step with the most allocated")                     \
	X(STEP_COUNT, "step_count", COUNT, "steps that recorded memory")                           \
	X(EVENT_COUNT, "event_count", COUNT,                                                       \
	  "[memory] events of traces that the memory of steps is made of")                         \
	X(OOM_COUNT, "oom_count", COUNT,                                                           \
	  "[OutOfMemory] events of traces: requests that failed; of a run on all ranks")           \
	X(PEAK_TIME_NS, "peak_time_ns", NS,                                                        \
	  "when most was allocated in peak_step, by a trace: Unix time where the trace knows it, " \
	  "else on its own clock")                                                                 \
	X(SNAPSHOT_PEAK_STEP, "snapshot_peak_step", COUNT,                                         \
	  "step whose window holds snapshot.peak_time_ns")                                         \
	X(OOM_STEP, "oom_step", COUNT, "step whose window holds snapshot.oom_time_ns")

TSI_FACT_LIST(enum fact, facts, FACTS);

/* A peak that was not recorded is what the step ended with. */
static int64_t peak_of(const struct step_record *record, enum step_memory peak,
		       enum step_memory at_end)
{
	return record->memory_bytes[peak] > 0 ? record->memory_bytes[peak]
					      : record->memory_bytes[at_end];
}

static bool has_memory(const struct step_record *record)
{
	return record->mark == TSCOPE_STEP_COUNTED &&
	       record->memory_bytes[STEP_MEMORY_ALLOC] != NO_BYTES;
}

static void put_peaks(struct fact_sheet *out, const struct step_series *steps)
{
	int64_t peak_alloc = NO_BYTES, peak_reserved = NO_BYTES;
	const struct step_record *peak_step = NULL;

	for (size_t i = 0; i < steps->count; i++) {
		const struct step_record *record = &steps->records[i];
		if (!has_memory(record))
			continue;
		int64_t alloc = peak_of(record, STEP_MEMORY_PEAK_ALLOC, STEP_MEMORY_ALLOC);
		int64_t reserved = peak_of(record, STEP_MEMORY_PEAK_RESERVED, STEP_MEMORY_RESERVED);
		if (alloc > peak_alloc)
			peak_step = record;
		peak_alloc = alloc > peak_alloc ? alloc : peak_alloc;
		peak_reserved = reserved > peak_reserved ? reserved : peak_reserved;
	}
	tsi_fact_int(out, PEAK_ALLOC_BYTES, peak_alloc);
	if (!peak_step)
		return;
	tsi_fact_int(out, PEAK_STEP, peak_step->number);
	if (peak_step->budget != NO_ROW && steps->budgets[peak_step->budget].has_alloc_peak)
		tsi_fact_int(out, PEAK_TIME_NS, steps->budgets[peak_step->budget].alloc_peak_ns);
	if (peak_reserved != NO_BYTES)
		tsi_fact_int(out, PEAK_RESERVED_BYTES, peak_reserved);
}

/*
 * Allocation and reservation of the same step are paired. pytscope pairs two
 * lists by position, so that there a step without reservation shifts all later
 * pairs; where every step has both, or none has it, there is no difference.
 */
static void put_fragmentation(struct fact_sheet *out, const struct step_series *steps)
{
	double sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < steps->count; i++) {
		const int64_t *bytes = steps->records[i].memory_bytes;
		double reserved = (double)bytes[STEP_MEMORY_RESERVED];
		if (!has_memory(&steps->records[i]) || reserved <= 0)
			continue;
		sum += (reserved - (double)bytes[STEP_MEMORY_ALLOC]) / reserved;
		count++;
	}
	if (count)
		tsi_fact_real(out, FRAGMENTATION, sum / (double)count);
}

/* alloc: the allocation of the steps that have it, in the order of time. */
static void put_growth(struct fact_sheet *out, const double *alloc, size_t count)
{
	struct arena *scratch = tsi_sheet_scratch(out);
	double growth = tsi_robust_slope(alloc, count, scratch);
	double slope = tsi_centred_slope(alloc, count, scratch);

	tsi_fact_real(out, GROWTH_BYTES_PER_STEP, growth);
	if (count > 1)
		tsi_fact_real(out, SLOPE_BYTES_PER_STEP, slope);
}

/* Failures are those of all ranks that have events; the event count is the first rank's. */
static void put_events(struct fact_sheet *out, const struct step_series *ranks, size_t count)
{
	int64_t oom_count = 0;
	bool is_known = false;

	for (size_t i = 0; i < count; i++) {
		if (!ranks[i].memory_event_count)
			continue;
		is_known = true;
		tsi_sum(&oom_count, ranks[i].oom_count);
	}
	if (count && ranks[0].memory_event_count)
		tsi_fact_int(out, EVENT_COUNT, ranks[0].memory_event_count);
	if (is_known)
		tsi_fact_int(out, OOM_COUNT, oom_count);
}

/* The first step in whose window this Unix time lies, or NULL. */
static const struct step_record *find_step(const struct step_series *steps, int64_t time_ns)
{
	for (size_t i = 0; steps->has_start && i < steps->count; i++) {
		const struct step_record *record = &steps->records[i];
		int64_t since_ns;

		if (record->budget == NO_ROW)
			continue;
		const struct step_budget *budget = &steps->budgets[record->budget];
		if (time_ns >= budget->start_ns &&
		    !tsi_ckd_sub(&since_ns, time_ns, budget->start_ns) &&
		    since_ns < budget->wall_ns)
			return record;
	}
	return NULL;
}

/* The step of a moment of the rank's snapshot, if a trace recorded when its steps were. */
static void put_step_of(struct fact_sheet *out, enum fact fact, const struct analysis_scope *scope,
			const struct step_series *steps, const char *time_id)
{
	const struct tscope_analysis *snapshot =
		scope->rank_memory ? scope->rank_memory[TSCOPE_MEMORY_SNAPSHOT] : NULL;
	const struct step_record *step;
	struct tscope_value time;
	enum tscope_unit unit;

	if (!snapshot || !tscope_analysis_find(snapshot, time_id, &time, &unit) ||
	    time.kind != TSCOPE_VALUE_INT)
		return;
	step = find_step(steps, time.integer);
	if (step)
		tsi_fact_int(out, fact, step->number);
}

static void fill_memory(const struct analysis_scope *scope, struct fact_sheet *out)
{
	/* At the level of a run its steps are the slowest ranks', which have no memory. */
	bool is_run = scope->rank_count > 0;
	const struct step_series *steps = is_run ? scope->ranks : scope->steps;
	double *alloc = tsi_arena_new(tsi_sheet_scratch(out), steps->count, sizeof(*alloc));
	int64_t sum_bytes = 0;
	size_t count = 0;

	if (!alloc)
		return;
	for (size_t i = 0; i < steps->count; i++) {
		if (steps->records[i].mark == TSCOPE_STEP_COUNTED &&
		    (steps->records[i].has & STEP_MEMORY_UNKNOWN))
			tsi_fact_unreliable(out, "step records hold bytes that are no size");
		if (!has_memory(&steps->records[i]))
			continue;
		int64_t bytes = steps->records[i].memory_bytes[STEP_MEMORY_ALLOC];
		tsi_sum(&sum_bytes, bytes);
		alloc[count++] = (double)bytes;
	}
	put_events(out, steps, is_run ? scope->rank_count : 1);
	put_step_of(out, SNAPSHOT_PEAK_STEP, scope, steps, "snapshot.peak_time_ns");
	put_step_of(out, OOM_STEP, scope, steps, "snapshot.oom_time_ns");
	if (count == 0)
		return;
	tsi_fact_int(out, STEP_COUNT, (int64_t)count);
	tsi_fact_mean(out, MEAN_ALLOC_BYTES, sum_bytes, (int64_t)count);
	put_peaks(out, steps);
	put_fragmentation(out, steps);
	put_growth(out, alloc, count);
}

const struct analyzer tsi_analyzer_memory = {
	.def = {
		.id = "memory",
		.summary = "device memory that the steps or a trace recorded",
		TSI_FACTS(facts),
		.needs = "step records with memory, or a trace with profile_memory",
	},
	.levels = LEVEL_TRACE | LEVEL_RANK | LEVEL_RUN,
	.is_of_lowest_rank = true,
	.fill = fill_memory,
};
