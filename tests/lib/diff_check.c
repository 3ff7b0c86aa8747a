/* SPDX-License-Identifier: MIT */
/* Runs the analyzers of a comparison over two sides that a test writes down. */
#include "diff_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "check.h"

static struct diff_side side_of(struct compared_side *side, const struct side_text *text)
{
	struct tscope_analysis *whole = fact_values(text->whole);
	struct tscope_error err = { 0 };
	size_t count = 0;

	for (; text->ranks[count]; count++)
		side->ranks[count] =
			(struct diff_rank){ (int64_t)count, fact_values(text->ranks[count]) };
	if (count == 0)
		side->ranks[count++] = (struct diff_rank){ 0, whole };
	if (tscope_diagnose(&side->diagnosis, whole, NULL, &err) != TSCOPE_OK)
		fail_msg("%s", err.message);
	return (struct diff_side){ whole, side->ranks, count, side->diagnosis };
}

static void release(struct test_kept *kept)
{
	struct compared *c = (struct compared *)kept;

	tscope_analysis_free(c->result.analysis);
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++)
		tscope_diagnosis_free(c->sides[i].diagnosis);
	free(c);
}

struct compared *compare_sides(const struct side_text *a, const struct side_text *b)
{
	struct compared *c = calloc(1, sizeof(*c));
	struct analysis_scope scope = { 0 };
	struct tscope_error err = { 0 };

	assert_non_null(c);
	test_keep(&c->result.kept, release);
	c->comparison.sides[TSCOPE_SIDE_A] = side_of(&c->sides[TSCOPE_SIDE_A], a);
	c->comparison.sides[TSCOPE_SIDE_B] = side_of(&c->sides[TSCOPE_SIDE_B], b);
	c->comparison.loss_tolerance = a->loss_tolerance;
	scope.comparison = &c->comparison;
	if (tsi_analyze_level(&c->result.analysis, LEVEL_DIFF, &scope, NULL, &err) != TSCOPE_OK)
		fail_msg("%s", err.message);
	return c;
}

struct compared *compare(const char *a, const char *b)
{
	return compare_sides(&(struct side_text){ .whole = a }, &(struct side_text){ .whole = b });
}

const char *series_of(char *text, size_t size, const int64_t *times_ns, size_t count)
{
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		length += (size_t)snprintf(text + length, size - length,
					   "series.steps step=%zu time_ns=%" PRId64 "\n", i,
					   times_ns[i]);
		assert_true(length < size);
	}
	return text;
}
