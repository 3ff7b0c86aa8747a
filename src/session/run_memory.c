/* SPDX-License-Identifier: MIT */
/*
 * Which of a run's files about memory speak for a rank, and for the run. A job leaves many:
 * one for each rank, step and OOM; figures of several added up would mean nothing.
 */
#include "session/run.h"

#include "analyze/analysis.h"

/* The facts by which a file is chosen. */
static const struct {
	const char *oom_count, *peak_bytes; /* facts; oom_count may be NULL */
} kinds[TSCOPE_MEMORY_KIND_COUNT] = {
	[TSCOPE_MEMORY_SNAPSHOT] = { "snapshot.oom_count", "snapshot.peak_allocated_bytes" },
	[TSCOPE_MEMORY_TIMELINE] = { NULL, "memory_timeline.peak_bytes" },
	[TSCOPE_MEMORY_STATS] = { "memory_stats.num_ooms", "memory_stats.peak_allocated_bytes" },
	[TSCOPE_MEMORY_TRACKER] = { NULL, "memory_tracker.peak_bytes" },
	[TSCOPE_MEMORY_HOST] = { NULL, "host_memory.peak_bytes" },
};

/* The number, or -1 where it is absent. */
static int64_t find_int(const struct tscope_analysis *analysis, const char *id)
{
	struct tscope_value value = { .kind = TSCOPE_VALUE_ABSENT };
	enum tscope_unit unit;

	if (id)
		(void)tscope_analysis_find(analysis, id, &value, &unit);
	return value.kind == TSCOPE_VALUE_INT ? value.integer : -1;
}

static bool has_more(const struct tscope_analysis *a, const struct tscope_analysis *b,
		     enum tscope_memory_kind kind)
{
	bool a_has_oom = find_int(a, kinds[kind].oom_count) > 0;
	bool b_has_oom = find_int(b, kinds[kind].oom_count) > 0;

	if (a_has_oom != b_has_oom)
		return a_has_oom;
	return find_int(a, kinds[kind].peak_bytes) > find_int(b, kinds[kind].peak_bytes);
}

void tsi_run_memory_offer(struct run_memory *memory, const struct loaded *loaded)
{
	const struct tscope_analysis **speaker = &memory->by_kind[loaded->memory_kind];

	if (!*speaker || has_more(loaded->analysis, *speaker, loaded->memory_kind))
		*speaker = loaded->analysis;
}

void tsi_run_memory_put(const struct run_memory *memory, struct tscope_analysis *analysis)
{
	for (size_t kind = 0; kind < TSCOPE_MEMORY_KIND_COUNT; kind++)
		if (memory->by_kind[kind])
			tsi_analysis_put_memory(analysis, memory->by_kind[kind],
						(enum tscope_memory_kind)kind);
}

bool tsi_has_failed_request(const struct loaded *loaded)
{
	return loaded->input.kind == TSCOPE_INPUT_MEMORY &&
	       loaded->memory_kind == TSCOPE_MEMORY_SNAPSHOT &&
	       find_int(loaded->analysis, kinds[TSCOPE_MEMORY_SNAPSHOT].oom_count) > 0;
}
