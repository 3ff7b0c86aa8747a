/* SPDX-License-Identifier: MIT */
#include "diff/fact_basis.h"

#include <stdio.h>
#include <string.h>

#include "base/attributes.h"

/* The first row whose pattern matches counts; its * stands for any text. */
struct row {
	const char *pattern;
	enum fact_basis basis;
	bool falls;
	const char *column; /* with the text that * stands for in the place of % */
};

static const struct row rows[] = {
	/* Figures that identify a file, device, moment or entry, or repeat another one. */
	{ "*path", BASIS_LEFT_OUT, false, NULL },
	{ "*_time_ns", BASIS_LEFT_OUT, false, NULL },
	{ "*_index", BASIS_LEFT_OUT, false, NULL },
	{ "*_device", BASIS_LEFT_OUT, false, NULL },
	{ "memory.peak_step", BASIS_LEFT_OUT, false, NULL },
	{ "memory.snapshot_peak_step", BASIS_LEFT_OUT, false, NULL },
	{ "memory_tracker.iteration", BASIS_LEFT_OUT, false, NULL },
	{ "host_memory.pid", BASIS_LEFT_OUT, false, NULL },
	{ "provenance.name", BASIS_LEFT_OUT, false, NULL },
	{ "provenance.started_s", BASIS_LEFT_OUT, false, NULL },
	{ "breakdown.*", BASIS_LEFT_OUT, false, NULL },
	{ "opportunities.wall_total_ns", BASIS_LEFT_OUT, false, NULL },
	{ "opportunities.step_count", BASIS_LEFT_OUT, false, NULL },
	{ "patterns.wall_total_ns", BASIS_LEFT_OUT, false, NULL },
	{ "patterns.step_count", BASIS_LEFT_OUT, false, NULL },

	/* Counts, bytes and texts that differ by chance. */
	{ "integrity.verdict", BASIS_EXACT, false, NULL },
	{ "integrity.doubt", BASIS_EXACT, false, NULL },
	{ "integrity.*", BASIS_NONE, false, NULL },
	{ "correlation.*", BASIS_NONE, false, NULL },
	{ "step_time.spike_count", BASIS_NONE, false, NULL },
	{ "efficiency.precision", BASIS_NONE, false, NULL },
	{ "efficiency.top_recoverable", BASIS_NONE, false, NULL },
	{ "memory.event_count", BASIS_NONE, false, NULL },
	{ "memory.growth_bytes_per_step", BASIS_NONE, false, NULL },
	{ "memory.slope_bytes_per_step", BASIS_NONE, false, NULL },
	{ "memory_stats.growth_bytes_per_call", BASIS_NONE, false, NULL },
	{ "host_memory.*", BASIS_NONE, false, NULL },
	{ "graphs.*", BASIS_NONE, false, NULL },
	{ "logged_efficiency.*", BASIS_NONE, false, NULL },
	{ "callbacks.top_name", BASIS_NONE, false, NULL },
	{ "counters.value_count", BASIS_NONE, false, NULL },
	{ "clock_sync.skew_is_known", BASIS_NONE, false, NULL },
	{ "pipeline.busiest_stage", BASIS_NONE, false, NULL },
	{ "pipeline.idlest_stage", BASIS_NONE, false, NULL },
	{ "experts.busiest_rank", BASIS_NONE, false, NULL },
	{ "device_busy.queue_max", BASIS_NONE, false, NULL },
	{ "device_busy.memory_max_bytes", BASIS_NONE, false, NULL },
	{ "kernels.short_count", BASIS_NONE, false, NULL },

	{ "launches.launches_per_step", BASIS_EXACT, false, NULL },

	/* Facts based on step times. */
	{ "step_time.mean_ns", BASIS_STEP, false, NULL },
	{ "step_time.steps_per_second", BASIS_STEP, true, NULL },
	{ "step_time.p50_ns", BASIS_TYPICAL_STEP, false, NULL },
	{ "step_time.phase.*_ns", BASIS_PART, false, "phase_%_ns" },
	{ "step_time.phase.*_ratio", BASIS_SHARE, false, "phase_%_ns" },
	{ "pipeline.wall_ns", BASIS_STEP, false, NULL },
	{ "budget.wall_total_ns", BASIS_WALL, false, NULL },
	/* Not recorded per step. */
	{ "budget.exposed_wait_total_ns", BASIS_NONE, false, NULL },
	{ "budget.exposed_transfer_total_ns", BASIS_NONE, false, NULL },
	{ "budget.exposed_unsplit_total_ns", BASIS_NONE, false, NULL },
	{ "budget.exposed_own_total_ns", BASIS_NONE, false, NULL },
	{ "budget.host.comm_*_total_ns", BASIS_NONE, false, NULL },
	{ "budget.host.*_total_ns", BASIS_PART, false, "host_%_ns" },
	{ "budget.phase.*", BASIS_NONE, false, NULL },
	{ "budget.*_total_ns", BASIS_PART, false, "line_%_ns" },
	{ "efficiency.wall_ns", BASIS_STEP, false, NULL },
	{ "efficiency.mean_wall_ns", BASIS_STEP, false, NULL },
	{ "efficiency.mfu", BASIS_UTILISATION, true, NULL },
	{ "efficiency.hfu", BASIS_UTILISATION, true, NULL },
	{ "efficiency.mfu_uncapped", BASIS_UTILISATION, true, NULL },
	{ "efficiency.achieved_tflops", BASIS_UTILISATION, true, NULL },
	{ "memory.mean_alloc_bytes", BASIS_ALLOCATION, false, NULL },
};

/* The part of the id that * stands for, and its length; or NULL. */
static const char *match(const char *pattern, const char *id, size_t *length)
{
	size_t before = strcspn(pattern, "*"), id_length = strlen(id);
	const char *after = pattern + before + (pattern[before] == '*');
	size_t after_length = strlen(after);

	if (pattern[before] == '\0')
		after_length = 0;
	if (id_length < before + after_length || strncmp(id, pattern, before) != 0 ||
	    strcmp(id + id_length - after_length, after) != 0)
		return NULL;
	*length = id_length - before - after_length;
	return pattern[before] == '*' || *length == 0 ? id + before : NULL;
}

static enum fact_basis basis_of_unit(enum tscope_unit unit)
{
	switch (unit) {
	case TSCOPE_UNIT_COUNT:
	case TSCOPE_UNIT_BYTES:
	case TSCOPE_UNIT_FLOPS:
	case TSCOPE_UNIT_FLOPS_PER_SECOND: /* a peak */
	case TSCOPE_UNIT_TEXT:
	case TSCOPE_UNIT_FLAG:
		return BASIS_EXACT;
	default:
		return BASIS_NONE;
	}
}

struct fact_judgement tsi_judge_fact(const char *id, enum tscope_unit unit)
{
	struct fact_judgement judgement = { .basis = basis_of_unit(unit) };

	for (size_t i = 0; i < TSI_COUNT_OF(rows); i++) {
		size_t length;
		const char *part = match(rows[i].pattern, id, &length);
		if (!part)
			continue;
		judgement.basis = rows[i].basis;
		judgement.falls = rows[i].falls;
		if (rows[i].column) {
			int before = (int)strcspn(rows[i].column, "%");
			snprintf(judgement.column, sizeof(judgement.column), "%.*s%.*s%s", before,
				 rows[i].column, (int)length, part, rows[i].column + before + 1);
		}
		break;
	}
	return judgement;
}
