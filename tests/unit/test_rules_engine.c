/* SPDX-License-Identifier: MIT */
/* What all rules share: their list, changes by the user, merging, ranking and what is not evaluated. */
#include "rules/rule.h"

#include <stdio.h>

#include "check.h"
#include "fact_values.h"
#include "fail_alloc.h"

/* A wait of 30 ms in steps of 100 ms; efficiency sees 36 ms of it. */
#define DATA_STALL                                                                                 \
	"step_time.mean_ns 100000000\n"                                                            \
	"step_time.phase.data_ratio 0.30\n"                                                        \
	"step_time.phase.data_ns 30000000\n"                                                       \
	"efficiency.top_recoverable data_stall\n"                                                  \
	"efficiency.top_recoverable_ratio 0.36\n"                                                  \
	"efficiency.useful_ratio 0.60\n"

enum { TEXT_CHARS = 2048 };

static struct tscope_diagnosis *diagnose(const struct tscope_analysis *facts, const char *change)
{
	struct tscope_rule_options options = { &change, change ? 1 : 0 };
	struct tscope_diagnosis *diagnosis;
	struct tscope_error err = { 0 };

	if (tscope_diagnose(&diagnosis, facts, &options, &err) != TSCOPE_OK)
		fail_msg("%s", err.message);
	return diagnosis;
}

/* "med TIMING.DATALOADER_BOUND 30000000\n" for each finding, without the number if there is none. */
static void show_findings(const struct tscope_diagnosis *diagnosis, char text[TEXT_CHARS])
{
	int length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < tscope_diagnosis_finding_count(diagnosis); i++) {
		struct tscope_finding finding = tscope_diagnosis_finding(diagnosis, i);
		length += snprintf(text + length, TEXT_CHARS - (size_t)length, "%s %s",
				   tscope_severity_name(finding.severity), finding.rule->id);
		if (finding.has_gain)
			length += snprintf(text + length, TEXT_CHARS - (size_t)length, " %lld",
					   (long long)finding.gain_ns);
		length += snprintf(text + length, TEXT_CHARS - (size_t)length, "\n");
	}
}

static void check_findings(const char *lines, const char *change, const char *expected)
{
	struct tscope_analysis *facts = fact_values(lines);
	struct tscope_diagnosis *diagnosis = diagnose(facts, change);
	char text[TEXT_CHARS];

	show_findings(diagnosis, text);
	assert_string_equal(text, expected);
	tscope_diagnosis_free(diagnosis);
}

TEST(the_list_has_the_ids_of_the_definitions)
{
	static const char *const ids[] = {
#define RULE(name, id) id,
#include "rules/rule_list.h"
#undef RULE
	};

	assert_int_equal(tscope_rule_count(), TSI_COUNT_OF(ids));
	for (size_t i = 0; i < TSI_COUNT_OF(ids); i++) {
		assert_string_equal(tscope_rule(i)->id, ids[i]);
		assert_ptr_equal(tscope_rule_find(ids[i]), tscope_rule(i));
	}
	assert_string_equal(tscope_rule_find("memory.growth")->id, "MEMORY.GROWTH");
	assert_null(tscope_rule_find("MEMORY"));
	assert_null(tscope_rule_find(""));
}

TEST(definitions_are_complete)
{
	struct tscope_analysis *none = fact_values("");

	for (size_t i = 0; i < tscope_rule_count(); i++) {
		const struct tscope_rule_def *def = tscope_rule(i);
		const char *const texts[] = { def->id,      def->summary, def->trigger,
					      def->meaning, def->advice,  def->example };
		for (size_t j = 0; j < TSI_COUNT_OF(texts); j++)
			if (!texts[j] || texts[j][0] == '\0')
				fail_msg("%s lacks text %zu", def->id, j);
		for (size_t j = 0; j < TSCOPE_RULE_MAX_FACTS && def->facts[j]; j++) {
			struct tscope_value value;
			enum tscope_unit unit;
			if (!tscope_analysis_find(none, def->facts[j], &value, &unit))
				fail_msg("%s needs %s, which nobody defines", def->id,
					 def->facts[j]);
		}
		for (size_t j = 0; j < TSCOPE_RULE_MAX_PARAMETERS && def->parameters[j].name; j++)
			assert_non_null(def->parameters[j].meaning);
	}
}

