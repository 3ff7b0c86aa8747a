/* SPDX-License-Identifier: MIT */
/* Gates: what is one, what is wrong with the others, and when each trips or holds. */
#include <tscope/gate.h>

#include <stdio.h>
#include <string.h>

#include "analyze/analysis.h"
#include "check.h"
#include "fact_values.h"
#include "step_text.h"

TEST(gates_are_taken)
{
	static const char *const gates[] = {
		"step_time.mean_ns>320000000",
		"step_time.p95_us>320",
		"step_time.p95_ms > 3.2e2",
		"\tstep_time.p95_s\t<=\t1 ",
		"mfu<0.35",
		"efficiency.mfu!=0",
		"overlap.exposed_comm_ratio>=0.2",
		"integrity.verdict==damaged",
		"integrity.verdict != doubtful",
		"steps.boundary!=anything",
		"DIST.STRAGGLER",
		" dist.straggler ",
		"straggler",
		"severity>=high",
		"severity == low",
		"severity<med",
	};

	for (size_t i = 0; i < TSI_COUNT_OF(gates); i++)
		assert_int_equal(tscope_gate_check(gates[i], NULL), TSCOPE_OK);
}

TEST(the_others_are_refused_with_the_reason)
{
	static const struct {
		const char *gate, *message;
	} cases[] = {
		{ "", "a gate names a fact or a rule" },
		{ " \t", "a gate names a fact or a rule" },
		{ "<3", "nothing stands before <" },
		{ "mfu >= ", "nothing stands behind >=" },
		{ "mfu=3", "= is no comparison; there are < <= > >= == !=" },
		{ "mfu!3", "! is no comparison; there are < <= > >= == !=" },
		{ "mfu", "mfu needs a comparison, such as mfu>0" },
		{ "severity", "severity needs a comparison, such as severity>=high" },
		{ "mfu<", "nothing stands behind <" },
		{ "mfu<35", "mfu is a ratio: did you mean 0.35 or 35%?" },
		{ "mfu<%", "mfu is compared with a number, not '%'" },
		{ "mfu<nan", "mfu is compared with a number, not 'nan'" },
		{ "mfu<inf", "mfu is compared with a number, not 'inf'" },
		{ "mfu<1e999", "mfu is compared with a number, not '1e999'" },
		{ "mfu<0x10", "mfu is compared with a number, not '0x10'" },
		{ "mfu<0.3 0.4", "mfu is compared with a number, not '0.3 0.4'" },
		{ "mfu<<3", "mfu is compared with a number, not '<3'" },
		{ "severity>=hihg", "severity is low, med or high, not 'hihg'" },
		{ "severity>high", "no severity is above high: this gate never trips" },
		{ "severity<low", "no severity is below low: this gate never trips" },
		{ "mfu<0", "mfu is never below 0: this gate never trips" },
		{ "mfu>1", "mfu is never above 1: this gate never trips" },
		{ "overlap.exposed_comm_ratio>=101%",
		  "overlap.exposed_comm_ratio is never above 1: this gate never trips" },
		{ "step_time.p95_s<=-1",
		  "step_time.p95_s is never below 0: this gate never trips" },
		{ "integrity.verdict==bad",
		  "integrity.verdict is one of |sound|damaged|doubtful|, never 'bad'" },
		{ "integrity.verdict!=soun",
		  "integrity.verdict is one of |sound|damaged|doubtful|, never 'soun'" },
		{ "efficiency.top_recoverable==comm",
		  "efficiency.top_recoverable is one of "
		  "|compute_overhead|data_stall|communication|other|, never 'comm'" },
		{ "integrity.verdict<3", "integrity.verdict is no number: compare it by == or !=" },
		{ "straggler>0", "straggler is compared with nothing: it stands alone" },
		{ "DIST.STRAGGLER>0", "DIST.STRAGGLER is compared with nothing: it stands alone" },
		{ "DIST.STRAGLER",
		  "unknown fact or rule DIST.STRAGLER; did you mean DIST.STRAGGLER?" },
		{ "stragler", "unknown fact or rule stragler; did you mean straggler?" },
		{ "opportunities.short_gap_ms>1",
		  "unknown fact or rule opportunities.short_gap_ms; did you mean "
		  "opportunities.short_gap_total_ms?" },
		{ "patterns.wall_ns>1",
		  "unknown fact or rule patterns.wall_ns; did you mean patterns.wall_total_ns?" },
		{ "muf<1", "unknown fact or rule muf; did you mean mfu?" },
		{ "overlap.com_ns>1",
		  "unknown fact or rule overlap.com_ns; did you mean overlap.comm_ns?" },
		{ "overlap.com_ms>1",
		  "unknown fact or rule overlap.com_ms; did you mean overlap.comm_ms?" },
		/* Only times are converted. */
		{ "overlap.exposed_comm_ms>1", "unknown fact or rule overlap.exposed_comm_ms; did "
					       "you mean overlap.exposed_ms?" },
		{ "kernels.by_name>3", "kernels.by_name is a table, and no fact or rule" },
		{ "zzzzzzzzzzzzzzzzzzzz>3", "unknown fact or rule 'zzzzzzzzzzzzzzzzzzzz'; 'tscope "
					    "report --list-facts' and 'tscope rules' list them" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_error err = { 0 };

		assert_int_equal(tscope_gate_check(cases[i].gate, &err), TSCOPE_E_FORMAT);
		assert_string_equal(err.message, cases[i].message);
	}
}

/* Longer than any buffer within. */
TEST(a_long_gate_is_refused)
{
	char gate[1000];
	struct tscope_error err = { 0 };

	memset(gate, 'x', sizeof(gate) - 1);
	gate[sizeof(gate) - 1] = '\0';
	assert_int_equal(tscope_gate_check(gate, &err), TSCOPE_E_FORMAT);
	memcpy(gate, "mfu<", 4);
	assert_int_equal(tscope_gate_check(gate, &err), TSCOPE_E_FORMAT);
	memcpy(gate, "integrity.verdict==", 19);
	assert_int_equal(tscope_gate_check(gate, &err), TSCOPE_E_FORMAT);
	memcpy(gate, "integrity.doubt====", 17);
	assert_int_equal(tscope_gate_check(gate, NULL), TSCOPE_OK);
}

/* ---- evaluation ---- */

enum { MAX_RANKS = 7 };

/* A run of ranks that a test wrote down, analysed and diagnosed. */
struct diagnosed {
	struct step_series ranks[MAX_RANKS], slowest;
	struct tscope_analysis *rank_analysis, *analysis;
	struct tscope_diagnosis *diagnosis;
};

/* ranks: their steps, as in step_text.h; NULL ends them. changes: as of --rule. */
static struct diagnosed diagnose(const char *const *ranks, const char *doubt, const char *change)
{
	const struct tscope_rule_options rules = { &change, change ? 1 : 0 };
	struct diagnosed run = { 0 };
	size_t count = 0;

	for (; ranks[count]; count++) {
		assert_true(count < MAX_RANKS);
		run.ranks[count] = test_steps(ranks[count]);
		run.ranks[count].rank = (int64_t)count;
		run.ranks[count].doubt = doubt;
		run.ranks[count].is_of_trace = doubt != NULL;
	}
	struct analysis_scope rank = { .steps = &run.ranks[0] };
	assert_int_equal(tsi_analyze_level(&run.rank_analysis, LEVEL_RANK, &rank, NULL, NULL),
			 TSCOPE_OK);
	tsi_steps_init(&run.slowest);
	if (count > 1)
		tsi_steps_slowest(&run.slowest, run.ranks, count, 0);
	struct analysis_scope whole = {
		.steps = count > 1 ? &run.slowest : &run.ranks[0],
		.ranks = run.ranks,
		.rank_count = count,
	};
	assert_int_equal(
		tsi_analyze_level(&run.analysis, LEVEL_RUN, &whole, run.rank_analysis, NULL),
		TSCOPE_OK);
	assert_int_equal(tscope_diagnose(&run.diagnosis, run.analysis, &rules, NULL), TSCOPE_OK);
	return run;
}

static void diagnosed_deinit(struct diagnosed *run)
{
	tscope_diagnosis_free(run->diagnosis);
	tscope_analysis_free(run->analysis);
	tscope_analysis_free(run->rank_analysis);
	tsi_steps_deinit(&run->slowest);
	for (size_t i = 0; i < MAX_RANKS; i++)
		tsi_steps_deinit(&run->ranks[i]);
}

/* A gate and what becomes of it. */
struct verdict {
	const char *gate;
	bool held;
	const char *reason;
};

static void check(const struct diagnosed *run, const struct verdict *verdicts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct tscope_gate_result result =
			tscope_gate_evaluate(verdicts[i].gate, run->analysis, run->diagnosis);

		assert_string_equal(result.reason, verdicts[i].reason);
		assert_int_equal(result.held, verdicts[i].held);
		assert_ptr_equal(result.expression, verdicts[i].gate);
	}
}

