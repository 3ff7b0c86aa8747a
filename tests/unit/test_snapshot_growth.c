/* SPDX-License-Identifier: MIT */
/* analyze/memory/snapshot_growth.c: two snapshots of one process, whose differences are worked out here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis_check.h"
#include "analyze/fact_sheet.h"
#include "analyze/memory/snapshot_parts.h"
#include "check.h"
#include "fail_alloc.h"
#include "plain_text.h"

/*
 * A snapshot of so many reserved bytes, whose blocks are words, "leak.py:100/128" (site:requested
 * of size), with ":pending" or ":inactive" for those that are not allocated; "-" is no stack.
 */
static char *snapshot_of(const char *reserved, const char *blocks)
{
	char *text = calloc(strlen(blocks) + 4, 64), *at = text, *copy = strdup(blocks);
	char *rest = NULL;

	assert_true(text && copy);
	at += sprintf(at, "{segments: [{device: 0, address: 1, total_size: %s, blocks: [",
		      reserved);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		char *part = NULL, *file = strtok_r(word, ":", &part);
		char *requested = strtok_r(NULL, "/", &part), *size = strtok_r(NULL, ":", &part);
		bool is_allocated = *part == '\0', is_pending = strcmp(part, "pending") == 0;
		at += sprintf(at, "{size: %s, requested_size: %s, state: %s", size, requested,
			      is_allocated ? "active_allocated"
			      : is_pending ? "active_pending_free"
					   : "inactive");
		if (*file != '-')
			at += sprintf(at, ", frames: [{filename: '%s', line: 1, name: f}]", file);
		at += sprintf(at, "},");
	}
	sprintf(at, "]}]}");
	free(copy);
	return text;
}

static struct analyzed *growth_of(char *now, char *then,
				  const struct tscope_analysis_options *options)
{
	struct analyzed *a = analyze_growth(now, then, options);

	free(now);
	free(then);
	return a;
}

/*
 *	site	then		now		growth
 *	leak	2 × 100 = 200	4 × 100 = 400	+200
 *	same	30		30		0, the same number: no row
 *	gone	250		–		−250
 *	new	–		10 pending	+10
 *	(none)	7		7 + 3		+3
 *	split	20		2 × 10		0, but two blocks: a row
 *	inactive blocks do not count
 *
 * then 200 + 30 + 250 + 7 + 20 = 507; now 400 + 30 + 10 + 10 + 20 = 470: −37; 9000 − 8000 = 1000
 */
static char *then(void)
{
	return snapshot_of("8000", "leak.py:100/128 leak.py:100/128 same.py:30/32 gone.py:250/256 "
				   "-:7/8 split.py:20/32 x.py:9/9:inactive");
}

static char *now(void)
{
	return snapshot_of("9000",
			   "leak.py:100/128 leak.py:100/128 leak.py:100/128 leak.py:100/128 "
			   "same.py:30/32 new.py:10/16:pending -:7/8 -:-1/3 "
			   "split.py:10/16 split.py:10/16");
}

TEST(test_growth)
{
	struct analyzed *a = growth_of(now(), then(), NULL);

	check_facts(a, "snapshot: earlier_path growth_bytes growth_reserved_bytes",
		    "earlier -37 1000");
	check_table(a, "snapshot.growth: site growth_bytes earlier_bytes bytes earlier_count count",
		    "gone.py:1:f -250 250 0 1 0\n"
		    "leak.py:1:f 200 200 400 2 4\n"
		    "new.py:1:f 10 0 10 0 1\n"
		    " 3 7 10 1 2\n"
		    "split.py:1:f 0 20 20 1 2\n");
}

/* Backwards: the same with other signs. */
TEST(test_shrinking)
{
	struct analyzed *a = growth_of(then(), now(), NULL);

	check_facts(a, "snapshot: growth_bytes growth_reserved_bytes", "37 -1000");
	check_table(a, "snapshot.growth: site growth_bytes count",
		    "gone.py:1:f 250 1\n"
		    "leak.py:1:f -200 2\n"
		    "new.py:1:f -10 0\n"
		    " -3 1\n"
		    "split.py:1:f 0 1\n");
}

