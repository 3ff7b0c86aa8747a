/* SPDX-License-Identifier: MIT */
/* Bubbles of a pipeline from the steps of its ranks, by hand. */
#include "analysis_check.h"
#include "step_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MAX_RANKS = 4 };

#define ALL                                                                                        \
	"pipeline: stage_count n_steps wall_ns bubble_ratio ideal_bubble_ratio excess_ratio "      \
	"busiest_stage idlest_stage"

static struct analyzed *analyze_texts(const char *const *texts, size_t rank_count, bool sends,
				      const struct tscope_analysis_options *options)
{
	struct step_series ranks[MAX_RANKS];

	for (size_t i = 0; i < rank_count; i++) {
		ranks[i] = test_steps(texts[i]);
		ranks[i].rank = (int64_t)i;
		ranks[i].has_point_to_point = sends;
		ranks[i].world_size = sends ? (int64_t)rank_count : -1;
	}
	return analyze_run(ranks, rank_count, options);
}

/*
 * Step 1 lasts 110 (rank 2), step 2 lasts 80 (rank 1). Of ranks 0 and 1 the compute
 * is 60 80, then 70 50; of ranks 2 and 3 it is 30 50, then 40 60.
 */
static const char *const four_ranks[] = {
	"1 forward=60 comm=40\n2 forward=70\n",
	"1 forward=50 backward=30 comm=10\n2 forward=50 comm=30\n",
	"1 forward=30 other=80\n2 compute=40\n",
	"1 optimizer=50\n2 forward=60\n",
};

static void blocks_of_ranks(void **state)
{
	(void)state;
	/*
	 * Busy: (60 + 80) ÷ 2 + (70 + 50) ÷ 2 = 130 and 90 of 190. Bubble 1 − 220 ÷ 380;
	 * ideal of 4 microbatches 1 ÷ 5.
	 */
	struct tscope_analysis_options options = { .pipeline_stages = 2, .microbatches = 4 };
	struct analyzed *a = analyze_texts(four_ranks, 4, false, &options);

	check_facts(a, ALL, "2 2 190 0.421053 0.2 0.221053 0 1");
	check_table(a, "pipeline.stages: stage busy_ns bubble_ratio",
		    "0 130 0.315789\n1 90 0.526316\n");
	analyzed_free(a);
}

static void ranks_that_send_are_stages(void **state)
{
	(void)state;
	struct analyzed *a = analyze_texts(four_ranks, 4, true, NULL);

	/* Busy 130 130 70 110: 440 of 4 × 190. Of equals, the first. */
	check_facts(a, ALL, "4 2 190 0.421053 - - 0 2");
	check_table(a, "pipeline.stages: stage busy_ns", "0 130\n1 130\n2 70\n3 110\n");
	analyzed_free(a);
}

/* What the user says goes before what the traces show. */
static void stages_that_ranks_do_not_divide_into(void **state)
{
	(void)state;
	static const unsigned stages[] = { 3, 8 };

	for (size_t i = 0; i < TSI_COUNT_OF(stages); i++) {
		struct tscope_analysis_options options = { .pipeline_stages = stages[i] };
		struct analyzed *a = analyze_texts(four_ranks, 4, true, &options);
		check_facts(a, ALL, "- - - - - - - -");
		analyzed_free(a);
	}
}

static void an_ideal_schedule_has_no_excess(void **state)
{
	(void)state;
	/* 8 microbatches through 4 stages: 8 of 11 slots each; 3 ÷ 11. */
	static const char *const texts[] = {
		"1 forward=8 other=3\n",
		"1 forward=8 other=3\n",
		"1 forward=8 other=3\n",
		"1 forward=8 other=3\n",
	};
	struct tscope_analysis_options options = { .microbatches = 8 };
	struct analyzed *a = analyze_texts(texts, 4, true, &options);

	check_facts(a, ALL, "4 1 11 0.272727 0.272727 0 0 0");
	analyzed_free(a);
}

static void without_pipeline(void **state)
{
	(void)state;
	static const char *const zeros[] = { "1 forward=0\n", "1 forward=0\n" };
	static const char *const apart[] = { "1 forward=9\n", "2 forward=9\n" };
	struct tscope_analysis_options two_stages = { .pipeline_stages = 2 };
	struct analyzed *cases[] = {
		analyze_texts(four_ranks, 4, false, NULL),
		analyze_texts(four_ranks, 1, true, NULL),
		analyze_texts(zeros, 2, true, NULL),
		analyze_texts(apart, 2, false, &two_stages),
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		check_facts(cases[i], ALL, "- - - - - - - -");
		check_table(cases[i], "pipeline.stages: stage", "");
		analyzed_free(cases[i]);
	}
}

static void a_doubt_stays(void **state)
{
	(void)state;
	struct step_series ranks[2] = { test_steps("1 forward=5\n"), test_steps("1 forward=5\n") };
	struct tscope_analysis_options options = { .pipeline_stages = 2 };

	ranks[0].is_of_trace = ranks[1].is_of_trace = true;
	ranks[0].doubt = "clocks run backwards";
	struct analyzed *a = analyze_run(ranks, 2, &options);
	check_reliability(a, "pipeline", "clocks run backwards");
	analyzed_free(a);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_of_ranks),
		cmocka_unit_test(ranks_that_send_are_stages),
		cmocka_unit_test(stages_that_ranks_do_not_divide_into),
		cmocka_unit_test(an_ideal_schedule_has_no_excess),
		cmocka_unit_test(without_pipeline),
		cmocka_unit_test(a_doubt_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