#define check_all(run, verdicts) check((run), (verdicts), TSI_COUNT_OF(verdicts))

/* Two steps of 100 ms; data takes 30 of 100, a finding of severity med. */
static const char *const bound_by_data[] = {
	"0 data=30000000 forward=30000000 backward=40000000\n"
	"1 data=30000000 forward=30000000 backward=40000000\n",
	NULL,
};

TEST(numbers_are_compared_in_the_unit_that_is_named)
{
	static const struct verdict verdicts[] = {
		{ "step_time.mean_ms>99.5", false, "100 > 99.5" },
		{ "step_time.mean_ms>=100", false, "100 >= 100" },
		{ "step_time.mean_ms>100", true, "holds: 100" },
		{ "step_time.mean_ms<100", true, "holds: 100" },
		{ "step_time.mean_ms<=100.0", false, "100 <= 100.0" },
		{ "step_time.mean_ns<1e9", false, "100000000 < 1e9" },
		{ "step_time.mean_us == 100000", false, "100000 == 100000" },
		{ "step_time.mean_s!=0.1", true, "holds: 0.1" },
		{ "step_time.mean_s!=0.2", false, "0.1 != 0.2" },
		{ "step_time.phase.data_ratio>0.25", false, "0.3 > 0.25" },
		{ "step_time.count==2", false, "2 == 2" },
	};
	struct diagnosed run = diagnose(bound_by_data, NULL, NULL);
	struct tscope_gate_result result =
		tscope_gate_evaluate("step_time.mean_s>1", run.analysis, run.diagnosis);

	check_all(&run, verdicts);
	assert_true(result.has_value);
	assert_true(result.value == 0.1);
	diagnosed_deinit(&run);
}

