/* SPDX-License-Identifier: MIT */
#include "rules/hang_finding.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/print_text.h"

bool tsi_hang_is(const struct rule_context *ctx, const char *kinds)
{
	const char *kind = tsi_rule_text(ctx, "hang.kind");
	size_t length = strlen(kind);

	for (const char *at = kinds; length > 0 && (at = strstr(at, kind)); at += length)
		if ((at == kinds || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
			return true;
	return false;
}

struct hang_words tsi_hang_culprits(const struct rule_context *ctx)
{
	const char *ranks = tsi_rule_text(ctx, "hang.culprit_ranks");
	struct hang_words words;

	snprintf(words.text, sizeof(words.text), "%s %.64s%s",
		 tsi_rule_int(ctx, "hang.culprit_count") == 1 ? "rank" : "ranks", ranks,
		 strlen(ranks) > 64 ? "..." : "");
	return words;
}

bool tsi_hang_is_found(struct rule_context *ctx, const char *kinds)
{
	if (tsi_hang_is(ctx, "undecided"))
		tsi_rule_undecided(ctx, true, "ranks wait, and the dumps do not show why");
	return tsi_hang_is(ctx, kinds);
}

/* "3 ranks wait since 12:04:31 UTC (timeout 600 s)" */
static struct hang_words name_waiting(const struct rule_context *ctx)
{
	int64_t count = tsi_rule_int(ctx, "hang.waiting_count");
	int64_t since_s = tsi_rule_int(ctx, "hang.since_ns") / 1000000000;
	int64_t timeout_s = tsi_rule_int(ctx, "hang.timeout_ns") / 1000000000;
	const char *ranks = tsi_rule_text(ctx, "hang.waiting_ranks");
	struct hang_words words = { "" };

	if (count == 0)
		return words;
	tsi_print_text(words.text, sizeof(words.text), "; %s %.40s%s wait%s",
		       count == 1 ? "rank" : "ranks", ranks, strlen(ranks) > 40 ? "..." : "",
		       count == 1 ? "s" : "");
	if (since_s > 0)
		tsi_append_text(words.text, sizeof(words.text), " since %02d:%02d:%02d UTC",
				(int)(since_s / 3600 % 24), (int)(since_s / 60 % 60),
				(int)(since_s % 60));
	if (timeout_s > 0)
		tsi_append_text(words.text, sizeof(words.text), " (timeout %" PRId64 " s)",
				timeout_s);
	return words;
}

/* Where the first culprit is, and one of those who wait. */
static void add_places(struct rule_context *ctx)
{
	const char *site = tsi_rule_text(ctx, "hang.culprit_site");
	const char *waiter_site = tsi_rule_text(ctx, "hang.waiter_site");

	if (*site)
		tsi_rule_subject(ctx)->source = site;
	if (*site && strcmp(site, waiter_site) == 0) {
		tsi_rule_detail(ctx,
				"rank %" PRId64 " and rank %" PRId64 ", which waits, are both "
				"at %.110s",
				tsi_rule_int(ctx, "hang.culprit_rank"),
				tsi_rule_int(ctx, "hang.waiter_rank"), site);
		return;
	}
	if (*site)
		tsi_rule_detail(ctx, "rank %" PRId64 " at %.110s",
				tsi_rule_int(ctx, "hang.culprit_rank"), site);
	if (*waiter_site)
		tsi_rule_detail(ctx, "rank %" PRId64 " waits at %.110s",
				tsi_rule_int(ctx, "hang.waiter_rank"), waiter_site);
}

/* Traces of the same ranks: what does the culprit do, and was it late before? */
static void add_traces(struct rule_context *ctx)
{
	int64_t rank = tsi_rule_int(ctx, "hang.culprit_rank");
	const char *place = tsi_rule_text(ctx, "hang.trace_place");

	if (*place)
		tsi_rule_detail(ctx,
				"the trace of rank %" PRId64 " ends %.1f s after that, in %.150s",
				rank, tsi_rule_real(ctx, "hang.trace_after_ns") / 1e9, place);
	if (tsi_rule_int(ctx, "hang.culprit_count") != 1 ||
	    tsi_rule_int(ctx, "stragglers.slow_rank_count") < 1)
		return;
	for (size_t row = 0; row < tsi_rule_rows(ctx, "stragglers.causes"); row++)
		if (tsi_rule_cell(ctx, "stragglers.causes", row, "rank").integer == rank)
			tsi_rule_detail(ctx, "the traces show rank %" PRId64 " late as well", rank);
}

static void add_doubts(struct rule_context *ctx)
{
	int64_t missing = tsi_rule_int(ctx, "hang.missing_count");
	const char *ranks = tsi_rule_text(ctx, "hang.missing_ranks");

	if (missing > 0 && !tsi_hang_is(ctx, "no_dump")) {
		tsi_rule_detail(ctx,
				"no readable dump of rank%s %.60s: what %s called is not known",
				missing == 1 ? "" : "s", ranks, missing == 1 ? "it" : "they");
		tsi_rule_confidence(ctx, TSCOPE_CONFIDENCE_MED);
	}
	if (tsi_rule_flag(ctx, "hang.is_tie"))
		tsi_rule_confidence(ctx, TSCOPE_CONFIDENCE_MED);
}

void tsi_hang_fire(struct rule_context *ctx, const char *format, ...)
{
	char wrong[900];
	va_list arguments;

	va_start(arguments, format);
	tsi_vprint_text(wrong, sizeof(wrong), format, arguments);
	va_end(arguments);
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH, "%.240s: %s%s", tsi_rule_text(ctx, "hang.call"),
		      wrong, name_waiting(ctx).text);
	if (tsi_rule_int(ctx, "hang.culprit_count") == 1)
		tsi_rule_subject(ctx)->rank = tsi_rule_int(ctx, "hang.culprit_rank");
	add_places(ctx);
	add_traces(ctx);
	add_doubts(ctx);
}
