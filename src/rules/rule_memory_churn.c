/* SPDX-License-Identifier: MIT */
/*
 * MEMORY.CHURN: memory goes back and forth between allocator and driver. cudaFree waits until the
 * device is idle, and cudaMalloc takes its place behind that, so each segment that is given back
 * and taken again is a pause, of a length that no snapshot records. It counts where it recurs: one
 * empty_cache(), between phases, is none. That an allocation failed and flushed the whole cache is
 * worth a word the first time: memory was full to the last segment.
 */
#include "rules/rule.h"

#include <inttypes.h>

struct churn {
	const char *retries_fact;
	int64_t retries;
	bool is_at_most;  /* the retries: some of them may be none */
	int64_t segments; /* given back and taken again */
	int64_t flushes;  /* times that some were */
	double per_1000;  /* allocations */
};

/* The first source that has seen a retry; where none has, one that would have. */
static const char *find_retries(const struct rule_context *ctx)
{
	static const char snapshot[] = "snapshot.retry_count";
	static const char stats[] = "memory_stats.num_alloc_retries";

	if (tsi_rule_int(ctx, snapshot) > 0)
		return snapshot;
	if (tsi_rule_int(ctx, stats) > 0)
		return stats;
	if (tsi_rule_has(ctx, snapshot))
		return snapshot;
	return tsi_rule_has(ctx, stats) || tsi_rule_has(ctx, "memory_stats.call_count") ? stats
											: snapshot;
}

static struct churn get_churn(const struct rule_context *ctx)
{
	const char *retries = find_retries(ctx);
	int64_t freed = tsi_rule_int(ctx, "snapshot.segment_free_count");
	int64_t taken = tsi_rule_int(ctx, "snapshot.segment_alloc_count");
	int64_t allocs = tsi_rule_int(ctx, "snapshot.alloc_count");
	struct churn churn = { .retries_fact = retries };

	churn.retries = tsi_rule_int(ctx, retries);
	churn.is_at_most = tsi_rule_doubt(ctx, retries) != NULL;
	churn.segments = freed < taken ? freed : taken;
	churn.flushes = tsi_rule_int(ctx, "snapshot.flush_count");
	if (allocs > 0)
		churn.per_1000 = 1000 * (double)churn.segments / (double)allocs;
	return churn;
}

static void fire_retries(struct rule_context *ctx, const struct churn *churn)
{
	enum tscope_severity severity = tsi_rule_grade(ctx, (double)churn->retries);

	if (churn->is_at_most && severity > TSCOPE_SEVERITY_MED)
		severity = TSCOPE_SEVERITY_MED;
	tsi_rule_fire(ctx, severity, "%s%" PRId64 " allocation retr%s (cache flushed)",
		      churn->is_at_most ? "at most " : "", churn->retries,
		      churn->retries == 1 ? "y" : "ies");
}

static void describe_segments(struct rule_context *ctx, const struct churn *churn)
{
	tsi_rule_detail(ctx,
			"%" PRId64 " segments freed and allocated again in %" PRId64
			" flushes, %.1f per 1000 allocations",
			churn->segments, churn->flushes, churn->per_1000);
	tsi_rule_evidence(ctx, "snapshot.flush_count");
	tsi_rule_evidence(ctx, "snapshot.segment_free_count");
	tsi_rule_evidence(ctx, "snapshot.segment_alloc_count");
	tsi_rule_evidence(ctx, "snapshot.alloc_count");
}

#define ADVICE                                                                                     \
	"leave room: a smaller micro-batch or activation checkpointing; take empty_cache() out "   \
	"of the loop; pad or bucket shapes so that cached blocks fit again"
#define ADVICE_COLLECTION                                                                          \
	"; garbage_collection_threshold:0.8 instead of whole flushes, but only together with "     \
	"torch.cuda.set_per_process_memory_fraction(): else it does nothing"

static const char advice_when_expandable[] = ADVICE ADVICE_COLLECTION;

static void evaluate_memory_churn(struct rule_context *ctx)
{
	struct churn churn = get_churn(ctx);
	double recurring = tsi_rule_parameter(ctx, "recurring");
	bool has_retries =
		churn.is_at_most ? (double)churn.retries >= recurring : churn.retries > 0;
	bool is_frequent = churn.per_1000 >= tsi_rule_parameter(ctx, "threshold") &&
			   (double)churn.segments >= tsi_rule_parameter(ctx, "segments") &&
			   (double)churn.flushes >= recurring;

	if (!tsi_rule_needs(ctx, churn.retries_fact))
		return;
	if (!has_retries && !is_frequent)
		return;
	if (has_retries)
		fire_retries(ctx, &churn);
	else
		tsi_rule_fire(ctx, TSCOPE_SEVERITY_MED,
			      "memory is returned to the driver and allocated again %" PRId64
			      " times",
			      churn.flushes);
	tsi_rule_evidence(ctx, churn.retries_fact);
	if (is_frequent)
		describe_segments(ctx, &churn);
	if (tsi_rule_flag(ctx, "snapshot.expandable_segments"))
		tsi_rule_advice(ctx, advice_when_expandable);
}

const struct rule tsi_rule_memory_churn = {
	.def = {
		.id = "MEMORY.CHURN",
		.summary = "the allocator returns memory to the driver and allocates it again",
		.trigger = "Fires where a snapshot or memory statistics show that an allocation "
			   "failed, flushed the cache and was tried again, high from high such "
			   "retries on, else med; where a snapshot without stacks only has "
			   "how many they are at most, med from recurring on. And where in a "
			   "snapshot at least segments segments were given back and taken again, "
			   "at least threshold in 1000 allocations, on at least recurring "
			   "occasions; med.",
		.meaning = "cudaFree waits until the device has done all its work, and cudaMalloc "
			   "follows: each segment is a pause of the step. A retry also says that "
			   "the memory was full: the next may fail.",
		.advice = ADVICE
		"; PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True" ADVICE_COLLECTION,
		.example = "12 of 40,000 allocations flushed the cache first: a finding of "
			   "severity high.",
		.parameters = {
			{ "threshold", 5, "segments given back and taken again in 1000 allocations "
					  "at which it fires" },
			{ "segments", 20, "fewest of them to judge by" },
			{ "recurring", 3, "fewest occasions: one empty_cache() is no churn" },
			{ "high", 10, "retries from which it is severe" },
		},
	},
	.cause = CAUSE_alloc_thrash,
	.evaluate = evaluate_memory_churn,
};