/* 1 ÷ 3 is above 0.333333, which six digits do not show. */
TEST(a_reason_shows_the_difference)
{
	static const char *const ranks[] = { "0 data=1 forward=2\n", NULL };
	static const struct verdict verdicts[] = {
		{ "step_time.phase.data_ratio>0.333333", false, "0.3333333 > 0.333333" },
		{ "step_time.phase.data_ratio>0.3", false, "0.333333 > 0.3" },
	};
	struct diagnosed run = diagnose(ranks, NULL, NULL);

	check_all(&run, verdicts);
	diagnosed_deinit(&run);
}

TEST(texts_are_equal_or_not)
{
	static const struct verdict verdicts[] = {
		{ "efficiency.top_recoverable==data_stall", false, "data_stall == data_stall" },
		{ "efficiency.top_recoverable != data_stall", true, "holds: data_stall" },
		{ "efficiency.top_recoverable==other", true, "holds: data_stall" },
		{ "efficiency.top_recoverable!=other", false, "data_stall != other" },
	};
	struct diagnosed run = diagnose(bound_by_data, NULL, NULL);

	check_all(&run, verdicts);
	diagnosed_deinit(&run);
}

TEST(what_is_not_known_trips)
{
	static const struct verdict verdicts[] = {
		{ "overlap.comm_ns>0", false,
		  "overlap.comm_ns is not known: it needs a trace with communication on a device" },
		{ "straggler", false,
		  "distributed.straggler is not known: it needs steps of two or more ranks with "
		  "numbers in common" },
	};
	struct diagnosed run = diagnose(bound_by_data, NULL, NULL);
	struct tscope_gate_result result =
		tscope_gate_evaluate("overlap.comm_ns>0", run.analysis, run.diagnosis);

	check_all(&run, verdicts);
	assert_false(result.has_value);
	diagnosed_deinit(&run);
}

