/* SPDX-License-Identifier: MIT */
/*
 * MEMORY.HOST_GROWTH: the process takes more and more of the host's memory. Memory held after the
 * first half of a capture is held for good: models, caches, data sets. Memory added on top of that
 * in the second half, and still growing, is not in use but kept alive. A capture of a script that
 * runs for seconds only shows how it starts, so it is not judged.
 */
#include "rules/rule.h"

#include "analyze/memory/site_words.h"
#include "base/scaled_text.h"

static const char resident[] = "host_memory.rss_growth_ratio";
static const char live[] = "host_memory.growth_bytes";

/* Six of seven steps must rise: a cache that fills accounts for a step or two. */
#define RISING_MIN (6.0 / 7)
#define MOST 0.5 /* of the peak */

/* Whether resident memory rises steadily, and by enough. */
static bool is_resident_growing(const struct rule_context *ctx)
{
	return tsi_rule_real(ctx, resident) >= tsi_rule_parameter(ctx, "threshold") &&
	       tsi_rule_real(ctx, "host_memory.rss_rising_ratio") >= RISING_MIN - 1e-9 &&
	       tsi_rule_real(ctx, "host_memory.rss_growth_bytes") >=
		       tsi_rule_parameter(ctx, "bytes");
}

/* Whether live memory is known and the capture complete. */
static bool knows_live(const struct rule_context *ctx)
{
	return tsi_rule_has(ctx, live) && !tsi_rule_doubt(ctx, live);
}

/* Whether most memory live at the peak came in the second half, and stayed. */
static bool is_live_growing(const struct rule_context *ctx)
{
	double growth_bytes = tsi_rule_real(ctx, live);

	return knows_live(ctx) && growth_bytes >= tsi_rule_parameter(ctx, "bytes") &&
	       growth_bytes >= MOST * tsi_rule_real(ctx, "host_memory.peak_bytes");
}

/* The site that grew most, if known. */
static void describe_site(struct rule_context *ctx)
{
	double bytes = tsi_rule_cell_real(ctx, "host_memory.by_growth", 0, "growth_bytes");

	if (tsi_rule_rows(ctx, "host_memory.by_growth") == 0)
		return;
	struct str site =
		tsi_site_words(tsi_rule_cell_text(ctx, "host_memory.by_growth", 0, "site"));
	if (site.length)
		tsi_rule_detail(ctx, "most of it, %s, by %.*s",
				tsi_scaled_text(bytes, QUANTITY_SIZE).chars, TSI_QUOTE(site));
}

#define FRAGMENTED                                                                                 \
	"what is live does not grow, so freed memory does not go back to the system: fewer "       \
	"arenas of malloc (MALLOC_ARENA_MAX=2) or another allocator (jemalloc), or memory that "   \
	"memray does not see"

static void fire_resident(struct rule_context *ctx)
{
	double growth_bytes = tsi_rule_real(ctx, "host_memory.rss_growth_bytes");

	tsi_rule_fire(ctx, tsi_rule_grade(ctx, tsi_rule_real(ctx, resident)),
		      "resident memory grew by %s in the second half of the capture",
		      tsi_scaled_text(growth_bytes, QUANTITY_SIZE).chars);
	tsi_rule_detail(
		ctx, "+%.1f %%; %s per minute", 100 * tsi_rule_real(ctx, resident),
		tsi_scaled_text(60 * tsi_rule_real(ctx, "host_memory.rss_growth_bytes_per_second"),
				QUANTITY_SIZE)
			.chars);
	if (!knows_live(ctx))
		return;
	if (tsi_rule_real(ctx, live) >= growth_bytes / 2)
		describe_site(ctx);
	else
		tsi_rule_advice(ctx, FRAGMENTED);
}

static void fire_live(struct rule_context *ctx)
{
	double growth_bytes = tsi_rule_real(ctx, live);

	tsi_rule_fire(ctx, TSCOPE_SEVERITY_MED,
		      "%s were allocated in the second half of the capture and never freed",
		      tsi_scaled_text(growth_bytes, QUANTITY_SIZE).chars);
	tsi_rule_detail(ctx, "%.1f %% of the peak",
			100 * growth_bytes / tsi_rule_real(ctx, "host_memory.peak_bytes"));
	describe_site(ctx);
}

static bool is_long(struct rule_context *ctx)
{
	double seconds = tsi_rule_real(ctx, "host_memory.capture_ns") / 1e9;

	if (seconds >= tsi_rule_parameter(ctx, "seconds"))
		return true;
	tsi_rule_undecided(ctx, is_resident_growing(ctx), "%.4g s were captured: it needs %g",
			   seconds, tsi_rule_parameter(ctx, "seconds"));
	return false;
}

static void evaluate_memory_host_growth(struct rule_context *ctx)
{
	if (!is_long(ctx))
		return;
	if (!tsi_rule_has(ctx, resident) && !knows_live(ctx)) {
		tsi_rule_skip(ctx, "no memory over time: it needs the capture itself, "
				   "with records of resident memory");
		return;
	}
	if (is_resident_growing(ctx))
		fire_resident(ctx);
	else if (is_live_growing(ctx))
		fire_live(ctx);
}

const struct rule tsi_rule_memory_host_growth = {
	.def = {
		.id = "MEMORY.HOST_GROWTH",
		.summary = "the process takes more and more memory of the host",
		.trigger = "Fires where in the second half of a memray capture resident memory "
			   "rises by at least bytes and by threshold, and its lowest in each "
			   "eighth of that half is above the one before in at least 6 of 7 cases; "
			   "high from high on, else med. Else where what was allocated in that "
			   "half and never freed is at least bytes and half of the peak; med. It "
			   "needs a capture of seconds.",
		.meaning = "What a job needs it holds by the middle of a capture. Memory that "
			   "keeps growing after that fills the host, until the kernel's OOM killer "
			   "ends the process without a traceback, and the job with it.",
		.advice = "look at what grew (host_memory.by_growth): lists and caches that "
			  "collect tensors, losses or metrics (keep .item()), queues that fill "
			  "faster than they are read, data loader workers that keep files open; if "
			  "the growth is intended, such as a dataset read into memory, raise the "
			  "threshold",
		.example = "From the middle of a capture of 10 minutes on resident memory rises "
			   "from 4.0 to 4.9 GiB, by 0.9 GiB, higher in each eighth: 22.5 %, a "
			   "finding of severity med.",
		.facts = { "host_memory.capture_ns" },
		.parameters = {
			{ "threshold", 0.1, "growth of resident memory in the second half, against "
					    "what it was there at first, at which it fires" },
			{ "high", 0.5, "growth from which it is severe" },
			{ "bytes", 67108864, "least growth to judge by (64 MiB)" },
			{ "seconds", 60, "shortest capture to judge by" },
		},
	},
	.evidence = { "host_memory.rss_growth_bytes", "host_memory.rss_rising_ratio",
		      "host_memory.growth_bytes", "host_memory.peak_bytes",
		      "host_memory.capture_ns" },
	.cause = CAUSE_memory_growth,
	.is_separate = true,
	.evaluate = evaluate_memory_host_growth,
};
