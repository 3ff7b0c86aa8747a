/* SPDX-License-Identifier: MIT */
/* Gates on a comparison: what is one, and when each trips, holds or cannot tell. */
#include "gate/change.h"

#include "base/attributes.h"
#include "check.h"
#include "fact_values.h"

TEST(gates_are_taken)
{
	static const char *const gates[] = {
		"step_time.mean_ns>+5%",
		"step_time.mean_ms > +5 %",
		"step_time.mean_ms>+20",
		"step_time.mean_ns>+20ms",
		"step_time.mean_ns>+3% of trend",
		"step_time.mean_ns>-20ms of trend",
		"step_time.mean_ns>320ms",
		"memory.peak_alloc_bytes>+200MiB",
		"memory.peak_alloc_bytes>+0.2GB",
		"memory.peak_alloc_bytes>20GiB",
		"mfu<-2%",
		"mfu<-0.02",
		"mfu<0.35",
		"new-finding",
		" new-finding ",
		"severity>=high",
		"DIST.STRAGGLER",
		"straggler",
		"integrity.verdict==damaged",
		"step_change.change_ratio>0.05",
		"step_change.change_ns<-5e6",
		"step_change.change_ms>+5",
		"reproducibility.identical_trajectory==false",
	};

	for (size_t i = 0; i < TSI_COUNT_OF(gates); i++) {
		struct tscope_error err = { 0 };

		if (tscope_gate_check_change(gates[i], &err) != TSCOPE_OK)
			fail_msg("%s: %s", gates[i], err.message);
	}
}