TEST(what_is_not_reliable_trips)
{
	static const char *const ranks[] = { "0 forward=2\n", "0 forward=2\n", NULL };
	static const struct verdict verdicts[] = {
		{ "straggler", false, "distributed is not reliable: the clock ran backwards" },
		{ "distributed.n_steps>9", false,
		  "distributed is not reliable: the clock ran backwards" },
	};
	struct diagnosed run = diagnose(ranks, "the clock ran backwards", NULL);

	check_all(&run, verdicts);
	diagnosed_deinit(&run);
}

/* Of one fact alone, there or not; the others are as their analyzer is. */
TEST(what_is_said_of_a_fact_trips)
{
	static const struct verdict verdicts[] = {
		{ "mfu<0.2", false, "efficiency.mfu is not reliable: a lower bound" },
		{ "efficiency.hfu<0.2", false, "efficiency.hfu is not known: no peak" },
		{ "efficiency.useful_ratio<0.2", true, "holds: 0.4" },
		{ "efficiency.useful_ratio<20%", true, "holds: 40" },
		{ "efficiency.useful_ratio<50 %", false, "40 < 50 %" },
		{ "efficiency.device!=A100", false,
		  "efficiency.device is not known: it needs steps with phases, and for mfu their "
		  "FLOPs and the peak of the device" },
		{ "overlap.comm_ns>9", false, "overlap.comm_ns is not reliable: it is cut" },
		{ "overlap.exposed_ns>9", false,
		  "overlap is not reliable: the clock ran backwards" },
		{ "overlap.overlapped_ns>9", false,
		  "overlap.overlapped_ns is not known: it needs a trace with communication on a "
		  "device" },
	};
	struct tscope_analysis *facts =
		fact_values("efficiency.mfu 0.3\n! efficiency.mfu a lower bound\n"
			    "! efficiency.hfu no peak\n"
			    "efficiency.useful_ratio 0.4\n"
			    "overlap.comm_ns 5\noverlap.exposed_ns 3\n"
			    "! overlap the clock ran backwards\n"
			    "! overlap.comm_ns it is cut\n");
	struct diagnosed run = { .analysis = facts };
	struct tscope_gate_result result = tscope_gate_evaluate("mfu<0.2", run.analysis, NULL);

	assert_false(result.has_value);
	check_all(&run, verdicts);
}

/*
 * Neither held nor tripped: bounds, figures that are cut, doubtful or saturated. More FLOPs than
 * the device can do are wrong, and trip.
 */
