/* SPDX-License-Identifier: MIT */
/* run/memory_steps.c: statistics of finetuning-scheduler beside the steps of their rank. */
#include "run/memory_steps.h"

#include <stdlib.h>

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"
#include "plain_text.h"
#include "step_dump.h"
#include "step_text.h"

#define MEMORY(current, reserved, peak, rss)                                                       \
	"{'allocated_bytes.all.current': " current ", 'reserved_bytes.all.current': " reserved     \
	", 'allocated_bytes.all.peak': " peak ", 'rss': " rss "}"

static enum tscope_status join(struct step_series *steps, const char *text, size_t *count,
			       struct tscope_error *err)
{
	struct plain *plain = plain_of(text);
	struct memory_stats stats = { 0 };
	struct memory_steps memory = { 0 };
	tsi_memory_stats_init(&stats, plain);
	enum tscope_status status = tsi_arena_status(&stats.arena, err);

	if (status == TSCOPE_OK)
		status = tsi_memory_steps_init(&memory, &stats, err);
	if (status == TSCOPE_OK)
		*count = tsi_memory_steps_join(steps, &memory);
	if (status == TSCOPE_OK)
		status = tsi_steps_status(steps, err);
	tsi_memory_steps_deinit(&memory);
	tsi_arena_deinit(&stats.arena);
	tsi_plain_free(plain);
	return status;
}

/* Iteration 1 is the first call, and so step 0. */
TEST(test_cases)
{
	static const struct {
		const char *steps, *text, *expected;
		size_t count;
	} cases[] = {
		{ "0 data=1\n1 data=1\n",
		  "{'0.training_step.2.end': " MEMORY("100", "300", "200", "900") "}",
		  "0 time=1 data=1\n1 time=1 data=1 rss:900 alloc=100 reserved=300 "
		  "peak_alloc=200\n",
		  1 },
		/* The end of a call, and of no other function. */
		{ "0 data=1\n",
		  "{'0.training_step.1.start': " MEMORY(
			  "100", "300", "200",
			  "900") ", '0.validation_step.1.end': " MEMORY("1", "3", "2", "9") "}",
		  "0 time=1 data=1\n", 0 },
		/* What the records say themselves stays; only what they lack is taken. */
		{ "0 data=1 alloc=7 rss:8\n",
		  "{'0.training_step.1.end': " MEMORY("100", "300", "200", "900") "}",
		  "0 time=1 data=1 rss:8 alloc=7 reserved=300 peak_alloc=200\n", 1 },
		/* No step of that number: none is made. */
		{ "5 data=1\n", "{'0.training_step.1.end': " MEMORY("100", "300", "200", "900") "}",
		  "5 time=1 data=1\n", 0 },
		/* What is no number of bytes, and keys that were not collected. */
		{ "0 data=1\n1 data=1\n",
		  "{'0.training_step.1.end': " MEMORY(
			  "-1", "none", "1.5", "'x'") ", '0.training_step.2.end': {'rss': 5}}",
		  "0 time=1 data=1\n1 time=1 data=1 rss:5\n", 0 },
		/* Another rank's. */
		{ "0 data=1\n1 data=1\n",
		  "{'3.training_step.1.end': " MEMORY(
			  "100", "300", "200",
			  "900") ", '0.training_step.2.end': " MEMORY("1", "3", "2", "9") "}",
		  "0 time=1 data=1\n1 time=1 data=1 rss:9 alloc=1 reserved=3 peak_alloc=2\n", 1 },
		/* There is no step before the lowest number. */
		{ "0 data=1\n",
		  "{'0.training_step.-9223372036854775808.end': " MEMORY("1", "1", "1", "1") "}",
		  "0 time=1 data=1\n", 0 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct step_series steps = test_steps(cases[i].steps);
		size_t count;
		char *dump;

		steps.rank = 0;
		assert_int_equal(join(&steps, cases[i].text, &count, NULL), TSCOPE_OK);
		dump = step_dump(&steps);
		assert_string_equal(dump, cases[i].expected);
		assert_int_equal(count, cases[i].count);
		free(dump);
		tsi_steps_deinit(&steps);
	}
}

/* Steps of a rank that nobody knows: of a file of one rank, not of the mixture of several. */
TEST(test_unknown_rank)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{ "{'3.training_step.1.end': " MEMORY("100", "300", "200", "900") "}",
		  "0 time=1 data=1 rss:900 alloc=100 reserved=300 peak_alloc=200\n" },
		{ "{'3.training_step.1.end': " MEMORY(
			  "100", "300", "200",
			  "900") ", '4.training_step.1.end': " MEMORY("1", "3", "2", "9") "}",
		  "0 time=1 data=1\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct step_series steps = test_steps("0 data=1\n");
		size_t count;
		char *dump;

		steps.rank = -1;
		assert_int_equal(join(&steps, cases[i].text, &count, NULL), TSCOPE_OK);
		dump = step_dump(&steps);
		assert_string_equal(dump, cases[i].expected);
		free(dump);
		tsi_steps_deinit(&steps);
	}
}

/* Each allocation fails in turn. */
TEST(test_memory)
{
	struct alloc_sweep sweep = { .at_least = 5 };
	while (alloc_sweep_next(&sweep)) {
		struct step_series steps = test_steps("0 data=1\n");
		struct plain *plain = plain_of(
			"{'0.training_step.1.end': " MEMORY("100", "300", "200", "900") "}");
		struct memory_stats stats;
		struct memory_steps memory;

		tsi_memory_stats_init(&stats, plain);
		alloc_sweep_start(&sweep);
		enum tscope_status status = tsi_memory_steps_init(&memory, &stats, &sweep.err);
		if (status == TSCOPE_OK) {
			(void)tsi_memory_steps_join(&steps, &memory);
			status = tsi_steps_status(&steps, &sweep.err);
		}
		alloc_sweep_check(&sweep, status);
		tsi_memory_steps_deinit(&memory);
		tsi_arena_deinit(&stats.arena);
		tsi_plain_free(plain);
		tsi_steps_deinit(&steps);
	}
}