TEST(the_others_are_refused_with_the_reason)
{
	static const struct {
		const char *gate, *message;
	} cases[] = {
		{ "", "a gate names a fact or a rule" },
		{ "mfu<", "nothing stands behind <" },
		{ "mfu<%", "mfu changes by a signed percentage: +5% or -5%, not '%'" },
		{ "mfu<5%", "mfu changes by a signed percentage: +5% or -5%, not '5%'" },
		{ "mfu<5% of trend", "mfu of trend is a change: +3% of trend or -3% of trend" },
		{ "mfu<+5%of trend", "mfu is compared with a number, not '+5%of trend'" },
		{ "mfu<+%", "mfu is compared with a number, not '+%'" },
		{ "mfu<+", "mfu is compared with a number, not '+'" },
		{ "mfu<+-5", "mfu is compared with a number, not '+-5'" },
		{ "mfu<++5", "mfu is compared with a number, not '++5'" },
		{ "mfu<+5%%", "mfu is compared with a number, not '+5%%'" },
		{ "mfu<+5% %", "mfu is compared with a number, not '+5% %'" },
		{ "mfu<-+5", "mfu is compared with a number, not '-+5'" },
		{ "mfu<+.5", "mfu is compared with a number, not '+.5'" },
		{ "mfu<+0x10", "mfu is compared with a number, not '+0x10'" },
		/* A minus sign and digits that are none of ASCII. */
		{ "mfu<\xe2\x88\x92"
		  "5%",
		  "mfu changes by a signed percentage: +5% or -5%, not '\xe2\x88\x92"
		  "5%'" },
		{ "mfu<+\xef\xbc\x95%", "mfu is compared with a number, not '+\xef\xbc\x95%'" },
		{ "mfu=+5%", "= is no comparison; there are < <= > >= == !=" },
		{ "mfu=>+5%", "= is no comparison; there are < <= > >= == !=" },
		{ ">+5%", "nothing stands before >" },
		{ "severity>=+high", "severity is low, med or high, not '+high'" },
		{ "reproducibility.is_reproducible==-1",
		  "reproducibility.is_reproducible is true or false, not '-1'" },
		{ "mfu<+nan%", "mfu is compared with a number, not '+nan%'" },
		{ "mfu<+1e999", "mfu is compared with a number, not '+1e999'" },
		/* A unit of its own has the fact only. */
		{ "mfu<+5MiB", "mfu is compared with a number, not '+5MiB'" },
		{ "memory.peak_alloc_bytes>+MiB",
		  "memory.peak_alloc_bytes is compared with a number, not '+MiB'" },
		{ "memory.peak_alloc_bytes>+5ms",
		  "memory.peak_alloc_bytes is compared with a number, not '+5ms'" },
		{ "step_change.change_ratio>5%",
		  "step_change.change_ratio is of the comparison: no percent of it, not '5%'" },
		{ "integrity.verdict>+5%",
		  "integrity.verdict is no number: compare it by == or !=" },
		{ "new-finding>0", "new-finding is compared with nothing: it stands alone" },
		{ "new-findin", "unknown fact or rule new-findin; did you mean new-finding?" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_error err = { 0 };

		assert_int_equal(tscope_gate_check_change(cases[i].gate, &err), TSCOPE_E_FORMAT);
		assert_string_equal(err.message, cases[i].message);
	}
}

/* What asks for a change says so where there is one input only; a negative number is a number. */
TEST(of_one_input_there_is_no_change)
{
	static const struct {
		const char *gate, *message;
	} cases[] = {
		{ "mfu<-2%",
		  "-2% only works with tscope diff: it is about a change between two inputs" },
		{ "step_time.mean_ms<2%",
		  "2% only works with tscope diff: it is about a change between two inputs" },
		{ "step_time.mean_ms>+5",
		  "+5 only works with tscope diff: it is about a change between two inputs" },
		{ "new-finding", "new-finding only works with tscope diff: it is about a change "
				 "between two inputs" },
		{ "step_change.change_ns>0", "step_change.change_ns only works with tscope diff: "
					     "it is about a change between two inputs" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_error err = { 0 };

		assert_int_equal(tscope_gate_check(cases[i].gate, &err), TSCOPE_E_FORMAT);
		assert_string_equal(err.message, cases[i].message);
	}
	assert_int_equal(tscope_gate_check("mfu<2%", NULL), TSCOPE_OK);
	assert_int_equal(tscope_gate_check("step_time.trend_ns_per_step<-2.5", NULL), TSCOPE_OK);
	assert_int_equal(tscope_gate_check("memory.peak_alloc_bytes>20GiB", NULL), TSCOPE_OK);
}

/* ---- evaluation ---- */

/* A gate and what becomes of it. */
struct verdict {
	const char *gate;
	enum { HELD, HELD_AS_NOISE, TRIPPED, OPEN } outcome;
	const char *reason;
};

/* Two sides that a test wrote down; changes: the facts of the comparison. */
struct compared_texts {
	const char *changes, *a, *b;
	bool ignore_significance;
};

static void check(const struct compared_texts *texts, const struct verdict *verdicts, size_t count)
{
	struct tscope_analysis *changes = fact_values(texts->changes);
	struct tscope_analysis *a = fact_values(texts->a ? texts->a : "");
	struct tscope_analysis *b = fact_values(texts->b ? texts->b : "");
	struct tscope_diagnosis *of_a, *of_b;

	assert_int_equal(tscope_diagnose(&of_a, a, NULL, NULL), TSCOPE_OK);
	assert_int_equal(tscope_diagnose(&of_b, b, NULL, NULL), TSCOPE_OK);
	const struct gate_sides sides = {
		.changes = changes,
		.b = b,
		.diagnoses = { of_a, of_b },
	};
	for (size_t i = 0; i < count; i++) {
		struct tscope_gate_result result = tsi_gate_evaluate_change(
			verdicts[i].gate, &sides, texts->ignore_significance);

		assert_string_equal(result.reason, verdicts[i].reason);
		assert_int_equal(result.held, verdicts[i].outcome == HELD ||
						      verdicts[i].outcome == HELD_AS_NOISE);
		assert_int_equal(result.is_inconclusive, verdicts[i].outcome == OPEN);
		assert_int_equal(result.is_noise, verdicts[i].outcome == HELD_AS_NOISE);
		assert_ptr_equal(result.expression, verdicts[i].gate);
	}
	tscope_diagnosis_free(of_a);
	tscope_diagnosis_free(of_b);
}

#define check_all(texts, verdicts) check((texts), (verdicts), TSI_COUNT_OF(verdicts))

/* 100 ms became 106 ms; p95 became 101 of 100, which may be chance; the median 106 of 100, too. */
static const char changes[] =
	"step_change.a_count 3\n"
	"step_change.b_count 12\n"
	"fact_changes.list fact=step_time.mean_ns unit=ns a=100000000 b=106000000 "
	"difference=6000000 ratio=0.06 verdict=changed p_value=0.00001 low_ratio=0.055 "
	"high_ratio=0.065\n"
	"fact_changes.list fact=step_time.p95_ns unit=ns a=100000000 b=101000000 "
	"difference=1000000 ratio=0.01 verdict=no_change p_value=0.31 low_ratio=-0.02 "
	"high_ratio=0.04\n"
	"fact_changes.list fact=step_time.p50_ns unit=ns a=100000000 b=106000000 "
	"difference=6000000 ratio=0.06 verdict=undecided\n"
	"fact_changes.list fact=memory.peak_alloc_bytes unit=bytes a=1073741824 b=1283457024 "
	"difference=209715200 ratio=0.1953125 verdict=exact\n"
	"fact_changes.list fact=efficiency.mfu unit=ratio a=0.4 b=0.38 difference=-0.02 "
	"ratio=-0.05 verdict=not_tested\n"
	"fact_changes.list fact=copies.bytes unit=bytes per_step=yes a=0 b=1024 "
	"difference=1024 verdict=exact\n"
	"fact_changes.list fact=launches.launch_count unit=count a=7 b=7 difference=0 ratio=0.0 "
	"verdict=same\n"
	"fact_changes.list fact=overlap.comm_ns unit=ns a=5 verdict=only_a\n"
	"fact_changes.list fact=overlap.exposed_ns unit=ns b=5 verdict=only_b\n"
	"fact_changes.list fact=overlap.exposed_comm_ratio unit=ratio a=0.5 b=0.5 difference=0.0 "
	"ratio=0.0 verdict=same b_doubt='the clock ran backwards'\n"
	"fact_changes.list fact=integrity.verdict unit=text a=good b=damaged verdict=exact\n";

TEST(a_significant_change_is_compared)
{
	static const struct verdict verdicts[] = {
		{ "step_time.mean_ns>+5%", TRIPPED, "+6 % > +5%, significant (p < 0.0001)" },
		{ "step_time.mean_ms>+5 %", TRIPPED, "+6 % > +5 %, significant (p < 0.0001)" },
		{ "step_time.mean_ns>=+6%", TRIPPED, "+6 % >= +6%, significant (p < 0.0001)" },
		{ "step_time.mean_ns>+6%", OPEN,
		  "inconclusive: +6 %, significant (p < 0.0001); it is at most +6.5 % with 95 % "
		  "confidence" },
		{ "step_time.mean_ms>+6.5", HELD,
		  "holds: +6, significant (p < 0.0001); it is at most +6.5 with 95 % confidence" },
		{ "step_time.mean_ns<-5%", HELD,
		  "holds: +6 %, significant (p < 0.0001); it is at least +5.5 % with 95 % "
		  "confidence" },
		{ "step_time.mean_ms>+5", TRIPPED, "+6 > +5, significant (p < 0.0001)" },
		{ "step_time.mean_ns>+5ms", TRIPPED, "+6 ms > +5ms, significant (p < 0.0001)" },
		{ "step_time.mean_ns>+5000000", TRIPPED,
		  "+6000000 > +5000000, significant (p < 0.0001)" },
		{ "step_time.mean_ns==+0", HELD, "holds: +6000000, significant (p < 0.0001)" },
	};

	check_all(&(struct compared_texts){ .changes = changes }, verdicts);
}

/* Noise hides a change up to some size; where one is demanded noise is none. */
TEST(noise_is_no_change_as_far_as_it_reaches)
{
	static const struct verdict verdicts[] = {
		{ "step_time.p95_ns>+0.5%", OPEN,
		  "inconclusive: +1 %, not significant (p = 0.31); it is at most +4 % with 95 % "
		  "confidence" },
		{ "step_time.p95_ns>+5%", HELD,
		  "holds: +1 %, not significant (p = 0.31); it is at most +4 % with 95 % "
		  "confidence" },
		{ "step_time.p95_ns<+0.5%", TRIPPED,
		  "no change < +0.5%: +1 %, not significant (p = 0.31)" },
		{ "step_time.p95_ns!=+0", HELD_AS_NOISE,
		  "holds: +1000000, not significant (p = 0.31)" },
		{ "launches.launch_count>+0%", HELD, "holds: 0 %" },
		{ "launches.launch_count<+1", TRIPPED, "0 < +1" },
	};
	static const struct verdict ignored[] = {
		{ "step_time.p95_ns>+0.5%", TRIPPED, "+1 % > +0.5%, not significant (p = 0.31)" },
		{ "step_time.p95_ns>+5%", HELD, "holds: +1 %, not significant (p = 0.31)" },
		{ "step_time.p50_ns>+5%", TRIPPED, "+6 % > +5%, too few steps to tell" },
	};

	check_all(&(struct compared_texts){ .changes = changes }, verdicts);
	check_all(&((struct compared_texts){ .changes = changes, .ignore_significance = true }),
		  ignored);
}

TEST(too_few_steps_are_inconclusive)
{
	static const struct verdict verdicts[] = {
		{ "step_time.p50_ns>+5%", OPEN,
		  "inconclusive: +6 %, and 3 steps against 12 are too few to tell" },
		{ "step_time.p50_ms>+50", OPEN,
		  "inconclusive: +6, and 3 steps against 12 are too few to tell" },
	};

	check_all(&(struct compared_texts){ .changes = changes }, verdicts);
}

TEST(what_is_no_matter_of_chance_is_compared_as_it_is)
{
	static const struct verdict verdicts[] = {
		{ "memory.peak_alloc_bytes>+100MiB", TRIPPED, "+200 MiB > +100MiB" },
		{ "memory.peak_alloc_bytes>+200MiB", HELD, "holds: +200 MiB" },
		/* 209.7152e6 */
		{ "memory.peak_alloc_bytes>+200MB", TRIPPED, "+209.715 MB > +200MB" },
		{ "memory.peak_alloc_bytes>+19%", TRIPPED, "+19.5312 % > +19%" },
		{ "memory.peak_alloc_bytes>+209715199", TRIPPED, "+209715200 > +209715199" },
		{ "mfu<-2%", TRIPPED, "-5 % < -2%, not tested" },
		{ "mfu<-0.01", TRIPPED, "-0.02 < -0.01, not tested" },
		{ "mfu<-0.02", HELD, "holds: -0.02, not tested" },
		/* Of a step each. */
		{ "copies.bytes>+1KiB", HELD, "holds: +1 KiB per step" },
		{ "copies.bytes>+1000", TRIPPED, "+1024 per step > +1000" },
	};

	check_all(&(struct compared_texts){ .changes = changes }, verdicts);
}

TEST(what_is_not_known_or_doubted_trips)
{
	static const struct verdict verdicts[] = {
		{ "copies.bytes>+5%", TRIPPED,
		  "the change cannot be had in percent: A is 0 or no number" },
		{ "overlap.comm_ns>+5%", TRIPPED, "overlap.comm_ns is not known in B" },
		{ "overlap.exposed_ns>+5%", TRIPPED, "overlap.exposed_ns is not known in A" },
		{ "overlap.exposed_comm_ratio>+5%", OPEN,
		  "overlap.exposed_comm_ratio is not reliable in B: the clock ran backwards" },
		{ "convergence.final_loss>+5%", TRIPPED,
		  "convergence.final_loss is not known: it needs step records with a loss" },
	};
	static const struct verdict nothing[] = {
		{ "mfu<-2%", TRIPPED,
		  "efficiency.mfu is not known: it needs steps with phases, and for mfu their "
		  "FLOPs and the peak of the device" },
	};

	check_all(&(struct compared_texts){ .changes = changes }, verdicts);
	check_all(&(struct compared_texts){ .changes = "" }, nothing);
}

TEST(all_else_is_of_b)
{
	static const struct verdict verdicts[] = {
		{ "mfu<0.35", TRIPPED, "0.3 < 0.35" },
		{ "step_time.mean_ms>99", TRIPPED, "100 > 99" },
		{ "memory.peak_alloc_bytes>1GiB", TRIPPED, "2 > 1GiB" },
		{ "step_time.count<3", TRIPPED,
		  "step_time.count is not known: it needs complete steps" },
		{ "step_change.b_count<13", TRIPPED, "12 < 13" },
		{ "step_change.change_ns>0", TRIPPED,
		  "step_change.change_ns is not known: it needs a comparison (tscope diff)" },
		{ "straggler", TRIPPED,
		  "distributed.straggler is not known: it needs steps of two or more ranks with "
		  "numbers in common" },
	};

	check_all(&((struct compared_texts){
			  .changes = changes,
			  .a = "efficiency.mfu 0.9\nstep_time.count 9\n",
			  .b = "efficiency.mfu 0.3\nstep_time.mean_ns 100000000\n"
			       "memory.peak_alloc_bytes 2147483648\n",
		  }),
		  verdicts);
}

/* ---- findings ---- */

TEST(new_findings_trip)
{
	static const char findings[] =
		"finding_changes.new_count 1\n"
		"finding_changes.list change=new id=MEMORY.GROWTH b_severity=med title='it grows'\n"
		"finding_changes.list change=worse id=GPU.IDLE a_severity=low b_severity=high "
		"title='it idles'\n"
		"finding_changes.list change=better id=DIST.STRAGGLER a_severity=high "
		"b_severity=med title=slow\n"
		"finding_changes.list change=same id=HOST.GC a_severity=high b_severity=high "
		"title=collects\n"
		"finding_changes.list change=gone id=TIMING.DATALOADER_BOUND a_severity=high "
		"title=waits\n";
	static const struct verdict verdicts[] = {
		{ "new-finding", TRIPPED, "1 new finding, first MEMORY.GROWTH: it grows" },
		{ "severity>=high", TRIPPED, "1 new finding, first GPU.IDLE: it idles" },
		{ "severity>=med", TRIPPED, "2 new findings, first MEMORY.GROWTH: it grows" },
		/* GPU.IDLE was as grave before. */
		{ "severity>=low", TRIPPED, "1 new finding, first MEMORY.GROWTH: it grows" },
		{ "severity<med", HELD, "holds: no new finding" },
	};
	static const struct verdict none[] = {
		{ "new-finding", HELD, "holds: no new finding" },
		{ "severity>=low", HELD, "holds: no new finding" },
	};
	static const struct verdict lost[] = {
		{ "new-finding", TRIPPED,
		  "B lacks the data for 2 rules that A could judge, first GPU.IDLE: no trace" },
		{ "severity>=low", TRIPPED,
		  "B lacks the data for 2 rules that A could judge, first GPU.IDLE: no trace" },
	};
	static const struct verdict unknown[] = {
		{ "new-finding", TRIPPED,
		  "finding_changes.new_count is not known: it needs a "
		  "comparison (tscope diff)" },
	};

	static const struct verdict nothing[] = {
		{ "new-finding", OPEN, "inconclusive: of B no rule could be evaluated" },
		{ "severity>=low", OPEN, "inconclusive: of B no rule could be evaluated" },
	};
	static const char evaluated[] = "step_time.phase.optimizer_ratio 0.01\n";

	const struct compared_texts found = { .changes = findings, .b = evaluated };
	const struct compared_texts found_none = { .changes = "finding_changes.new_count 0\n",
						   .b = evaluated };

	check_all(&found, verdicts);
	check_all(&found_none, none);
	check_all(&(struct compared_texts){ .changes = "finding_changes.new_count 0\n" }, nothing);
	check_all(&(struct compared_texts){ .changes = "finding_changes.new_count 0\n"
						       "finding_changes.lost id=GPU.IDLE "
						       "reason='no trace'\n"
						       "finding_changes.lost id=HOST.GC "
						       "reason='no trace'\n" },
		  lost);
	check_all(&(struct compared_texts){ .changes = "" }, unknown);
}

/* Data takes 30 of 100 ms. */
#define BOUND_BY_DATA                                                                              \
	"step_time.count 12\nstep_time.mean_ns 100000000\n"                                        \
	"step_time.phase.data_ns 30000000\nstep_time.phase.data_ratio 0.3\n"
#define NOT_BOUND                                                                                  \
	"step_time.count 12\nstep_time.mean_ns 100000000\n"                                        \
	"step_time.phase.data_ns 1000000\nstep_time.phase.data_ratio 0.01\n"

TEST(a_rule_trips_where_it_fires_in_b_only)
{
	static const struct verdict fired[] = {
		{ "TIMING.DATALOADER_BOUND", TRIPPED,
		  "it fired: waiting for data takes 30.0 % of the step" },
	};
	static const struct verdict both[] = {
		{ "TIMING.DATALOADER_BOUND", HELD, "holds: it fired in A, too" },
	};
	static const struct verdict none[] = {
		{ "TIMING.DATALOADER_BOUND", HELD, "holds: it did not fire" },
	};
	static const struct verdict unknown[] = {
		{ "TIMING.DATALOADER_BOUND", TRIPPED,
		  "not evaluated: no step_time.mean_ns: it needs complete "
		  "steps" },
	};

	check_all(&((struct compared_texts){ "", NOT_BOUND, BOUND_BY_DATA, false }), fired);
	check_all(&((struct compared_texts){ "", "", BOUND_BY_DATA, false }), fired);
	check_all(&((struct compared_texts){ "", BOUND_BY_DATA, BOUND_BY_DATA, false }), both);
	check_all(&((struct compared_texts){ "", BOUND_BY_DATA, NOT_BOUND, false }), none);
	check_all(&((struct compared_texts){ "", NOT_BOUND, "", false }), unknown);
}

/* ---- figures as absurd as an input may make them ---- */

TEST(absurd_figures_trip_or_hold)
{
	static const struct verdict verdicts[] = {
		{ "step_time.mean_ns>+5%", TRIPPED,
		  "+9.22337e+20 % > +5%, significant (p < 0.0001)" },
		{ "step_time.mean_ns>+5", TRIPPED, "+9.22337e+18 > +5, significant (p < 0.0001)" },
		{ "mfu<-2%", TRIPPED, "the change cannot be had in percent: A is 0 or no number" },
		{ "step_time.p50_ns>+5", TRIPPED,
		  "the change cannot be had as a number: A is 0 or no number" },
	};

	check_all(
		&(struct compared_texts){
			.changes = "fact_changes.list fact=step_time.mean_ns a=1 "
				   "b=9223372036854775807 difference=9223372036854775806 "
				   "ratio=9.223372036854775e18 verdict=changed p_value=0.0\n"
				   "fact_changes.list fact=efficiency.mfu a=0.5 b=0.5 ratio=inf "
				   "verdict=not_tested\n"
				   "fact_changes.list fact=step_time.p50_ns a=none b=some "
				   "difference=odd verdict=exact\n"
				   "fact_changes.list verdict=same\n" },
		verdicts);
}