TEST(what_cannot_be_told_is_undecided)
{
	static const struct {
		const char *facts, *gate;
		bool is_undecided;
	} cases[] = {
		{ "efficiency.mfu 0.6\n! efficiency.mfu a lower bound\n", "mfu<0.7", true },
		{ "efficiency.mfu 0.6\n! efficiency.mfu capped\n", "mfu<0.1", true },
		{ "efficiency.mfu 0.6\nefficiency.mfu_uncapped 0.9\n", "mfu<0.1", true },
		{ "efficiency.mfu 0.6\nefficiency.mfu_uncapped 5\n", "mfu<0.1", false },
		{ "! efficiency.mfu no FLOPs\n", "mfu<0.1", false },
		{ "step_time.mean_ns 9223372036854775807\n", "step_time.mean_ns<1", true },
		{ "step_time.mean_ns 9223372036854775807\n", "step_time.mean_ns>1", true },
		{ "step_time.mean_ns 5\n! step_time odd\n", "step_time.mean_ns>9", true },
		{ "step_time.mean_ns 5\nstep_time.unknown_count 1\n", "step_time.mean_ns>9", true },
		{ "step_time.mean_ns 5\nstep_time.unknown_count 1\n", "step_time.mean_ns>4",
		  false },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_analysis *facts = fact_values(cases[i].facts);
		struct tscope_gate_result result = tscope_gate_evaluate(cases[i].gate, facts, NULL);

		assert_false(result.held);
		assert_int_equal(result.is_inconclusive, cases[i].is_undecided);
	}
}

/* "efficiency.mfu is not known: " are 29 bytes, of the 255 that there is room for. */
TEST(a_long_reason_ends_with_a_whole_character)
{
	enum { PLACE = 29, ROOM = 255 };
	char lines[400] = "! efficiency.mfu ";
	size_t begin = strlen(lines);

	/* The second byte of é is the last for which there is room, or the first for which not. */
	for (size_t before = ROOM - PLACE - 2; before <= ROOM - PLACE; before++) {
		memset(lines + begin, 'x', before);
		snprintf(lines + begin + before, sizeof(lines) - begin - before, "\xc3\xa9x");
		struct tscope_analysis *facts = fact_values(lines);
		struct tscope_gate_result result = tscope_gate_evaluate("mfu<1", facts, NULL);
		size_t length = strlen(result.reason);

		assert_int_equal(length, before == ROOM - PLACE - 2 ? ROOM : PLACE + before);
		assert_memory_equal(result.reason, "efficiency.mfu is not known: x", PLACE + 1);
	}
}

/* What another file may tell is excused; a figure that is there and not to be believed is not. */
TEST(what_was_not_evaluated_is_excused)
{
	static const struct {
		const char *gate;
		bool is_evaluated, held;
		const char *reason; /* when it is excused */
	} cases[] = {
		{ "efficiency.useful_ratio<0.2", true, true, "holds: 0.4" },
		{ "efficiency.useful_ratio<0.5", true, false, "0.4 < 0.5" },
		{ "mfu<0.2", true, false, "efficiency.mfu is not reliable: a lower bound" },
		{ "efficiency.hfu<0.2", false, true,
		  "not evaluated here: efficiency.hfu is not known: no peak" },
		{ "overlap.comm_ns>9", false, true,
		  "not evaluated here: overlap.comm_ns is not known: it needs a trace with "
		  "communication on a device" },
		{ "CONVERGENCE.DIVERGED", false, true,
		  "not evaluated here: no convergence.loss_trend: it needs step records with a "
		  "loss" },
		{ "severity>=low", true, true, "holds: no findings" },
	};
	struct tscope_analysis *facts =
		fact_values("efficiency.mfu 0.3\n! efficiency.mfu a lower bound\n"
			    "! efficiency.hfu no peak\nefficiency.useful_ratio 0.4\n");
	struct diagnosed run = diagnose((const char *const[]){ "0 forward=2\n", NULL }, NULL, NULL);

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_gate_result result =
			tscope_gate_evaluate(cases[i].gate, facts, run.diagnosis);

		assert_int_equal(result.is_evaluated, cases[i].is_evaluated);
		if (!result.is_evaluated)
			assert_false(result.held);
		tscope_gate_excuse(&result);
		assert_string_equal(result.reason, cases[i].reason);
		assert_int_equal(result.held, cases[i].held);
	}
	diagnosed_deinit(&run);
}