TEST(changes_are_checked)
{
	static const struct {
		const char *change, *message; /* NULL: it is taken */
	} cases[] = {
		{ "MEMORY.GROWTH=off", NULL },
		{ "memory.growth=low", NULL },
		{ "MEMORY.GROWTH=med", NULL },
		{ "MEMORY.GROWTH=high", NULL },
		{ "MEMORY.GROWTH.threshold=0", NULL },
		{ "MEMORY.GROWTH.threshold=2.5e6", NULL },
		{ "MEMORY.GROWTH.share=0.5", NULL },
		{ "", "expected RULE=off|low|med|high or RULE.PARAMETER=NUMBER, not ''" },
		{ "MEMORY.GROWTH", "expected RULE=off|low|med|high or RULE.PARAMETER=NUMBER, not "
				   "'MEMORY.GROWTH'" },
		{ "MEMORY.GROWHT=off", "unknown rule MEMORY.GROWHT; did you mean MEMORY.GROWTH?" },
		{ "MEMORY.GROWHT.share=1",
		  "unknown rule MEMORY.GROWHT; did you mean MEMORY.GROWTH?" },
		{ "everything=off", "unknown rule everything; 'tscope rules' lists them" },
		{ "=off", "unknown rule ; 'tscope rules' lists them" },
		{ "MEMORY.GROWTH=on",
		  "expected off, low, med or high after MEMORY.GROWTH=, not 'on'" },
		{ "MEMORY.GROWTH=", "expected off, low, med or high after MEMORY.GROWTH=, not ''" },
		{ "MEMORY.GROWTH.treshold=1",
		  "MEMORY.GROWTH has no parameter 'treshold'; did you mean threshold?" },
		{ "MEMORY.GROWTH.zz=1", "MEMORY.GROWTH has no parameter 'zz', but threshold" },
		{ "MEMORY.GROWTH.=1", "MEMORY.GROWTH has no parameter '', but threshold" },
		{ "CONVERGENCE.DIVERGED.threshold=1", "CONVERGENCE.DIVERGED has no parameters" },
		{ "MEMORY.GROWTH.share=", "expected a number such as 0.3 after "
					  "MEMORY.GROWTH.share=, not ''" },
		{ "MEMORY.GROWTH.share=.5", "expected a number such as 0.3 after "
					    "MEMORY.GROWTH.share=, not '.5'" },
		{ "MEMORY.GROWTH.share=-1", "expected a number such as 0.3 after "
					    "MEMORY.GROWTH.share=, not '-1'" },
		{ "MEMORY.GROWTH.share=nan", "expected a number such as 0.3 after "
					     "MEMORY.GROWTH.share=, not 'nan'" },
		{ "MEMORY.GROWTH.share=1e999", "expected a number such as 0.3 after "
					       "MEMORY.GROWTH.share=, not '1e999'" },
		{ "MEMORY.GROWTH.share=1 %", "expected a number such as 0.3 after "
					     "MEMORY.GROWTH.share=, not '1 %'" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_error err = { 0 };
		enum tscope_status status = tscope_rule_change_check(cases[i].change, &err);
		assert_string_equal(err.message, cases[i].message ? cases[i].message : "");
		assert_int_equal(status, cases[i].message ? TSCOPE_E_FORMAT : TSCOPE_OK);
	}
}

TEST(a_wrong_change_is_no_diagnosis)
{
	const char *const changes[] = { "MEMORY.GROWTH=off", "MEMORY.GROWTH=loud" };
	const struct tscope_rule_options options = { changes, 2 };
	struct tscope_analysis *facts = fact_values(DATA_STALL);
	struct tscope_diagnosis *diagnosis = NULL;
	struct tscope_error err = { 0 };

	assert_int_equal(tscope_diagnose(&diagnosis, facts, &options, &err), TSCOPE_E_FORMAT);
	assert_string_equal(err.message,
			    "expected off, low, med or high after MEMORY.GROWTH=, not 'loud'");
	assert_null(diagnosis);
}

/* The reason why a rule was not evaluated, or "". */
static void check_reason(const char *lines, const char *change, const char *id,
			 const char *expected)
{
	struct tscope_analysis *facts = fact_values(lines);
	struct tscope_diagnosis *diagnosis = diagnose(facts, change);
	const struct tscope_rule_def *rule = tscope_rule_find(id);
	const char *reason = "";

	for (size_t i = 0; i < tscope_diagnosis_not_evaluated_count(diagnosis); i++)
		if (tscope_diagnosis_not_evaluated(diagnosis, i).rule == rule)
			reason = tscope_diagnosis_not_evaluated(diagnosis, i).reason;
	assert_string_equal(reason, expected);
	if (reason[0] != '\0')
		assert_false(tscope_diagnosis_fired(diagnosis, rule));
	tscope_diagnosis_free(diagnosis);
}

TEST(what_is_not_evaluated_says_why)
{
	check_reason("", NULL, "DIST.EXPOSED_COMM",
		     "no overlap.exposed_comm_ratio: it needs a trace with communication on a "
		     "device");
	check_reason("overlap.exposed_comm_ratio 0.5\n! overlap clocks do not agree\n", NULL,
		     "DIST.EXPOSED_COMM",
		     "overlap.exposed_comm_ratio is not reliable: clocks do not agree");
	/* What is said of a fact alone, there or not, comes first; that of another one is nothing. */
	check_reason("overlap.exposed_comm_ratio 0.5\n! overlap clocks do not agree\n"
		     "! overlap.exposed_comm_ratio half of it is lost\n",
		     NULL, "DIST.EXPOSED_COMM",
		     "overlap.exposed_comm_ratio is not reliable: half of it is lost");
	check_reason("! overlap clocks do not agree\n! overlap.exposed_comm_ratio it is lost\n",
		     NULL, "DIST.EXPOSED_COMM", "no overlap.exposed_comm_ratio: it is lost");
	check_reason("overlap.exposed_comm_ratio 0.5\n! overlap.comm_ns it is lost\n", NULL,
		     "DIST.EXPOSED_COMM", "");
	/* An analyzer in doubt is no reason for what it does not have. */
	check_reason("! overlap clocks do not agree\n", NULL, "DIST.EXPOSED_COMM",
		     "no overlap.exposed_comm_ratio: it needs a trace with communication on a "
		     "device");
	check_reason("overlap.exposed_comm_ratio 0.5\n", "DIST.EXPOSED_COMM=off",
		     "DIST.EXPOSED_COMM", "switched off by --rule");
	check_reason("", "DIST.EXPOSED_COMM=off", "DIST.EXPOSED_COMM", "switched off by --rule");
	check_reason("overlap.exposed_comm_ratio 0.5\n", NULL, "DIST.EXPOSED_COMM", "");
	/* The first of several that are absent. */
	check_reason("step_time.count 12\nstep_time.p95_p50_ratio 1.0\n", NULL, "TIMING.JITTER",
		     "no step_time.cv: it needs complete steps");
}

TEST(nothing_at_all_fires_nothing)
{
	struct tscope_analysis *facts = fact_values("");
	struct tscope_diagnosis *diagnosis = diagnose(facts, NULL);

	assert_int_equal(tscope_diagnosis_finding_count(diagnosis), 0);
	assert_int_equal(tscope_diagnosis_not_evaluated_count(diagnosis), tscope_rule_count());
	for (size_t i = 0; i < tscope_rule_count(); i++)
		assert_ptr_equal(tscope_diagnosis_not_evaluated(diagnosis, i).rule, tscope_rule(i));
	tscope_diagnosis_free(diagnosis);
	tscope_diagnosis_free(NULL);
}

TEST(the_last_change_holds)
{
	const char *const changes[] = {
		"DIST.EXPOSED_COMM=off",
		"DIST.EXPOSED_COMM.threshold=0.9",
		"dist.exposed_comm=low",
		"DIST.EXPOSED_COMM.threshold=0.5",
	};
	const struct tscope_rule_options options = { changes, TSI_COUNT_OF(changes) };
	struct tscope_analysis *facts = fact_values("overlap.exposed_comm_ratio 0.5\n");
	struct tscope_diagnosis *diagnosis;
	char text[TEXT_CHARS];

	assert_int_equal(tscope_diagnose(&diagnosis, facts, &options, NULL), TSCOPE_OK);
	show_findings(diagnosis, text);
	assert_string_equal(text, "low DIST.EXPOSED_COMM\n");
	tscope_diagnosis_free(diagnosis);
}

TEST(a_rule_with_details_speaks_for_a_summary)
{
	struct tscope_analysis *facts = fact_values(DATA_STALL);
	struct tscope_diagnosis *diagnosis = diagnose(facts, NULL);

	/* 30 ms stand beside the title that they belong to. */
	assert_int_equal(tscope_diagnosis_finding_count(diagnosis), 1);
	struct tscope_finding finding = tscope_diagnosis_finding(diagnosis, 0);
	assert_string_equal(finding.rule->id, "TIMING.DATALOADER_BOUND");
	assert_string_equal(finding.cause, "data_loader");
	assert_int_equal(finding.also_count, 1);
	assert_string_equal(finding.also[0]->id, "EFFICIENCY.RECOVERABLE");
	assert_int_equal(finding.gain_ns, 30000000);
	static const char *const evidence[] = {
		"step_time.phase.data_ratio", "step_time.phase.data_ns",
		"efficiency.top_recoverable", "efficiency.top_recoverable_ratio",
		"efficiency.useful_ratio",
	};
	assert_int_equal(finding.evidence_count, TSI_COUNT_OF(evidence));
	for (size_t i = 0; i < TSI_COUNT_OF(evidence); i++)
		assert_string_equal(finding.evidence[i].fact, evidence[i]);
	assert_int_equal(finding.evidence[1].unit, TSCOPE_UNIT_NS);
	assert_int_equal(finding.evidence[1].value.integer, 30000000);
	assert_true(tscope_diagnosis_fired(diagnosis, tscope_rule_find("TIMING.DATALOADER_BOUND")));
	assert_true(tscope_diagnosis_fired(diagnosis, tscope_rule_find("EFFICIENCY.RECOVERABLE")));
	assert_false(tscope_diagnosis_fired(diagnosis, tscope_rule_find("EFFICIENCY.LOW_MFU")));
	tscope_diagnosis_free(diagnosis);
}

/* A kernel or two are no basis for more than a remark, unless the user says so. */
TEST(few_device_events_are_too_little_to_judge_by)
{
	check_findings(DATA_STALL "integrity.device_event_count 29\n", NULL,
		       "low TIMING.DATALOADER_BOUND 30000000\n");
	check_findings(DATA_STALL "integrity.device_event_count 29\n",
		       "TIMING.DATALOADER_BOUND=high", "high TIMING.DATALOADER_BOUND 30000000\n");
	check_findings(DATA_STALL "integrity.device_event_count 30\n", NULL,
		       "med TIMING.DATALOADER_BOUND 30000000\n");
	check_findings(DATA_STALL "integrity.device_event_count 0\n", NULL,
		       "med TIMING.DATALOADER_BOUND 30000000\n");
}

/* 0.3 of the steps of 100 ms are exposed transfer; an overlap wins less, by simulation. */
TEST(a_simulation_stands_against_estimates)
{
	static const struct {
		const char *gain;
		int64_t recoverable_ns;
	} cases[] = { { "", 30000000 }, { "what_if.ideal_overlap_gain_ns 2000000\n", 2000000 } };

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char lines[512];

		snprintf(lines, sizeof(lines),
			 "%sefficiency.top_recoverable communication\n"
			 "efficiency.top_recoverable_ratio 0.5\nstep_time.mean_ns 100000000\n"
			 "overlap.exposed_comm_ratio 0.5\nbudget.wall_total_ns 100\n"
			 "budget.exposed_wait_total_ns 20\nbudget.exposed_transfer_total_ns 30\n"
			 "budget.exposed_unsplit_total_ns 0\n",
			 cases[i].gain);
		struct tscope_analysis *facts = fact_values(lines);
		struct tscope_diagnosis *diagnosis = diagnose(facts, NULL);

		assert_int_equal(tscope_diagnosis_finding_count(diagnosis), 1);
		struct tscope_finding finding = tscope_diagnosis_finding(diagnosis, 0);
		assert_int_equal(finding.also_count, 1);
		assert_int_equal(finding.gain_ns, cases[i].recoverable_ns);
		/* The simulation hides what the next layer needs at once, too. */
		assert_int_equal(finding.gain_basis, TSCOPE_GAIN_BOUND);
		tscope_diagnosis_free(diagnosis);
	}
}

