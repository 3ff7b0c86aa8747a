/* SPDX-License-Identifier: MIT */
/* What two runs' environment, configuration and losses have in common, and what is said of it. */
#include "diff_check.h"

#include <stdio.h>

#include "check.h"
#include "memory_sweep.h"

#define SEED "provenance.environment name=env.PYTHONHASHSEED value=0\n"
#define LR_1 "provenance.config name=lr value=1\n"
#define LR_2 "provenance.config name=lr value=2\n"
#define JOB SEED LR_1
#define TWO_LOSSES "series.steps step=1 loss=2.5\nseries.steps step=2 loss=2\n"

#define TRAJECTORY                                                                                 \
	"reproducibility: is_reproducible identical_trajectory first_divergence "                  \
	"first_divergence_step a_loss_count b_loss_count"

TEST(trajectories)
{
	static const struct {
		const char *a, *b, *expected;
		double tolerance;
	} cases[] = {
		{ JOB TWO_LOSSES, JOB TWO_LOSSES, "yes yes - - 2 2", 0 },
		/* A step without a loss, a marked one, steps of other numbers: losses alone count. */
		{ JOB "series.steps step=0 time_ns=5\nseries.steps step=1 mark=warmup loss=2.5\n"
		      "series.steps step=2 loss=2\n",
		  JOB "series.steps step=5 loss=2.5\nseries.steps step=6 loss=2\n",
		  "yes yes - - 2 2", 0 },
		{ JOB TWO_LOSSES,
		  JOB "series.steps step=1 loss=2.5\nseries.steps step=2 loss=2.1\n",
		  "no no 1 2 2 2", 0 },
		/* The step is A's where A has it ... */
		{ JOB "series.steps step=7 loss=1\n", JOB "series.steps step=8 loss=2\n",
		  "no no 0 7 1 1", 0 },
		/* ... and B's where A has ended. */
		{ JOB "series.steps step=1 loss=2.5\n", JOB TWO_LOSSES, "no no 1 2 1 2", 0 },
		{ JOB TWO_LOSSES, JOB "series.steps step=1 loss=2.5\n", "no no 1 2 2 1", 0 },
		{ JOB, JOB TWO_LOSSES, "no no 0 1 0 2", 0 },
		{ JOB TWO_LOSSES, JOB, "no no 0 1 2 0", 0 },
		/* After the first difference nothing else counts. */
		{ JOB "series.steps step=1 loss=1\nseries.steps step=2 loss=2\n"
		      "series.steps step=3 loss=3\n",
		  JOB "series.steps step=1 loss=1\nseries.steps step=2 loss=9\n"
		      "series.steps step=3 loss=9\n",
		  "no no 1 2 3 3", 0 },
		/* What is not finite equals itself and nothing else, whatever the tolerance. */
		{ JOB
		  "series.steps step=1 loss_text=NaN\nseries.steps step=2 loss_text=-Infinity\n",
		  JOB
		  "series.steps step=1 loss_text=NaN\nseries.steps step=2 loss_text=-Infinity\n",
		  "yes yes - - 2 2", 0 },
		{ JOB "series.steps step=1 loss_text=Infinity\n",
		  JOB "series.steps step=1 loss_text=-Infinity\n", "no no 0 1 1 1", 9 },
		{ JOB "series.steps step=1 loss_text=NaN\n", JOB "series.steps step=1 loss=0\n",
		  "no no 0 1 1 1", 9 },
		/* |2 - 1.9| = 0.1 <= 0.051 * 2 = 0.102, though not 0.051 * 1.9 = 0.0969. */
		{ JOB "series.steps step=1 loss=2\n", JOB "series.steps step=1 loss=1.9\n",
		  "yes yes - - 1 1", 0.051 },
		{ JOB "series.steps step=1 loss=-1.9\n", JOB "series.steps step=1 loss=-2\n",
		  "yes yes - - 1 1", 0.051 },
		/* 0.049 * 2 = 0.098 */
		{ JOB "series.steps step=1 loss=1.9\n", JOB "series.steps step=1 loss=2\n",
		  "no no 0 1 1 1", 0.049 },
		{ JOB "series.steps step=1 loss=0\n", JOB "series.steps step=1 loss=0.0001\n",
		  "no no 0 1 1 1", 0.5 },
		/* A step without a number has an index all the same. */
		{ JOB "series.steps loss=1\n", JOB "series.steps loss=2\n", "no no 0 - 1 1", 0 },
		/* Without losses it is not known; with other differences it is. */
		{ JOB, JOB, "- - - - 0 0", 0 },
		{ SEED LR_1, SEED LR_2, "no - - - 0 0", 0 },
		{ JOB TWO_LOSSES, SEED LR_2 TWO_LOSSES, "no yes - - 2 2", 0 },
		{ JOB TWO_LOSSES, JOB TWO_LOSSES "provenance.environment name=x value=1\n",
		  "no yes - - 2 2", 0 },
		/* Nothing at all. */
		{ "", "", "- - - - - -", 0 },
		{ "step_time.mean_ns 5\n", "series.steps step=1 time_ns=4\n", "- - - - - -", 0 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct side_text a = { .whole = cases[i].a, .loss_tolerance = cases[i].tolerance };
		struct side_text b = { .whole = cases[i].b };
		struct compared *c = compare_sides(&a, &b);

		check_facts(&c->result, TRAJECTORY, cases[i].expected);
	}
}

TEST(settings_that_differ)
{
	struct compared *c = compare("provenance.environment name=torch value=2.7\n"
				     "provenance.environment name=python value=3.11\n"
				     "provenance.environment name=gpu value=A100\n"
				     "provenance.environment name=same value=same\n"
				     "provenance.config name=lr value=0.1\n"
				     "provenance.config name=batch value=8\n",
				     "provenance.environment name=same value=same\n"
				     "provenance.environment name=torch value=2.8\n"
				     "provenance.environment name=gpu value=A100\n"
				     "provenance.environment name=trace.gpu value=A100\n"
				     "provenance.environment name=cuda value=null\n"
				     "provenance.config name=batch value=16\n"
				     "provenance.config name=lr value=0.1\n");

	check_table(&c->result, "reproducibility.environment: name a b is_relevant",
		    "cuda - null yes\n"
		    "python 3.11 - no\n"
		    "torch 2.7 2.8 yes\n"
		    "trace.gpu - A100 yes\n");
	check_table(&c->result, "reproducibility.config: name a b", "batch 8 16\n");
	check_facts(&c->result, "reproducibility: environment_count config_count loss_tolerance",
		    "4 1 0");
}

/* pytscope's list, and what a trace says of the same. */
TEST(what_can_change_numerics)
{
	static const struct {
		const char *name, *is_relevant;
	} cases[] = {
		{ "torch", "yes" },
		{ "cuda", "yes" },
		{ "gpu", "yes" },
		{ "gpu_count", "yes" },
		{ "cudnn_deterministic", "yes" },
		{ "cudnn_benchmark", "yes" },
		{ "env.PYTHONHASHSEED", "yes" },
		{ "env.CUBLAS_WORKSPACE_CONFIG", "yes" },
		{ "trace.gpu", "yes" },
		{ "python", "no" },
		{ "env.gpu", "no" },
		{ "trace.nccl_version", "no" },
		{ "tor", "no" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char a[100], expected[100];

		snprintf(a, sizeof(a), "provenance.environment name=%s value=1\n", cases[i].name);
		snprintf(expected, sizeof(expected), "%s %s\n", cases[i].name,
			 cases[i].is_relevant);
		struct compared *c = compare(a, LR_1);
		check_table(&c->result, "reproducibility.environment: name is_relevant", expected);
	}
}

/* A saved report may say a name twice: the last counts, as in Python. */
TEST(of_one_name_the_last_counts)
{
	struct compared *c = compare(LR_1 LR_2, LR_2);

	check_facts(&c->result, "reproducibility: config_count", "0");
	c = compare(LR_1 LR_2 LR_2, LR_1);
	check_table(&c->result, "reproducibility.config: name a b", "lr 2 1\n");
}

TEST(losses_of_the_convergence_analyzer)
{
	struct compared *c =
		compare(TWO_LOSSES "convergence.final_loss 2\nconvergence.best_loss 1.5\n",
			"convergence.final_loss 3\n");

	check_facts(&c->result,
		    "reproducibility: a_final_loss a_best_loss b_final_loss b_best_loss",
		    "2 1.5 3 -");
}

#define ADVICE                                                                                     \
	" To make runs repeat each other bit by bit, set all seeds, "                              \
	"torch.use_deterministic_algorithms(True), torch.backends.cudnn.deterministic = True, "    \
	"torch.backends.cudnn.benchmark = False and CUBLAS_WORKSPACE_CONFIG=:4096:8.\n"
#define NONDETERMINISM                                                                             \
	"NONDETERMINISM: the configuration and what can change numerics in the environment are "   \
	"the same, yet the losses differ." ADVICE
#define ON "provenance.environment name=cudnn_benchmark value=true\n"
#define OFF "provenance.environment name=cudnn_benchmark value=false\n"
#define TORCH_1 "provenance.environment name=torch value=1\n"
#define TORCH_2 "provenance.environment name=torch value=2\n"
#define OTHER_LOSS "series.steps step=1 loss=2.5\nseries.steps step=3 loss=2.25\n"
#define FIRST_DIFFER "The losses first differ at step 2 of A and 3 of B: 2 in A, 2.25 in B.\n"

TEST(notes)
{
	static const struct {
		const char *a, *b, *expected;
	} cases[] = {
		{ JOB TWO_LOSSES, JOB TWO_LOSSES,
		  "Reproducible: environment, configuration and all 2 losses are equal.\n" },
		/* Then nothing else is said. */
		{ ON LR_1 TWO_LOSSES, ON LR_1 TWO_LOSSES,
		  "Reproducible: environment, configuration and all 2 losses are equal.\n" },
		{ TWO_LOSSES, TWO_LOSSES,
		  "Reproducible as far as is known: all 2 losses are equal; neither side says its "
		  "environment and configuration (run.json).\n" },
		/* The configuration goes before the environment, and that before nondeterminism. */
		{ SEED TORCH_1 LR_1 TWO_LOSSES, SEED TORCH_2 LR_2 OTHER_LOSS,
		  "The configuration differs (lr): another outcome is to be expected, and no sign "
		  "of "
		  "nondeterminism.\n" FIRST_DIFFER },
		{ SEED TORCH_1 LR_1 TWO_LOSSES, SEED TORCH_2 LR_1 OTHER_LOSS,
		  "The environment differs in what can change numerics (torch): runs that are "
		  "otherwise the same may then have other losses.\n" FIRST_DIFFER },
		{ JOB TWO_LOSSES, JOB OTHER_LOSS, NONDETERMINISM FIRST_DIFFER },
		{ JOB TWO_LOSSES, JOB OTHER_LOSS "provenance.environment name=python value=3\n",
		  NONDETERMINISM FIRST_DIFFER },
		{ TWO_LOSSES, OTHER_LOSS,
		  "NONDETERMINISM, unless environment or configuration changed (neither side says "
		  "them in a run.json): the losses differ." ADVICE FIRST_DIFFER },
		/* Equal losses all the same. */
		{ SEED LR_1 TWO_LOSSES, SEED LR_2 TWO_LOSSES,
		  "The configuration differs (lr), yet all losses are equal.\n" },
		{ SEED TORCH_1 TWO_LOSSES, SEED TORCH_2 TWO_LOSSES,
		  "The environment differs in what can change numerics (torch), yet all losses are "
		  "equal.\n" },
		{ JOB TWO_LOSSES, JOB TWO_LOSSES "provenance.environment name=python value=3\n",
		  "" },
		/* Switches, once for both. */
		{ ON LR_1 TWO_LOSSES, ON SEED LR_1 OTHER_LOSS,
		  "The environment differs in what can change numerics (env.PYTHONHASHSEED): runs "
		  "that are otherwise the same may then have other losses.\n"
		  "cudnn.benchmark is on in A and B: it picks algorithms by how fast they were, so "
		  "that losses differ from run to run; set torch.backends.cudnn.benchmark = "
		  "False.\n"
		  "PYTHONHASHSEED is not set in A: set it, so that sets and whatever goes by "
		  "hashes "
		  "have the same order in each run.\n" FIRST_DIFFER },
		{ OFF TWO_LOSSES, OFF "series.steps step=1 loss=3\n",
		  NONDETERMINISM
		  "PYTHONHASHSEED is not set in A and B: set it, so that sets and whatever goes by "
		  "hashes have the same order in each run.\n"
		  "The losses first differ at step 1: 2.5 in A, 3 in B.\n" },
		/* What is not known is not judged. */
		{ JOB TWO_LOSSES, OTHER_LOSS,
		  "Only A says its environment and configuration (run.json): whether those of B "
		  "were "
		  "the same is not known.\n" FIRST_DIFFER },
		{ TWO_LOSSES "provenance.environment name=trace.gpu value=x\n", JOB TWO_LOSSES,
		  "Only B says its environment and configuration (run.json): whether those of A "
		  "were "
		  "the same is not known.\n" },
		{ LR_1 TWO_LOSSES, LR_1 OTHER_LOSS, NONDETERMINISM FIRST_DIFFER },
		{ JOB TWO_LOSSES, JOB "series.steps step=1 loss=2.5\n",
		  "The losses are equal as far as both go: A has 2, B 1.\n" },
		{ JOB, JOB TWO_LOSSES,
		  "Only B recorded losses: whether the outcome is the same is not known.\n" },
		{ JOB, JOB,
		  "Neither side recorded a loss: whether the outcome is the same is not "
		  "known.\n" },
		/* Of traces nobody expects losses. */
		{ "provenance.environment name=trace.gpu value=x\n",
		  "provenance.environment name=trace.gpu value=y\n",
		  "The environment differs in what can change numerics (trace.gpu): runs that are "
		  "otherwise the same may then have other losses.\n" },
		{ "provenance.environment name=trace.gpu value=x\n",
		  "provenance.environment name=trace.gpu value=x\n", "" },
		/* Losses that are not finite, and steps without a number. */
		{ JOB "series.steps loss_text=NaN\n", JOB "series.steps loss_text=-Infinity\n",
		  NONDETERMINISM
		  "The losses first differ at index 0: NaN in A, -Infinity in B.\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct compared *c = compare(cases[i].a, cases[i].b);

		check_table(&c->result, "reproducibility.notes: note", cases[i].expected);
	}
}

TEST(the_tolerance_is_told)
{
	struct side_text a = { .whole = JOB "series.steps step=1 loss=2\n",
			       .loss_tolerance = 0.001 };
	struct side_text b = { .whole = JOB "series.steps step=1 loss=2.001\n" };
	struct side_text longer = { .whole = JOB "series.steps step=1 loss=2.001\n"
						 "series.steps step=2 loss=2\n" };
	struct compared *c = compare_sides(&a, &b);

	check_facts(&c->result, "reproducibility: loss_tolerance", "0.001");
	check_table(
		&c->result, "reproducibility.notes: note",
		"Reproducible: environment, configuration and all 1 losses are equal up to 0.001 "
		"of the larger one.\n");
	c = compare_sides(&a, &longer);
	check_table(
		&c->result, "reproducibility.notes: note",
		"The losses are equal up to 0.001 of the larger one as far as both go: A has 1, "
		"B 2.\n");
}

/* Eight names are told; long ones are cut, and not within a character. */
TEST(long_lists_are_cut)
{
	static const char many[] =
		"provenance.config name=a value=1\nprovenance.config name=b value=1\n"
		"provenance.config name=c value=1\nprovenance.config name=d value=1\n"
		"provenance.config name=e value=1\nprovenance.config name=f value=1\n"
		"provenance.config name=g value=1\nprovenance.config name=h value=1\n"
		"provenance.config name=i value=1\nprovenance.config name=j value=1\n";
	struct compared *c = compare(many, LR_1);

	check_table(
		&c->result, "reproducibility.notes: note",
		"The configuration differs (a, b, c, d, e, f, g, h and 3 more): another outcome "
		"is to be expected, and no sign of nondeterminism.\n"
		"Neither side recorded a loss: whether the outcome is the same is not known.\n");
	/* 59 bytes and a character of two: the first of these is the 60th. */
	c = compare("provenance.config name=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
		    "xxxx\xc3\xa4z value=1\n" LR_1 TWO_LOSSES,
		    LR_1 TWO_LOSSES);
	check_table(
		&c->result, "reproducibility.notes: note",
		"The configuration differs (xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
		"xxxxxxx), yet all losses are equal.\n");
}

/* The whole's losses are the lowest rank's; ranks that only one side has are no rows. */
TEST(rank_by_rank)
{
	struct side_text a = { .whole = JOB,
			       .ranks = { TWO_LOSSES, TWO_LOSSES, "", "series.steps loss=1\n" } };
	struct side_text b = { .whole = JOB, .ranks = { TWO_LOSSES, OTHER_LOSS, "" } };
	struct compared *c = compare_sides(&a, &b);

	check_facts(&c->result, TRAJECTORY, "no yes - - 2 2");
	check_table(&c->result,
		    "reproducibility.ranks: rank identical_trajectory first_divergence "
		    "first_divergence_step a_loss_count b_loss_count",
		    "0 yes - - 2 2\n"
		    "1 no 1 2 2 2\n"
		    "2 - - - 0 0\n");
	check_table(
		&c->result, "reproducibility.notes: note",
		"The number of ranks differs (4 in A, 3 in B): another outcome is to be expected, "
		"and no sign of nondeterminism.\n"
		"The losses of rank 1 first differ at step 2 of A and 3 of B: 2 in A, 2.25 in "
		"B.\n");
	/* One rank against several: still rank by rank. */
	c = compare_sides(&(struct side_text){ .whole = JOB TWO_LOSSES }, &b);
	check_table(&c->result, "reproducibility.ranks: rank identical_trajectory", "0 yes\n");
	c = compare(JOB TWO_LOSSES, JOB TWO_LOSSES);
	check_table(&c->result, "reproducibility.ranks: rank", "");
}

/* Rank 0's losses are the same, and those of rank 1 are not: what is said is of rank 1. */
TEST(another_rank_may_part)
{
	static const struct {
		const char *a, *b, *verdict, *expected;
	} cases[] = {
		{ TWO_LOSSES, TWO_LOSSES, "yes yes",
		  "Reproducible: environment, configuration and all losses of 2 ranks are "
		  "equal.\n" },
		{ TWO_LOSSES, OTHER_LOSS, "no yes",
		  NONDETERMINISM
		  "The losses of rank 1 first differ at step 2 of A and 3 of B: 2 in A, "
		  "2.25 in B.\n" },
		{ TWO_LOSSES, "series.steps step=1 loss=2.5\n", "no yes",
		  "The losses of rank 1 are equal as far as both go: A has 2, B 1.\n" },
		{ "", TWO_LOSSES, "no yes",
		  "Only B recorded losses of rank 1: whether the outcome is the same is not "
		  "known.\n" },
		{ "", "", "yes yes",
		  "Reproducible: environment, configuration and all losses of 2 ranks are "
		  "equal.\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct side_text a = { .whole = JOB, .ranks = { TWO_LOSSES, cases[i].a } };
		struct side_text b = { .whole = JOB, .ranks = { TWO_LOSSES, cases[i].b } };
		struct compared *c = compare_sides(&a, &b);

		check_facts(&c->result, "reproducibility: is_reproducible identical_trajectory",
			    cases[i].verdict);
		check_table(&c->result, "reproducibility.notes: note", cases[i].expected);
	}
}

/* Some jobs log on their last rank. */
TEST(the_lowest_rank_may_have_no_loss)
{
	struct side_text a = { .whole = JOB, .ranks = { "", "", TWO_LOSSES } };
	struct side_text b = { .whole = JOB, .ranks = { "", "", OTHER_LOSS } };
	struct compared *c = compare_sides(&a, &a);

	check_facts(&c->result, TRAJECTORY, "yes - - - 0 0");
	c = compare_sides(&a, &b);
	check_facts(&c->result, TRAJECTORY, "no - - - 0 0");
	check_table(&c->result, "reproducibility.notes: note",
		    NONDETERMINISM
		    "The losses of rank 2 first differ at step 2 of A and 3 of B: 2 in A, "
		    "2.25 in B.\n");
}

TEST(other_ranks_are_another_run)
{
	struct side_text a = { .whole = JOB, .ranks = { TWO_LOSSES, TWO_LOSSES } };
	struct compared *c = compare_sides(&a, &(struct side_text){ .whole = JOB OTHER_LOSS });

	/* The lowest ranks are compared. */
	check_facts(&c->result, "reproducibility: is_reproducible identical_trajectory", "no no");
	c = compare_sides(&a, &(struct side_text){ .whole = JOB, .ranks = { TWO_LOSSES } });
	check_facts(&c->result, "reproducibility: is_reproducible identical_trajectory", "no yes");
	check_table(&c->result, "reproducibility.notes: note",
		    "The number of ranks differs (2 in A, 1 in B), yet all losses are equal.\n");
	/* Without losses there is no outcome to speak of. */
	a = (struct side_text){ .whole = JOB, .ranks = { JOB, JOB } };
	c = compare_sides(&a, &(struct side_text){ .whole = JOB, .ranks = { JOB } });
	check_table(&c->result, "reproducibility.notes: note",
		    "The number of ranks differs (2 in A, 1 in B).\n"
		    "Neither side recorded a loss: whether the outcome is the same is not "
		    "known.\n");
}

TEST(every_allocation_may_fail)
{
	struct compared *c = compare(ON TORCH_1 LR_1 TWO_LOSSES, SEED TORCH_2 LR_2 OTHER_LOSS);
	size_t analyzer = tscope_analyzer_find("reproducibility.notes");
	struct analysis_scope scope = { .comparison = &c->comparison };

	assert_int_equal(
		tscope_analysis_row_count(c->result.analysis, analyzer, 2, TSCOPE_WHOLE_TRACE), 4);
	sweep_level(LEVEL_DIFF, &scope, 10);
}