TEST(a_rule_must_not_fire)
{
	static const struct verdict verdicts[] = {
		{ "TIMING.DATALOADER_BOUND", false,
		  "it fired: waiting for data takes 30.0 % of the step" },
		{ "timing.backward_heavy", true, "holds: it did not fire" },
		{ "CONVERGENCE.DIVERGED", false,
		  "not evaluated: no convergence.loss_trend: it needs step records with a loss" },
	};
	static const struct verdict off[] = {
		{ "TIMING.DATALOADER_BOUND", false, "not evaluated: switched off by --rule" },
	};
	struct diagnosed run = diagnose(bound_by_data, NULL, NULL);

	check_all(&run, verdicts);
	diagnosed_deinit(&run);
	run = diagnose(bound_by_data, NULL, "TIMING.DATALOADER_BOUND=off");
	check_all(&run, off);
	diagnosed_deinit(&run);
}

TEST(severities_are_ordered)
{
	static const struct verdict med[] = {
		{ "severity>=low", false, "1 finding, first TIMING.DATALOADER_BOUND (med)" },
		{ "severity>low", false, "1 finding, first TIMING.DATALOADER_BOUND (med)" },
		{ "severity==med", false, "1 finding, first TIMING.DATALOADER_BOUND (med)" },
		{ "severity>=high", true, "holds: the worst finding is med" },
		{ "severity<med", true, "holds: the worst finding is med" },
	};
	static const struct verdict none[] = {
		{ "severity>=low", true, "holds: no findings" },
	};
	struct diagnosed run = diagnose(bound_by_data, NULL, NULL);

	check_all(&run, med);
	diagnosed_deinit(&run);
	run = diagnose((const char *const[]){ "0 forward=2\n", NULL }, NULL, NULL);
	check_all(&run, none);
	diagnosed_deinit(&run);
}

/* Steps of `count` lines, all alike. */
static const char *repeat(char *text, size_t size, size_t count, const char *phases)
{
	size_t length = 0;

	for (size_t i = 0; i < count; i++)
		length += (size_t)snprintf(text + length, size - length, "%zu %s\n", i, phases);
	return text;
}

/* 30 steps in which rank 1 takes 20 % longer than the other two. */
TEST(a_slow_rank_is_named)
{
	enum { STEPS = 30, SIZE = STEPS * 32 };
	static const struct verdict slow[] = { { "straggler", false, "slow: rank 1" } };
	static const struct verdict two_slow[] = { { "straggler", false, "slow: ranks 1, 4" } };
	static const struct verdict even[] = {
		{ "straggler", true, "holds: no rank is slow; an excess of 9.1 % would show" }
	};
	char fast_text[SIZE], slow_text[SIZE];
	const char *fast = repeat(fast_text, SIZE, STEPS, "forward=1000 comm=200");
	const char *late = repeat(slow_text, SIZE, STEPS, "forward=1200");

	struct diagnosed run =
		diagnose((const char *const[]){ fast, late, fast, NULL }, NULL, NULL);
	check_all(&run, slow);
	diagnosed_deinit(&run);
	run = diagnose((const char *const[]){ fast, late, fast, fast, late, fast, fast, NULL },
		       NULL, NULL);
	check_all(&run, two_slow);
	diagnosed_deinit(&run);
	run = diagnose((const char *const[]){ fast, fast, NULL }, NULL, NULL);
	check_all(&run, even);
	diagnosed_deinit(&run);
}

TEST(what_is_no_gate_trips)
{
	static const struct verdict verdicts[] = {
		{ "stragler", false, "unknown fact or rule stragler; did you mean straggler?" },
	};
	struct diagnosed run = diagnose(bound_by_data, NULL, NULL);

	check_all(&run, verdicts);
	diagnosed_deinit(&run);
}