/* Equal growth, by site; the filter takes the rest together. */
TEST(test_order_and_filter)
{
	const struct tscope_analysis_options options = { .stack_filter = "b.py" };
	static const char later[] = "c.py:4/4 a.py:4/4 b.py:4/4";
	struct analyzed *a = growth_of(snapshot_of("9", later), snapshot_of("9", ""), NULL);

	check_table(a, "snapshot.growth: site growth_bytes",
		    "a.py:1:f 4\nb.py:1:f 4\nc.py:1:f 4\n");
	a = growth_of(snapshot_of("9", later), snapshot_of("9", ""), &options);
	check_table(a, "snapshot.growth: site growth_bytes", "(other) 8\nb.py:1:f 4\n");
}

TEST(test_nothing_changed)
{
	struct analyzed *a = growth_of(now(), now(), NULL);

	check_facts(a, "snapshot: growth_bytes growth_reserved_bytes", "0 0");
	check_table(a, "snapshot.growth: site", "");
}

TEST(test_nothing_earlier)
{
	char *text = now();
	struct analyzed *a = analyze_memory(text, NULL);

	check_facts(a, "snapshot: earlier_path growth_bytes growth_reserved_bytes", "- - -");
	check_table(a, "snapshot.growth: site", "");
	free(text);
}

/* Sums that would pass the largest number stay there, and so does their difference. */
TEST(test_absurd_numbers)
{
	static const char most[] = "9223372036854775807";
	static const char huge[] = "-:9223372036854775807/1 -:9223372036854775807/1";
	struct analyzed *a = growth_of(snapshot_of(most, huge), snapshot_of("0", ""), NULL);

	check_facts(a, "snapshot: growth_bytes growth_reserved_bytes",
		    "9223372036854775807 9223372036854775807");
	a = growth_of(snapshot_of("0", ""), snapshot_of(most, huge), NULL);
	check_facts(a, "snapshot: growth_bytes growth_reserved_bytes",
		    "-9223372036854775807 -9223372036854775807");
	check_table(a, "snapshot.growth: growth_bytes earlier_count", "-9223372036854775807 2\n");
}

/* ---- memory ------------------------------------------------------------------------------- */

/* The part alone: what it puts into a sheet. */
static enum tscope_status put_growth(struct tscope_memory *memory, struct tscope_memory *earlier,
				     struct tscope_error *err)
{
	extern const struct analyzer tsi_analyzer_snapshot;
	struct stack_sites sites = { 0 };
	struct fact_sheet sheet = { 0 };
	const struct analysis_scope scope = { .memory = memory, .earlier = earlier };
	const struct snapshot_view view = {
		.snapshot = &memory->snapshot,
		.sites = &sites,
		.scope = &scope,
	};
	enum tscope_status status = tsi_fact_sheet_init(&sheet, &tsi_analyzer_snapshot.def, err);

	if (status == TSCOPE_OK) {
		tsi_stack_sites_init(&sites, &memory->snapshot, 1, TSI_STR(""), &sheet.scratch);
		tsi_snapshot_put_growth(&view, &sheet);
		status = tsi_fact_sheet_status(&sheet, err);
	}
	tsi_stack_sites_deinit(&sites);
	tsi_fact_sheet_deinit(&sheet);
	return status;
}

TEST(test_out_of_memory)
{
	char *text = now(), *earlier_text = then();
	struct tscope_memory memory = { .plain = plain_of(text), .info.path = "now" };
	struct tscope_memory earlier = { .plain = plain_of(earlier_text), .info.path = "then" };

	assert_int_equal(tsi_snapshot_init(&memory.snapshot, memory.plain, NULL), TSCOPE_OK);
	assert_int_equal(tsi_snapshot_init(&earlier.snapshot, earlier.plain, NULL), TSCOPE_OK);
	struct alloc_sweep sweep = { .at_least = 15 };
	while (alloc_sweep_next(&sweep))
		alloc_sweep_try(&sweep, put_growth(&memory, &earlier, &sweep.err));
	tsi_snapshot_deinit(&memory.snapshot);
	tsi_snapshot_deinit(&earlier.snapshot);
	tsi_plain_free(memory.plain);
	tsi_plain_free(earlier.plain);
	free(text);
	free(earlier_text);
}
