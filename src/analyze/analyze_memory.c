/* SPDX-License-Identifier: MIT */
/*
 * The device memory that the steps recorded: peaks, how much of what the
 * allocator holds lies idle, and growth. Figures are of the unmarked steps that
 * say how much is allocated.
 */
#include "analyze/facts.h"
#include "analyze/robust.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/sum.h"

enum fact {
	PEAK_ALLOC_BYTES,
	PEAK_RESERVED_BYTES,
	MEAN_ALLOC_BYTES,
	FRAGMENTATION,
	GROWTH_BYTES_PER_STEP,
	SLOPE_BYTES_PER_STEP,
	PEAK_STEP,
	STEP_COUNT,
};

static const struct tscope_fact_def facts[] = {
	[PEAK_ALLOC_BYTES] = { "peak_alloc_bytes", TSCOPE_UNIT_BYTES, "most that was allocated" },
	[PEAK_RESERVED_BYTES] = { "peak_reserved_bytes", TSCOPE_UNIT_BYTES,
				  "most that the allocator held" },
	[MEAN_ALLOC_BYTES] = { "mean_alloc_bytes", TSCOPE_UNIT_BYTES,
			       "mean allocation at the end of a step" },
	[FRAGMENTATION] = { "fragmentation", TSCOPE_UNIT_RATIO,
			    "mean share of what is held that is not allocated" },
	[GROWTH_BYTES_PER_STEP] = { "growth_bytes_per_step", TSCOPE_UNIT_BYTES,
				    "pytscope's slope of the allocation, a little too small" },
	[SLOPE_BYTES_PER_STEP] = { "slope_bytes_per_step", TSCOPE_UNIT_BYTES,
				   "slope of the allocation" },
	[PEAK_STEP] = { "peak_step", TSCOPE_UNIT_COUNT, "first step with the most allocated" },
	[STEP_COUNT] = { "step_count", TSCOPE_UNIT_COUNT, "steps that recorded memory" },
};

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
	int64_t peak_alloc = NO_BYTES, peak_reserved = NO_BYTES, peak_step = 0;

	for (size_t i = 0; i < steps->count; i++) {
		const struct step_record *record = &steps->records[i];
		if (!has_memory(record))
			continue;
		int64_t alloc = peak_of(record, STEP_MEMORY_PEAK_ALLOC, STEP_MEMORY_ALLOC);
		int64_t reserved = peak_of(record, STEP_MEMORY_PEAK_RESERVED, STEP_MEMORY_RESERVED);
		if (alloc > peak_alloc)
			peak_step = record->number;
		peak_alloc = alloc > peak_alloc ? alloc : peak_alloc;
		peak_reserved = reserved > peak_reserved ? reserved : peak_reserved;
	}
	tsi_fact_int(out, PEAK_ALLOC_BYTES, peak_alloc);
	tsi_fact_int(out, PEAK_STEP, peak_step);
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

/* The allocation of the steps that have it, in the order of time. */
static enum tscope_status put_growth(struct fact_sheet *out, const double *alloc, size_t count,
				     struct tscope_error *err)
{
	double growth, slope;

	if (tsi_robust_slope(alloc, count, &growth, err) != TSCOPE_OK ||
	    tsi_centred_slope(alloc, count, &slope, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	tsi_fact_real(out, GROWTH_BYTES_PER_STEP, growth);
	if (count > 1)
		tsi_fact_real(out, SLOPE_BYTES_PER_STEP, slope);
	return TSCOPE_OK;
}

static enum tscope_status run(const struct analysis_scope *scope, struct fact_sheet *out,
			      struct tscope_error *err)
{
	const struct step_series *steps = scope->steps;
	int64_t sum_bytes = 0;
	size_t count = 0;
	double *alloc;

	if (tsi_array_new(&alloc, steps->count, sizeof(*alloc), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < steps->count; i++) {
		if (!has_memory(&steps->records[i]))
			continue;
		int64_t bytes = steps->records[i].memory_bytes[STEP_MEMORY_ALLOC];
		tsi_sum(&sum_bytes, bytes);
		alloc[count++] = (double)bytes;
	}
	enum tscope_status status = TSCOPE_OK;
	if (count) {
		tsi_fact_int(out, STEP_COUNT, (int64_t)count);
		tsi_fact_mean(out, MEAN_ALLOC_BYTES, sum_bytes, (int64_t)count);
		put_peaks(out, steps);
		put_fragmentation(out, steps);
		status = put_growth(out, alloc, count, err);
	}
	free(alloc);
	return status;
}

const struct analyzer tsi_analyzer_memory = {
	.def = {
		.id = "memory",
		.summary = "device memory that the steps recorded",
		.facts = facts,
		.fact_count = TSI_COUNT_OF(facts),
		.needs = "step records with memory",
	},
	.levels = LEVEL_RANK,
	.run = run,
};