/* Transfer wins more, but where ranks wait longer for a late one, that one has to be mended first. */
TEST(the_late_rank_stands_before_transfer)
{
	static const char late[] =
		"distributed.n_steps 60\ndistributed.slow_ranks rank=5 excess_ratio=0.5 "
		"gain_ns=20000000\n"
		"distributed.slow_gain_ns 20000000\ndistributed.slow_gain_ratio 0.2\n"
		"step_time.mean_ns 100000000\ndistributed.mean_comm_fraction 0.6\n"
		"distributed.mean_step_wall_ns 100000000\nbudget.wall_total_ns 100\n"
		"budget.exposed_comm_total_ns 60\n";
	static const struct {
		const char *split, *expected;
	} cases[] = {
		{ "budget.exposed_wait_total_ns 30\nbudget.exposed_transfer_total_ns 30\n"
		  "budget.exposed_unsplit_total_ns 0\n",
		  "high DIST.STRAGGLER 20000000\nhigh DIST.COMM_BOUND 30000000\n" },
		{ "budget.exposed_wait_total_ns 29\nbudget.exposed_transfer_total_ns 31\n"
		  "budget.exposed_unsplit_total_ns 0\n",
		  "high DIST.COMM_BOUND 31000000\nhigh DIST.STRAGGLER 20000000\n" },
		/* Stages that wait for one another: of that the late one explains its gain, 0.2. */
		{ "budget.exposed_wait_total_ns 5\nbudget.exposed_transfer_total_ns 25\n"
		  "budget.exposed_unsplit_total_ns 30\npipeline.stall_ratio 0.5\n",
		  "high DIST.STRAGGLER 20000000\nhigh DIST.COMM_BOUND 25000000\n" },
		{ "budget.exposed_wait_total_ns 4\nbudget.exposed_transfer_total_ns 26\n"
		  "budget.exposed_unsplit_total_ns 30\npipeline.stall_ratio 0.5\n",
		  "high DIST.COMM_BOUND 26000000\nhigh DIST.STRAGGLER 20000000\n" },
		{ "budget.exposed_wait_total_ns 5\nbudget.exposed_transfer_total_ns 25\n"
		  "budget.exposed_unsplit_total_ns 19\npipeline.stall_ratio 0.5\n",
		  "high DIST.COMM_BOUND 25000000\nhigh DIST.STRAGGLER 20000000\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char lines[1024];

		snprintf(lines, sizeof(lines), "%s%s", late, cases[i].split);
		check_findings(lines, "DIST.COMM_BOUND=high", cases[i].expected);
	}
}

/* Products of TF32, of unaligned and of aligned sizes: each kind is won back by its own finding. */
TEST(products_of_other_kinds_add_up)
{
	static const char products[] =
		"device_busy.span_ns 100000000\nstep_time.mean_ns 100000000\nbudget.wall_total_ns "
		"100000000\n"
		"budget.compute_total_ns 90000000\nflops.matrix_ns 90000000\nflops.has_bf16 yes\n"
		"flops.by_operator name=aten::mm kind=gemm precision=tf32 tensor_cores=yes "
		"count=10 "
		"flops=1 alignment=4 device_ns=40000000 roofline_ns=30000000 "
		"half_roofline_ns=15000000\n"
		"flops.by_operator name=aten::mm kind=gemm precision=bf16 tensor_cores=yes "
		"count=10 "
		"flops=1 alignment=1 device_ns=20000000 roofline_ns=4000000\n"
		"flops.by_operator name=aten::mm kind=gemm precision=bf16 tensor_cores=yes "
		"count=10 "
		"flops=1 alignment=8 device_ns=30000000 roofline_ns=3000000\n";

	check_findings(products, NULL,
		       "med KERNEL.INEFFICIENT 25714286\n"
		       "med KERNEL.LOW_PRECISION 15000000\n"
		       "med KERNEL.PADDING 10000000\n");
}

/* Steps vary since a rank stalls: a third of what that costs on average is its gain, or less. */
TEST(a_rank_that_stalls_explains_jitter)
{
	static const char jitter[] =
		"step_time.count 50\nstep_time.cv 0.6\nstep_time.p95_p50_ratio 2\n"
		"step_time.mean_ns 110000000\nstep_time.p50_ns 100000000\n"
		"distributed.n_steps 50\ndistributed.slow_gain_ns 5000000\n"
		"distributed.slow_gain_ratio 0.05\n";
	static const struct {
		const char *stalls, *expected;
	} cases[] = {
		{ "stall_count=3 gain_ns=3333333", "low DIST.STRAGGLER 5000000\n" },
		{ "stall_count=3 gain_ns=3333332",
		  "low DIST.STRAGGLER 5000000\nlow TIMING.JITTER 5000000\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char lines[1024];

		snprintf(lines, sizeof(lines),
			 "%sdistributed.slow_ranks rank=5 excess_ratio=3 basis=stalls %s\n", jitter,
			 cases[i].stalls);
		check_findings(lines, NULL, cases[i].expected);
	}
}

/* So do steps in which a rank held the others up. */
TEST(a_rank_that_held_others_up_explains_jitter)
{
	static const char held_up[] =
		"step_time.count 50\nstep_time.cv 0.6\nstep_time.p95_p50_ratio 2\n"
		"step_time.mean_ns 110000000\nstep_time.p50_ns 100000000\n"
		"stragglers.skew_ns 0\nwhat_if.step_ns 110000000\n"
		"what_if.no_straggler_gain_ns 9000000\nwhat_if.ranks rank=1 gain_ns=9000000\n"
		"what_if.ranks rank=0 gain_ns=0\ndistributed.sync_skew_ns 0\n"
		"distributed.mean_step_wall_ns 110000000\n"
		"stragglers.hold_ups rank=1 most_ns=90000000 steps='7' step_count=1 of=12 "
		"excess_ns_per_step=";
	char lines[1024];

	snprintf(lines, sizeof(lines), "%s3333333\n", held_up);
	check_findings(lines, NULL, "med DIST.SKEW 9000000\n");
	snprintf(lines, sizeof(lines), "%s3333332\n", held_up);
	check_findings(lines, NULL, "med DIST.SKEW 9000000\nlow TIMING.JITTER 1000000\n");
}

/* The mean rank waits 10 of 100 ms for data: a late loader explains 5 of it, or more. */
TEST(a_late_loader_explains_waiting_for_data)
{
	static const char late[] =
		"step_time.mean_ns 100000000\nidle.data_ns 10000000\ndistributed.n_steps 50\n"
		"distributed.world_size 8\ndistributed.slow_gain_ns 40000000\n"
		"distributed.slow_gain_ratio 0.4\n"
		"distributed.slow_ranks rank=5 excess_ratio=3 basis=local_time gain_ns=40000000\n"
		"stragglers.causes rank=5 cause=";
	char lines[1024];

	snprintf(lines, sizeof(lines), "%sslow_loader excess_ns_per_step=40000008\n", late);
	check_findings(lines, NULL, "high DIST.STRAGGLER 40000000\n");
	snprintf(lines, sizeof(lines), "%sslow_loader excess_ns_per_step=40000007\n", late);
	check_findings(lines, NULL,
		       "high DIST.STRAGGLER 40000000\nmed TIMING.DATALOADER_BOUND 10000000\n");
	snprintf(lines, sizeof(lines), "%sslow_host excess_ns_per_step=80000000\n", late);
	check_findings(lines, NULL,
		       "high DIST.STRAGGLER 40000000\nmed TIMING.DATALOADER_BOUND 10000000\n");
}

/*
 * Of a step of 100 ms 30 are late launches, and two findings of one cause ask for 30 of them; the
 * data loader's 50 come out of a line that holds 20.
 */
TEST(gains_add_up_to_no_more_than_the_step)
{
	struct gain_ledger ledger;
	struct tscope_analysis *facts =
		fact_values("step_time.mean_ns 100\nbudget.wall_total_ns 1000\n"
			    "budget.launch_stall_total_ns 300\n"
			    "budget.data_stall_total_ns 200\n"
			    "budget.compute_total_ns 500\n");
	const struct gain_claim launch[] = { { GAIN_LAUNCH, 20 }, { GAIN_PYTHON, 5 } };
	const struct gain_claim same = { GAIN_LAUNCH, 22 }, rest = { GAIN_GC, 30 };
	const struct gain_claim data = { GAIN_DATA, 50 }, any = { GAIN_STEP, 1000 };
	const struct gain_claim gemm = { GAIN_GEMM_ALIGNED, 10 }, peak = { GAIN_BELOW_PEAK, 15 };
	const struct gain_claim slow = { GAIN_SLOW_STEPS, 62 };

	ledger = tsi_gain_ledger(facts);
	assert_int_equal(ledger.step_ns, 100);
	assert_int_equal(tsi_gain_grant(&ledger, launch, 2), 25);
	assert_int_equal(tsi_gain_grant(&ledger, &same, 1), 2);
	assert_int_equal(tsi_gain_grant(&ledger, &rest, 1), 3);
	assert_int_equal(tsi_gain_grant(&ledger, &data, 1), 20);
	assert_int_equal(tsi_gain_grant(&ledger, &gemm, 1), 10);
	/* 10 of 15 ns below the peak are the products'; 60 of 62 in slow steps were granted, too. */
	assert_int_equal(tsi_gain_grant(&ledger, &peak, 1), 5);
	assert_int_equal(tsi_gain_grant(&ledger, &peak, 1), 0);
	assert_int_equal(tsi_gain_grant(&ledger, &slow, 1), 0);
	assert_int_equal(tsi_gain_grant(&ledger, &any, 1), 35);
	assert_int_equal(tsi_gain_grant(&ledger, &any, 1), 0);
}

/* A share of 0.9 is severe, but with 2 ms of 100 to win neither the first nor of weight. */
TEST(the_gain_decides_on_order_and_severity)
{
	check_findings("step_time.mean_ns 100000000\nstep_time.phase.data_ratio 0.90\n"
		       "step_time.phase.data_ns 2000000\ncallbacks.step_ratio 0.06\n"
		       "callbacks.profiler_ratio 0\ncallbacks.in_step_ns_per_step 6000000\n"
		       "callbacks.profiler_ns_per_step 0\n",
		       NULL,
		       "med HOST.CALLBACKS 6000000\n"
		       "low TIMING.DATALOADER_BOUND 2000000\n");
}

TEST(bandwidth_seen_from_one_rank_is_less_certain)
{
	struct tscope_analysis *facts =
		fact_values("collectives.total_ns 1000000000\ncollectives.bytes 67108864\n"
			    "collectives.by_size kind=all_reduce on_host=no total_ns=900000000 "
			    "mean_ns=60000000 min_ns=50000000 message_bytes=67108864 "
			    "bus_bytes_per_second=1000000000.0\n");
	struct tscope_diagnosis *diagnosis = diagnose(facts, NULL);

	assert_int_equal(tscope_diagnosis_finding_count(diagnosis), 1);
	struct tscope_finding finding = tscope_diagnosis_finding(diagnosis, 0);
	assert_string_equal(finding.rule->id, "NCCL.LOW_BANDWIDTH");
	assert_int_equal(finding.confidence, TSCOPE_CONFIDENCE_MED);
	tscope_diagnosis_free(diagnosis);
}

TEST(a_capture_of_a_graph_wins_nothing)
{
	check_findings("launches.launch_count 100\nlaunches.captured_count 90\n"
		       "launches.is_capture yes\n",
		       NULL, "high TRACE.CAPTURE\n");
}

TEST(of_equal_ones_the_earlier_tells_the_other)
{
	check_findings(DATA_STALL, "EFFICIENCY.RECOVERABLE=med",
		       "med TIMING.DATALOADER_BOUND 30000000\n");
	check_findings(DATA_STALL, "TIMING.DATALOADER_BOUND=off",
		       "high EFFICIENCY.RECOVERABLE 36000000\n");
	/* An "other" that is large has nothing to do with the data, and no known gain. */
	check_findings("step_time.mean_ns 100000000\n"
		       "step_time.phase.data_ratio 0.30\n"
		       "step_time.phase.data_ns 30000000\n"
		       "efficiency.top_recoverable other\n"
		       "efficiency.top_recoverable_ratio 0.34\n",
		       NULL,
		       "med TIMING.DATALOADER_BOUND 30000000\n"
		       "low EFFICIENCY.RECOVERABLE\n");
}

TEST(findings_are_ranked)
{
	/* In the list: OPTIMIZER_HEAVY, JITTER (10 ms less 6), LOAD_IMBALANCE, FRAGMENTATION, GROWTH. */
	check_findings("step_time.phase.optimizer_ratio 0.2\n"
		       "step_time.phase.optimizer_ns 20000000\n"
		       "step_time.count 10\n"
		       "step_time.mean_ns 110000000\n"
		       "step_time.p50_ns 100000000\n"
		       "step_time.cv 0.6\n"
		       "step_time.p95_p50_ratio 2.0\n"
		       "distributed.imbalance_cv 0.2\n"
		       "distributed.wall_frac_lost_to_imbalance 0.06\n"
		       "distributed.wall_lost_ns_per_step 6000000\n"
		       "memory.peak_reserved_bytes 1300000000\n"
		       "memory.peak_alloc_bytes 1000000000\n"
		       "memory.growth_bytes_per_step 2000000.0\n"
		       "memory.step_count 20\n",
		       NULL,
		       "high MEMORY.GROWTH\n"
		       "med DIST.LOAD_IMBALANCE 6000000\n"
		       "low TIMING.JITTER 4000000\n"
		       "low TIMING.OPTIMIZER_HEAVY\n"
		       "low MEMORY.FRAGMENTATION\n");
}

TEST(failing_allocations)
{
	const char *change = "TIMING.JITTER=off";
	const struct tscope_rule_options options = { &change, 1 };
	struct tscope_analysis *facts = fact_values(DATA_STALL);

	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		struct tscope_diagnosis *diagnosis = NULL;
		alloc_sweep_try(&sweep, tscope_diagnose(&diagnosis, facts, &options, &sweep.err));
		if (sweep.has_failed)
			assert_null(diagnosis);
		else
			assert_int_equal(tscope_diagnosis_finding_count(diagnosis), 1);
		tscope_diagnosis_free(diagnosis);
	}
}
