/* SPDX-License-Identifier: MIT */
/* Findings of two sides: which are new, gone, worse or better, and of which B cannot tell. */
#include "diff_check.h"

#include "base/attributes.h"
#include "check.h"
#include "memory_sweep.h"

/* Steps of 100 ms, as the rules of TIMING.* see them. */
#define STEPS(data_ratio, data_ns, optimizer_ratio, spread, mean_ns)                               \
	"step_time.count 100\n"                                                                    \
	"step_time.p50_ns 100000000\n"                                                             \
	"step_time.p95_p50_ratio 1.0\n"                                                            \
	"step_time.mean_ns " mean_ns "\n"                                                          \
	"step_time.cv " spread "\n"                                                                \
	"step_time.phase.data_ratio " data_ratio "\n"                                              \
	"step_time.phase.data_ns " data_ns "\n"                                                    \
	"step_time.phase.optimizer_ratio " optimizer_ratio "\n"
/* Data: med from 0.25 on, high from 0.4 on; optimizer: low from 0.15; spread: low from 0.5. */
#define WAITS_SOME STEPS("0.3", "30000000", "0.2", "0.1", "100000000")
#define WAITS_MUCH STEPS("0.5", "55000000", "0.05", "0.6", "110000000")
/* What efficiency says of the same wait: high from 0.35 on, and then the one that tells it. */
#define LINE(ratio)                                                                                \
	"efficiency.top_recoverable data_stall\n"                                                  \
	"efficiency.top_recoverable_ratio " ratio "\n"

static const char all_columns[] = "finding_changes.list: change id a_severity b_severity gain_ns";
static const char all_counts[] = "finding_changes: new_count gone_count worse_count better_count";

TEST(test_changes)
{
	static const struct {
		const char *a, *b, *list, *counts;
	} cases[] = {
		/* The mean is 10 ms above the median, which the wait of 55 ms may explain. */
		{ WAITS_SOME, WAITS_MUCH,
		  "new TIMING.JITTER - low 0\n"
		  "worse TIMING.DATALOADER_BOUND med high 55000000\n"
		  "gone TIMING.OPTIMIZER_HEAVY low - -\n",
		  "1 1 1 0" },
		{ WAITS_MUCH, WAITS_SOME,
		  "new TIMING.OPTIMIZER_HEAVY - low -\n"
		  "better TIMING.DATALOADER_BOUND high med 30000000\n"
		  "gone TIMING.JITTER low - 0\n",
		  "1 1 0 1" },
		/* In the order of the diagnosis: the gravest first. */
		{ WAITS_MUCH, WAITS_MUCH,
		  "same TIMING.DATALOADER_BOUND high high 55000000\n"
		  "same TIMING.JITTER low low 0\n",
		  "0 0 0 0" },
		{ "", WAITS_MUCH,
		  "new TIMING.DATALOADER_BOUND - high 55000000\nnew TIMING.JITTER - low 0\n",
		  "2 0 0 0" },
		{ "", "", "", "0 0 0 0" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct compared *c = compare(cases[i].a, cases[i].b);
		check_table(&c->result, all_columns, cases[i].list);
		check_facts(&c->result, all_counts, cases[i].counts);
	}
}

/* The wait of A is told by EFFICIENCY.RECOVERABLE, that of B by its own rule. */
TEST(test_told_by_another)
{
	static const struct {
		const char *a, *b, *list, *counts;
	} cases[] = {
		{ WAITS_SOME LINE("0.36"), WAITS_SOME LINE("0.1"),
		  "same TIMING.DATALOADER_BOUND med med 30000000\n"
		  "same TIMING.OPTIMIZER_HEAVY low low -\n",
		  "0 0 0 0" },
		/* The summary is within the finding on the wait, which was there before. */
		{ WAITS_SOME LINE("0.1"), WAITS_SOME LINE("0.36"),
		  "same TIMING.DATALOADER_BOUND med med 30000000\n"
		  "same TIMING.OPTIMIZER_HEAVY low low -\n",
		  "0 0 0 0" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct compared *c = compare(cases[i].a, cases[i].b);
		check_table(&c->result, all_columns, cases[i].list);
		check_facts(&c->result, all_counts, cases[i].counts);
	}
}

#define OPTIMIZER(ratio) "step_time.phase.optimizer_ratio " ratio "\n"

/* Data from 0.25 on, optimizer from 0.15 on; a wait of 26 ms in a step of 100 ms or of 120 ms. */
TEST(test_similar)
{
	static const char columns[] = "finding_changes.list: change id similar";
	static const struct {
		const char *a, *b, *list;
	} cases[] = {
		{ OPTIMIZER("0.149"), OPTIMIZER("0.151"),
		  "new TIMING.OPTIMIZER_HEAVY the optimizer takes 14.9 % of the step\n" },
		{ OPTIMIZER("0.151"), OPTIMIZER("0.149"),
		  "gone TIMING.OPTIMIZER_HEAVY the optimizer takes 14.9 % of the step\n" },
		/* By 5 % to either side, and by more on one of them. */
		{ OPTIMIZER("0.143"), OPTIMIZER("0.157"),
		  "new TIMING.OPTIMIZER_HEAVY the optimizer takes 14.3 % of the step\n" },
		{ OPTIMIZER("0.143"), OPTIMIZER("0.158"), "new TIMING.OPTIMIZER_HEAVY -\n" },
		{ OPTIMIZER("0.142"), OPTIMIZER("0.151"), "new TIMING.OPTIMIZER_HEAVY -\n" },
		{ STEPS("0.26", "26000000", "0", "0.1", "100000000"),
		  STEPS("0.217", "26000000", "0", "0.1", "120000000"),
		  "gone TIMING.DATALOADER_BOUND waiting for data takes 21.7 % of the step\n" },
		/* The same shares, but the time changed by a tenth, and by more. */
		{ STEPS("0.26", "26000000", "0", "0.1", "100000000"),
		  STEPS("0.234", "23400000", "0", "0.1", "100000000"),
		  "gone TIMING.DATALOADER_BOUND waiting for data takes 23.4 % of the step\n" },
		{ STEPS("0.26", "26000000", "0", "0.1", "100000000"),
		  STEPS("0.23", "23300000", "0", "0.1", "100000000"),
		  "gone TIMING.DATALOADER_BOUND -\n" },
		/* High from 0.4 on. */
		{ STEPS("0.39", "39000000", "0", "0.1", "100000000"),
		  STEPS("0.42", "42000000", "0", "0.1", "100000000"),
		  "worse TIMING.DATALOADER_BOUND waiting for data takes 39.0 % of the step\n" },
		{ STEPS("0.42", "42000000", "0", "0.1", "100000000"),
		  STEPS("0.39", "39000000", "0", "0.1", "100000000"),
		  "better TIMING.DATALOADER_BOUND waiting for data takes 42.0 % of the step\n" },
		{ STEPS("0.35", "35000000", "0", "0.1", "100000000"),
		  STEPS("0.42", "42000000", "0", "0.1", "100000000"),
		  "worse TIMING.DATALOADER_BOUND -\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct compared *c = compare(cases[i].a, cases[i].b);
		check_table(&c->result, columns, cases[i].list);
	}
}

TEST(test_titles)
{
	struct compared *c = compare(WAITS_SOME, WAITS_MUCH);

	check_table(&c->result, "finding_changes.list: title",
		    "step time varies: its standard deviation is 0.60 times the mean\n"
		    "waiting for data takes 50.0 % of the step\n"
		    "the optimizer takes 20.0 % of the step\n");
}

/* What B cannot tell of is not gone. */
TEST(test_lost)
{
	static const char optimizer[] = "step_time.phase.optimizer_ratio 0.2\n";
	static const char no_optimizer[] = "step_time.phase.optimizer_ratio 0.1\n";
	static const struct {
		const char *a, *b, *list, *lost;
	} cases[] = {
		{ optimizer, "", "",
		  "TIMING.OPTIMIZER_HEAVY no step_time.phase.optimizer_ratio: it needs complete "
		  "steps\n" },
		{ no_optimizer, "", "",
		  "TIMING.OPTIMIZER_HEAVY no step_time.phase.optimizer_ratio: it needs complete "
		  "steps\n" },
		{ optimizer, "step_time.phase.optimizer_ratio 0.2\n! step_time clocks\n", "",
		  "TIMING.OPTIMIZER_HEAVY step_time.phase.optimizer_ratio is not reliable: "
		  "clocks\n" },
		{ optimizer, no_optimizer, "gone TIMING.OPTIMIZER_HEAVY\n", "" },
		{ "", optimizer, "new TIMING.OPTIMIZER_HEAVY\n", "" },
		{ "", no_optimizer, "", "" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct compared *c = compare(cases[i].a, cases[i].b);
		check_table(&c->result, "finding_changes.list: change id", cases[i].list);
		check_table(&c->result, "finding_changes.lost: id reason", cases[i].lost);
	}
}

TEST(test_allocations)
{
	struct compared *c =
		compare(WAITS_SOME "efficiency.top_recoverable_ratio 0.1\n", WAITS_MUCH);
	struct analysis_scope scope = { .comparison = &c->comparison };

	sweep_analyzer("finding_changes", &scope, 3); /* room for all, the list, what is lost */
}
