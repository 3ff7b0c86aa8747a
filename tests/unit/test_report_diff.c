/* SPDX-License-Identifier: MIT */
/*
 * The reporters over a comparison: what holds for any report, and what the head and the sections
 * say of facts that a test writes down. Golden files show whole reports.
 */
#include "base/attributes.h"
#include "fact_values.h"
#include "fail_alloc.h"
#include "report/reporter.h"
#include "report/section.h"
#include "report_text.h"

#include <stdlib.h>
#include <string.h>
#include <tscope/tscope.h>

#include "check.h"

/* ---- sections over facts ---- */

/* Blanks side by side become one: widths are for golden files. */
static void squeeze(char *text)
{
	char *end = text;

	for (const char *at = text; *at != '\0'; at++)
		if (*at != ' ' || end == text || end[-1] != ' ')
			*end++ = *at;
	*end = '\0';
}

/* What a section prints of some facts; the caller frees it. */
static char *print(void (*section)(const struct panel *panel), const char *lines, bool all)
{
	struct tscope_analysis *facts = fact_values(lines);
	struct tscope_report_options options = { .width = 80 };
	struct doc doc = { 0 };
	struct panel panel = { .doc = &doc,
			       .analysis = facts,
			       .top = 3,
			       .options = &options,
			       .all = all,
			       .rank = -1 };
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	section(&panel);
	tsi_reporter_text.write(out, &doc, &options);
	assert_int_equal(fclose(out), 0);
	tsi_arena_deinit(&doc.arena);
	squeeze(text);
	return text;
}

struct section_case {
	void (*section)(const struct panel *panel);
	const char *facts;
	bool all;
	const char *text;
};

static void check(const struct section_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char *text = print(cases[i].section, cases[i].facts, cases[i].all);

		assert_string_equal(text, cases[i].text);
		free(text);
	}
}

/* 100 ms became 113; two lines explain it. */
#define SLOWER                                                                                     \
	"step_change.verdict changed\nstep_change.method rank\nstep_change.p_value 0.00001\n"      \
	"step_change.change_ns 13000000\nstep_change.change_ratio 0.13\n"                          \
	"step_change.low_ns 12500000\nstep_change.high_ns 13500000\n"                              \
	"explanation.change_ns 13000000\n"                                                         \
	"explanation.lines line=compute a_ns=70000000 b_ns=80000000 change_ns=10000000 "           \
	"verdict=changed certainty=certain share_ratio=0.67\n"                                     \
	"explanation.lines line=exposed_comm a_ns=10000000 b_ns=13000000 change_ns=3000000 "       \
	"verdict=undecided certainty=cannot_tell share_ratio=0.2\n"                                \
	"explanation.lines line=data_stall a_ns=10000000 b_ns=12000000 change_ns=2000000 "         \
	"verdict=no_change share_ratio=0.13\n"                                                     \
	"explanation.lines line=device_gap a_ns=10000000 b_ns=10000000 change_ns=0 "               \
	"verdict=same\n"                                                                           \
	"explanation.parts line=compute kind=kernel part='bwd_dq + bwd_dkv' change=replaced "      \
	"a_part=bwd a_ns=20000000 b_ns=30000000 change_ns=10000000\n"                              \
	"explanation.parts line=exposed_comm kind=collective part='all_reduce in group 2' "        \
	"change=slower a_ns=10000000 b_ns=13000000 change_ns=3000000\n"

TEST(the_head_says_how_much_and_why)
{
	static const struct section_case cases[] = {
		{ tsi_put_changes, SLOWER, false,
		  "\n SLOWER the mean step is 13.00 ms (13.0 %) slower, significant (p < "
		  "0.0001):\n a "
		  "typical step takes 12.50 ms to 13.50 ms more\n +10.00 ms compute: "
		  "bwd_dq and 1 other, replaced\n"
		  " +3.000 ms exposed communication (cannot tell):\n all_reduce in group 2, "
		  "longer\n nothing else changed significantly\n" },
		{ tsi_put_changes,
		  "step_change.verdict changed\nstep_change.method mean\nstep_change.p_value "
		  "0.002\n"
		  "step_change.change_ns -500000\nstep_change.change_ratio -0.0002\n"
		  "step_change.low_ns -900000\nstep_change.high_ns -100000\n"
		  "step_change.typical_verdict no_change\n"
		  "reproducibility.config_count 1\nreproducibility.environment_count 2\n"
		  "reproducibility.identical_trajectory no\n"
		  "reproducibility.first_divergence_step 7\n"
		  "finding_changes.new_count 1\n"
		  "finding_changes.list change=new id=GPU.IDLE title='it idles'\n"
		  "fact_changes.list fact=memory.peak_alloc_bytes unit=bytes a=1073741824 "
		  "b=1610612736 difference=536870912 ratio=0.5 verdict=exact\n"
		  "fact_changes.list fact=collectives.bytes unit=bytes a=100 b=200 difference=100 "
		  "ratio=1.0 verdict=exact\n"
		  "fact_changes.list fact=efficiency.mfu unit=ratio a=0.14 b=0.10 "
		  "difference=-0.041 ratio=-0.29 verdict=exact\n"
		  "fact_changes.only_a_count 3\nfact_changes.only_b_count 0\n",
		  false,
		  "\n FASTER the mean step is 500.0 µs (0.02 %) faster, significant (p = 0.002):\n "
		  "the mean step takes 100.0 µs to 900.0 µs less; typical steps did not\n change\n "
		  "MEMORY the peak +512 MiB (+50.0 %): 1.00 GiB → 1.50 GiB\n FINDINGS 1 new: it "
		  "idles\n LOSS the losses differ from step 7 on\n SETTINGS 1 configuration and 2 "
		  "environment settings differ\n METRICS 2 others changed: collectives.bytes "
		  "+100.0 %, efficiency.mfu -4.1\n points (-29.0 %)\n METRICS 3 exist only in A; "
		  "--all lists them\n nothing else changed significantly\n" },
	};

	check(cases, TSI_COUNT_OF(cases));
}

/* How the first line is to be read: which way, by how much, and which steps it is of. */
TEST(the_first_line_cannot_be_misread)
{
	static const struct section_case cases[] = {
		/* FASTER has no second sign. */
		{ tsi_put_changes,
		  "step_change.verdict changed\nstep_change.method rank\nstep_change.p_value "
		  "0.002\n"
		  "step_change.typical_verdict changed\nstep_change.typical_shift_ns -800000\n"
		  "step_change.change_ns -500000\nstep_change.change_ratio -0.05\n"
		  "step_change.low_ns -900000\nstep_change.high_ns 0\n",
		  false,
		  "\n FASTER the mean step is 500.0 µs (5.0 %) faster, significant (p = 0.002): "
		  "a\n typical step takes 0 ns to 900.0 µs less\n nothing else changed "
		  "significantly\n" },
		/* Typical steps say the same as the mean. */
		{ tsi_put_changes,
		  "step_change.verdict changed\nstep_change.method mean\nstep_change.p_value "
		  "0.002\n"
		  "step_change.typical_verdict changed\nstep_change.typical_shift_ns 490000\n"
		  "step_change.change_ns 500000\nstep_change.change_ratio 0.05\n"
		  "step_change.a_p50_ns 10000000\nstep_change.b_p50_ns 10490000\n"
		  "step_change.low_ns 100000\nstep_change.high_ns 900000\n",
		  false,
		  "\n SLOWER the mean step is 500.0 µs (5.0 %) slower, significant (p = 0.002):\n "
		  "the mean step takes 100.0 µs to 900.0 µs more\n nothing else changed "
		  "significantly\n" },
		/* The mean one way, typical steps the other. */
		{ tsi_put_changes,
		  "step_change.verdict changed\nstep_change.method mean\nstep_change.p_value "
		  "0.002\n"
		  "step_change.typical_verdict changed\nstep_change.typical_shift_ns -200000\n"
		  "step_change.change_ns 500000\nstep_change.change_ratio 0.05\n"
		  "step_change.low_ns 100000\nstep_change.high_ns 900000\n",
		  false,
		  "\n SLOWER the mean step is 500.0 µs (5.0 %) slower, significant (p = 0.002):\n "
		  "the mean step takes 100.0 µs to 900.0 µs more; but typical steps got\n 200.0 µs "
		  "faster\n nothing else changed significantly\n" },
		{ tsi_put_changes,
		  "step_change.verdict no_change\nstep_change.method mean\n"
		  "step_change.typical_verdict changed\nstep_change.typical_p_value 0.00001\n"
		  "step_change.typical_shift_ns -200000\n"
		  "step_change.change_ns 400000\nstep_change.change_ratio 0.004\n"
		  "step_change.low_ns -1100000\nstep_change.high_ns 1900000\n",
		  false,
		  "\n STEPS typical steps are 200.0 µs faster, significant (p < 0.0001);\n"
		  " +400.0 µs (+0.4 %) of the mean step is within noise (1.100 ms less to\n"
		  " 1.900 ms more)\n nothing else changed significantly\n" },
		/* Bounds that are not known are not made up. */
		{ tsi_put_changes,
		  "step_change.verdict changed\nstep_change.method rank\nstep_change.p_value "
		  "0.002\nstep_change.change_ns 500000\nstep_change.change_ratio 0.05\n",
		  false,
		  "\n SLOWER the mean step is 500.0 µs (5.0 %) slower, significant (p = 0.002)\n "
		  "nothing else changed significantly\n" },
		{ tsi_put_changes,
		  "step_change.verdict not_tested\nstep_change.change_ns 400000\n"
		  "step_change.change_ratio 0.004\n",
		  false,
		  "\n UNSURE the mean step changed by +400.0 µs (+0.4 %); there is nothing to "
		  "test\n it by\n nothing else changed significantly\n" },
		{ tsi_put_changes,
		  "reproducibility.config_count 0\nreproducibility.environment_count 2\n", false,
		  "\n SETTINGS 2 environment settings differ\n nothing else changed "
		  "significantly\n" },
	};

	check(cases, TSI_COUNT_OF(cases));
}

/* 100 µs more, of which compute has 60: 25 in the first kernel. */
#define MANY_PARTS                                                                                 \
	"step_change.verdict changed\nstep_change.method rank\nstep_change.p_value 0.00001\n"      \
	"step_change.change_ns 100000\nstep_change.change_ratio 0.1\n"                             \
	"step_change.low_ns 90000\nstep_change.high_ns 110000\n"                                   \
	"explanation.change_ns 100000\n"                                                           \
	"explanation.lines line=compute a_ns=1 b_ns=60001 change_ns=60000 share_ratio=0.6\n"       \
	"explanation.lines line=exposed_comm a_ns=1 b_ns=39101 change_ns=39100 "                   \
	"share_ratio=0.391\n"                                                                      \
	"explanation.lines line=launch_stall a_ns=1 b_ns=900 change_ns=899 verdict=changed\n"      \
	"explanation.lines line=device_gap a_ns=1 b_ns=2 change_ns=1 verdict=changed\n"            \
	"explanation.parts line=compute part=dq+dkv change=replaced a_part=bwd change_ns=25000\n"  \
	"explanation.parts line=exposed_comm part=all_reduce change=slower change_ns=19550\n"      \
	"explanation.parts line=exposed_comm part=all_gather change=slower change_ns=19550\n"      \
	"explanation.parts line=compute part=gelu change=slower change_ns=20000\n"                 \
	"explanation.parts line=compute part=relu change=slower change_ns=15000\n"                 \
	"explanation.parts line=compute part=sgd change=same change_ns=0\n"

/* A part that has nine tenths of the line stands for it, a lesser one for its own share only. */
TEST(a_part_stands_for_its_share)
{
	static const char first[] = "\n SLOWER the mean step is 100.0 µs (10.0 %) slower, "
				    "significant (p < 0.0001):\n a "
				    "typical step takes 90.00 µs to 110.0 µs more\n";
	char text[1024], opposed[4096];

	snprintf(text, sizeof(text),
		 "%s +60.00 µs compute: dq+dkv +25.00 µs and 2 more\n"
		 " +39.10 µs exposed communication: all_reduce +19.55 µs and 1 more\n nothing "
		 "else changed significantly\n",
		 first);
	check(&(struct section_case){ tsi_put_changes, MANY_PARTS, false, text }, 1);
	/* Against the line: it explains nothing of it, however large. */
	snprintf(opposed, sizeof(opposed),
		 "step_change.verdict changed\nstep_change.change_ns 10\nexplanation.change_ns 10\n"
		 "explanation.lines line=compute change_ns=10 verdict=changed\n"
		 "explanation.parts line=compute part='a + b' change=gone change_ns=-50\n"
		 "explanation.parts line=compute part=c change=new change_ns=60\n");
	char *head = print(tsi_put_changes, opposed, false);
	assert_non_null(strstr(head, "\n +10 ns compute\n"));
	free(head);
}

/* A large line that is not certain comes before a small one that is; the whole may be noise. */
TEST(size_comes_before_certainty)
{
	static const struct section_case cases[] = {
		{ tsi_put_changes,
		  "setup_changes.has_same_device no\nsetup_changes.has_same_work yes\n"
		  "setup_changes.list what=device a=A100 b=V100\n"
		  "setup_changes.list what='world size' a=8 b=4\n"
		  "step_change.verdict undecided\nstep_change.change_ns 46700000\n"
		  "step_change.change_ratio 0.45\nstep_change.a_count 1\nstep_change.b_count 1\n"
		  "explanation.lines line=compute change_ns=44500000 share_ratio=0.66 "
		  "certainty=cannot_tell\n"
		  "explanation.lines line=exposed_copy change_ns=12900000 share_ratio=0.19 "
		  "certainty=certain\n"
		  "explanation.lines line=device_gap change_ns=-10700000 share_ratio=0.15 "
		  "certainty=likely\n"
		  "explanation.parts line=compute kind=kernel part=sgemm change_ns=44500000\n",
		  false,
		  "\n SETUP these runs differ in: device A100 → V100, world size 8 → 4\n UNSURE "
		  "cannot tell whether the step changed: +46.70 ms (+45.0 %), but A has\n 1 step "
		  "and B 1; record at least 6 of each\n +44.50 ms compute (cannot tell)\n +12.90 "
		  "ms exposed copies\n nothing else changed significantly\n" },
		{ tsi_put_changes,
		  "step_change.verdict no_change\nstep_change.change_ns 100000\n"
		  "step_change.change_ratio 0.001\nstep_change.a_p50_ns 100000000\n"
		  "step_change.b_p50_ns 100200000\n"
		  "explanation.lines line=compute change_ns=5000000 share_ratio=0.5 "
		  "certainty=certain\n"
		  "explanation.lines line=data_stall change_ns=-4900000 share_ratio=0.49 "
		  "certainty=certain\n"
		  "explanation.lines line=device_gap change_ns=100 share_ratio=0.01 "
		  "certainty=cannot_tell\n",
		  false,
		  "\n MIXED no significant change of the whole step: +100.0 µs (+0.1 %); median\n"
		  " 100.0 ms → 100.2 ms; but parts of it changed:\n"
		  " +5.000 ms compute\n -4.900 ms waiting for data\n nothing "
		  "else changed significantly\n" },
	};

	check(cases, TSI_COUNT_OF(cases));
}

/* An operator is not at fault for Python before it, a function of Python is. */
TEST(what_the_host_was_inside_is_named)
{
#define STALLED                                                                                    \
	"step_change.verdict undecided\nstep_change.change_ns 2000000\nstep_change.a_count 2\n"    \
	"step_change.b_count 2\nexplanation.a_ns 9000000\n"                                        \
	"explanation.lines line=launch_stall change_ns=2000000 share_ratio=0.9\n"                  \
	"explanation.causes line=launch_stall cause=python change_ns=1500000\n"
	static const char first[] =
		"\n UNSURE cannot tell whether the step changed: +2.000 ms (0.0 %), but A has 2\n "
		"steps and B 2; record at least 6 of each\n";
	static const struct {
		const char *facts, *line;
	} cases[] = {
		{ STALLED "explanation.parts line=launch_stall kind=operator part=aten::copy_ "
			  "change_ns=1900000\n",
		  " +2.000 ms launch stalls: Python between operators +1.500 ms\n" },
		{ STALLED "explanation.parts line=launch_stall kind=function part=train.py:step "
			  "change=slower change_ns=1900000\n",
		  " +2.000 ms launch stalls: train.py:step, longer\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char *text = print(tsi_put_changes, cases[i].facts, false);

		assert_memory_equal(text, first, sizeof(first) - 1);
		assert_memory_equal(text + sizeof(first) - 1, cases[i].line, strlen(cases[i].line));
		free(text);
	}
}

TEST(the_head_does_not_call_noise_a_change)
{
	static const struct section_case cases[] = {
		{ tsi_put_changes,
		  "step_change.verdict same\nfact_changes.compared_count 312\n"
		  "fact_changes.list fact=copies.bytes unit=bytes a=1 b=1 difference=0 ratio=0.0 "
		  "verdict=same\n",
		  false, "\n no change: all 312 metrics are equal\n" },
		{ tsi_put_changes,
		  "step_change.verdict no_change\nstep_change.change_ns 400000\n"
		  "step_change.change_ratio 0.004\nstep_change.low_ns -1100000\n"
		  "step_change.high_ns 1900000\nfact_changes.compared_count 312\n",
		  false,
		  "\n no change: +400.0 µs (+0.4 %) of the mean step is within noise (1.100 ms "
		  "less\n to 1.900 ms more); nothing else differs significantly\n" },
		{ tsi_put_changes,
		  "step_change.verdict undecided\nstep_change.change_ns 4000000\n"
		  "step_change.change_ratio 0.04\nstep_change.a_count 3\nstep_change.b_count 4\n",
		  false,
		  "\n UNSURE cannot tell whether the step changed: +4.000 ms (+4.0 %), but A has "
		  "3\n steps and B 4; record at least 6 of each\n nothing else changed "
		  "significantly\n" },
		{ tsi_put_changes, "step_change.verdict only_a\nstep_change.a_count 4\n", false,
		  "\n UNSURE only A has steps (4): their time cannot be compared\n nothing else "
		  "changed significantly\n" },
		{ tsi_put_changes,
		  "step_change.verdict no_change\nstep_change.change_ns 400000\n"
		  "step_change.change_ratio 0.004\nstep_change.low_ns -1100000\n"
		  "step_change.high_ns 1900000\nreproducibility.config_count 1\n"
		  "reproducibility.config name=lr\n",
		  false,
		  "\n SAME no significant change: +400.0 µs (+0.4 %) of the mean step is within\n "
		  "noise (1.100 ms less to 1.900 ms more)\n SETTINGS 1 configuration setting "
		  "differs: lr\n nothing else changed significantly\n" },
	};

	check(cases, TSI_COUNT_OF(cases));
}

TEST(an_explanation_names_lines_and_parts)
{
	static const char ranks[] = "explanation.a_rank 2\nexplanation.b_rank 2\n"
				    "explanation.is_one_rank yes\n"
				    "explanation.rank_excess_ns 9000000\nexplanation.rest_ns 20\n";
	static const char head[] = "\n● EXPLANATION of +13.00 ms in the mean step\n"
				   "\n line of the step A B "
				   "change\n"
				   " compute significant 70.00 ms 80.00 ms +10.00 ms\n"
				   " 2 together replaced 20.00 ms 30.00 ms +10.00 ms\n"
				   " bwd_dq\n"
				   " bwd_dkv\n"
				   " in place of bwd\n"
				   " exposed communication 10.00 ms 13.00 ms +3.000 ms\n"
				   " all_reduce in group 2 longer 10.00 ms 13.00 ms +3.000 ms\n"
				   " … and 1 more +2.000 ms\n";
	const struct section_case cases[] = {
		{ tsi_section_explanation, SLOWER, false, head },
		{ tsi_section_explanation, "step_change.verdict same\n", true, "" },
	};
	char facts[4096], *text;

	check(cases, TSI_COUNT_OF(cases));
	snprintf(facts, sizeof(facts), "%s%s", SLOWER, ranks);
	text = print(tsi_section_explanation, facts, false);
	assert_non_null(strstr(text, "\n explained is rank 2\n its own time alone changed, by "
				     "+9.000 ms more than that of the others; the\n"));
	assert_non_null(strstr(text, " +20 ns more: other ranks are slower in some steps\n"));
	free(text);
}

/* Noise is not explained, but where all is asked for. */
TEST(noise_has_no_explanation)
{
	static const char noise[] = "step_change.verdict no_change\nexplanation.change_ns 5\n"
				    "explanation.lines line=host.comm a_ns=1 b_ns=6 change_ns=5 "
				    "verdict=no_change\n";
	const struct section_case cases[] = {
		{ tsi_section_explanation, noise, false, "" },
		{ tsi_section_explanation, noise, true,
		  "\n● EXPLANATION of +5 ns in the mean step, which may be noise\n"
		  "\n line of the step A B "
		  "change\n"
		  " communication on the host 1 ns 6 ns +5 "
		  "ns\n" },
	};

	check(cases, TSI_COUNT_OF(cases));
}

TEST(work_that_changed_is_listed)
{
	static const char kernels[] =
		"kernel_changes.new_count 1\nkernel_changes.more_calls_count 1\n"
		"kernel_changes.replaced_count 1\nkernel_changes.is_cut yes\n"
		"kernel_changes.list change=replaced name=dq+dkv a_name=bwd a_calls_per_step=1 "
		"b_calls_per_step=2 a_step_ns=2000000 b_step_ns=3000000 change_ns=1000000\n"
		"kernel_changes.list change=new name=gelu b_calls_per_step=0.5 b_step_ns=500000 "
		"change_ns=500000\n"
		"kernel_changes.list change=more_calls name=relu a_name=relu_128 "
		"a_calls_per_step=10 b_calls_per_step=12 a_step_ns=100000 b_step_ns=120000 "
		"change_ns=20000\n"
		"kernel_changes.list change=new name=fourth b_calls_per_step=1 b_step_ns=5 "
		"change_ns=5\n"
		"kernel_changes.list change=same name=sgd a_calls_per_step=1 b_calls_per_step=1 "
		"a_step_ns=7 b_step_ns=7 change_ns=0\n";
	const struct section_case cases[] = {
		{ tsi_section_kernel_changes, kernels, false,
		  "\n● KERNELS 1 new, 1 replaced, 1 with more calls; times per step\n a saved "
		  "report holds the first rows only: what is new or gone is not known\n\n kernel A "
		  "B change\n dq+dkv replaced 2.000 ms 3.000 ms +1.000 ms\n in place of bwd\n "
		  "calls per step: 1 → 2\n gelu new - 500.0 µs +500.0 µs\n relu more calls 100.0 "
		  "µs 120.0 µs +20.00 µs\n was relu_128\n calls per step: 10 → 12\n … and 1 "
		  "more\n" },
		{ tsi_section_operator_changes, "operator_changes.new_count 0\n", true, "" },
		{ tsi_section_operator_changes,
		  "operator_changes.list change=same name=aten::mm a_calls_per_step=1 "
		  "b_calls_per_step=1 a_step_ns=7 b_step_ns=7 change_ns=0\n",
		  false, "" },
		{ tsi_section_operator_changes,
		  "operator_changes.list change=same name=aten::mm a_calls_per_step=1 "
		  "b_calls_per_step=1 a_step_ns=7 b_step_ns=7 change_ns=0\n",
		  true,
		  "\n● OPERATORS the same; times per step\n\n operator calls host self change "
		  "verdict\n aten::mm 1 7 ns 0 ns same\n" },
		{ tsi_section_operator_changes,
		  "operator_changes.faster_count 1\noperator_changes.unclear_count 2\n"
		  "operator_changes.kinds change=faster kind=gemm a_calls_per_step=2 "
		  "b_calls_per_step=2 a_step_ns=7000 b_step_ns=8000 change_ns=1000 "
		  "a_step_device_ns=9000 b_step_device_ns=6000 device_change_ns=-3000\n"
		  "operator_changes.list change=faster name=aten::mm a_calls_per_step=2 "
		  "b_calls_per_step=2 a_step_ns=7000 b_step_ns=8000 change_ns=1000 "
		  "a_step_device_ns=9000 b_step_device_ns=6000 device_change_ns=-3000\n"
		  "operator_changes.list change=cannot_tell name=aten::t a_calls_per_step=2 "
		  "b_calls_per_step=2.5 a_step_ns=700 b_step_ns=800 change_ns=100 "
		  "a_step_device_ns=0 b_step_device_ns=0 device_change_ns=0\n"
		  "operator_changes.list change=same name=aten::add a_calls_per_step=1 "
		  "b_calls_per_step=1 a_step_ns=7 b_step_ns=7 change_ns=0\n",
		  false,
		  "\n● OPERATORS 1 faster, 2 cannot be told from noise; times per step\n\n "
		  "category calls host self change device change verdict\n gemm 2 8.000 µs +1.000 "
		  "µs 6.000 µs -3.000 µs faster\n\n operator calls host self change device change "
		  "verdict\n aten::mm 2 8.000 µs +1.000 µs 6.000 µs -3.000 µs faster\n aten::t "
		  "2→2.5 800 ns +100 ns - - cannot tell\n" },
		{ tsi_section_module_changes,
		  "module_changes.slower_count 1\n"
		  "module_changes.list change=slower name=GPT.Block.*.Linear[0] a_calls_per_step=2 "
		  "b_calls_per_step=2 a_step_ns=7000 b_step_ns=8000 change_ns=1000\n",
		  false,
		  "\n● MODULES 1 slower; times per step\n\n module calls host self change "
		  "verdict\n GPT.Block.*.Linear[0] 2 8.000 µs +1.000 µs slower\n" },
	};

	check(cases, TSI_COUNT_OF(cases));
}

TEST(ranks_that_changed_are_listed)
{
	static const struct section_case cases[] = {
		{ tsi_section_rank_changes,
		  "rank_changes.changed_count 1\n"
		  "rank_changes.list rank=0 verdict=no_change a_ns=5 b_ns=6 change_ns=1\n"
		  "rank_changes.list rank=3 verdict=changed a_ns=5 b_ns=9 change_ns=4\n"
		  "rank_changes.only_a rank=4\nrank_changes.only_a rank=5\n",
		  false,
		  "\n● RANKS the step changed on 1 of 2 common ranks\n only in A: 4, 5\n\n mean "
		  "step of A B "
		  "change\n"
		  " rank 3 slower 5 ns 9 ns +4 "
		  "ns\n" },
		{ tsi_section_rank_changes,
		  "rank_changes.changed_count 0\n"
		  "rank_changes.list rank=0 verdict=no_change a_ns=5 b_ns=6 change_ns=1\n"
		  "rank_changes.list rank=3 verdict=undecided a_ns=5 b_ns=9 change_ns=4\n",
		  false, "" },
	};

	check(cases, TSI_COUNT_OF(cases));
}

/* Rank 2 got slower; all others wait, so that their steps are as long as its own. */
#define ONE_RANK                                                                                   \
	"step_change.verdict changed\nstep_change.change_ns 40\nstep_change.change_ratio 0.4\n"    \
	"explanation.a_rank 2\nexplanation.b_rank 2\nexplanation.is_one_rank yes\n"                \
	"explanation.rank_excess_ns 41\nrank_changes.changed_count 3\n"                            \
	"rank_changes.list rank=0 verdict=changed a_ns=100 b_ns=140 change_ns=40 a_own_ns=90 "     \
	"b_own_ns=89 own_change_ns=-1\n"                                                           \
	"rank_changes.list rank=1 verdict=changed a_ns=100 b_ns=140 change_ns=40 a_own_ns=90 "     \
	"b_own_ns=92 own_change_ns=2\n"                                                            \
	"rank_changes.list rank=2 verdict=changed a_ns=100 b_ns=140 change_ns=40 a_own_ns=90 "     \
	"b_own_ns=130 own_change_ns=40\n"

TEST(one_rank_that_changed_is_told_first)
{
	static const struct section_case cases[] = {
		{ tsi_put_changes, ONE_RANK, false,
		  "\n SLOWER rank 2 alone: the mean step is 40 ns (40.0 %) slower, significant "
		  "(p\n < "
		  "0.0001)\n RANKS local time of rank 2 changed by +41 ns more than that of the "
		  "others;\n the others wait for it\n nothing else changed significantly\n" },
		/* The largest change first; those that wait have no word. */
		{ tsi_section_rank_changes, ONE_RANK, false,
		  "\n● RANKS rank 2 alone changed; the others wait for it\n"
		  "\n step less communication A B change\n"
		  " rank 2 slower 90 ns 130 ns +40 ns\n"
		  " rank 1 90 ns 92 ns +2 ns\n"
		  " rank 0 90 ns 89 ns -1 ns\n" },
	};

	check(cases, TSI_COUNT_OF(cases));
}

/* Of more ranks than there is room for those with the largest change are shown. */
TEST(the_ranks_that_changed_most_are_shown)
{
	static const struct section_case cases[] = {
		{ tsi_section_rank_changes,
		  "rank_changes.changed_count 5\n"
		  "rank_changes.list rank=0 verdict=changed a_ns=5 b_ns=6 change_ns=1\n"
		  "rank_changes.list rank=1 verdict=changed a_ns=5 b_ns=8 change_ns=3\n"
		  "rank_changes.list rank=2 verdict=changed a_ns=9 b_ns=5 change_ns=-4\n"
		  "rank_changes.list rank=3 verdict=changed a_ns=5 b_ns=8 change_ns=3\n"
		  "rank_changes.list rank=4 verdict=changed a_ns=5 b_ns=6 change_ns=1\n",
		  false,
		  "\n● RANKS the step changed on 5 of 5 common ranks\n\n mean step of A B change\n "
		  "rank 2 faster 9 ns 5 ns -4 ns\n"
		  " rank 1 slower 5 ns 8 ns +3 ns\n"
		  " rank 3 slower 5 ns 8 ns +3 ns\n"
		  " … and 2 more\n" },
	};

	check(cases, TSI_COUNT_OF(cases));
}

/* Kernels of several ranks are those of the rank that is explained. */
TEST(work_says_which_rank_it_is_of)
{
	static const char work[] =
		"kernel_changes.new_count 1\n"
		"kernel_changes.list change=new name=gelu b_calls_per_step=1 b_step_ns=5 "
		"change_ns=5\n";
	static const struct {
		const char *ranks, *title;
	} cases[] = {
		{ "", "\n● KERNELS 1 new; times per step\n" },
		{ "kernel_changes.a_rank 3\nkernel_changes.b_rank 3\n",
		  "\n● KERNELS 1 new (compared on rank 3); times per step\n" },
		{ "kernel_changes.a_rank 1\nkernel_changes.b_rank 2\n",
		  "\n● KERNELS 1 new (compared: rank 1 of A, rank 2 of B); times per step\n" },
		{ "kernel_changes.b_rank 2\n",
		  "\n● KERNELS 1 new (compared on rank 2 of B); times per step\n" },
	};
	char facts[512];

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		snprintf(facts, sizeof(facts), "%s%s", work, cases[i].ranks);
		char *text = print(tsi_section_kernel_changes, facts, false);
		assert_non_null(strstr(text, cases[i].title));
		free(text);
	}
}

/* As many as explain half of it: two do where the first alone does not, and four are too many. */
TEST(sites_that_the_peak_grew_by_are_named)
{
#define PEAK                                                                                       \
	"fact_changes.list fact=snapshot.peak_allocated_bytes unit=bytes a=1048576 b=9437184 "     \
	"difference=8388608 ratio=8.0 verdict=exact\n"
#define SITE(name, mib)                                                                            \
	"allocation_changes.sites site=/a/" name " change=grew a_peak_bytes=0 b_peak_bytes=" mib   \
	" peak_change_bytes=" mib "\n"
#define HEAD "\n MEMORY the peak +8.00 MiB (+800.0 %): 1.00 MiB → 9.00 MiB"
#define END "\n nothing else changed significantly\n"
	static const struct section_case cases[] = {
		{ tsi_put_changes, PEAK SITE("x.py:1:f", "1048576") SITE("y.py:2:g", "5242880"),
		  false, HEAD "; a/y.py:2:g 0 B →\n 5.00 MiB" END },
		{ tsi_put_changes,
		  PEAK SITE("x.py:1:f", "2097152") SITE("y.py:2:g", "-9")
			  SITE("z.py:3:h", "3145728"),
		  false, HEAD "; a/z.py:3:h 0 B →\n 3.00 MiB, a/x.py:1:f 0 B → 2.00 MiB" END },
		{ tsi_put_changes,
		  PEAK SITE("x.py:1:f", "1048576") SITE("y.py:2:g", "1048576")
			  SITE("z.py:3:h", "1048576") SITE("z.py:4:i", "1048576"),
		  false, HEAD END },
	};
#undef PEAK
#undef SITE
#undef HEAD
#undef END

	check(cases, TSI_COUNT_OF(cases));
}

TEST(memory_that_changed_is_listed)
{
	static const struct section_case cases[] = {
		{ tsi_section_memory_changes,
		  "allocation_changes.change_bytes 1048576\n"
		  "allocation_changes.sites site=/a/model.py:12:forward change=grew "
		  "a_bytes=1048576 "
		  "b_bytes=2097152 change_bytes=1048576 a_count=1 b_count=2\n"
		  "allocation_changes.sites site=/a/model.py:9:init change=same a_bytes=5 "
		  "b_bytes=5 "
		  "change_bytes=0 a_count=1 b_count=1\n"
		  "fact_changes.list fact=memory.fragmentation unit=ratio a=0.1 b=0.2 "
		  "difference=0.1 ratio=1.0 verdict=exact\n"
		  /* Less than one percent is not worth a line. */
		  "fact_changes.list fact=memory.peak_alloc_bytes unit=bytes a=1000 b=1001 "
		  "difference=1 ratio=0.001 verdict=exact\n",
		  false,
		  "\n● MEMORY +1.00 MiB live at the end\n\n metric A B change\n "
		  "memory.fragmentation 10.0 % 20.0 % +10.0 points\n\n live at the end, by site A "
		  "B change\n /a/model.py:12:forward grew 1.00 MiB 2.00 MiB +1.00 MiB\n blocks: 1 "
		  "→ 2\n" },
		/* What came and went is no line, nor is a block without a stack without a name. */
		{ tsi_section_memory_changes,
		  "allocation_changes.change_bytes 0\n"
		  "allocation_changes.peak_change_bytes 2097152\n"
		  "allocation_changes.sites change=moved a_bytes=5 b_bytes=5 change_bytes=0 "
		  "a_count=1 b_count=2\n"
		  "allocation_changes.sites site=/a/model.py:3:f change=grew a_bytes=5 b_bytes=5 "
		  "change_bytes=0 a_count=1 b_count=1 a_peak_bytes=1048576 b_peak_bytes=3145728 "
		  "peak_change_bytes=2097152\n"
		  "allocation_changes.sites site=/a/model.py:4:g change=new a_bytes=0 b_bytes=0 "
		  "change_bytes=0 a_count=0 b_count=0 a_peak_bytes=0 b_peak_bytes=0 "
		  "peak_change_bytes=0\n",
		  false,
		  "\n● MEMORY +2.00 MiB at the peak\n"
		  "\n live at the end, by site A B change\n"
		  " - moved 5 B 5 B 0 B\n"
		  " blocks: 1 → 2\n"
		  "\n at the peak alone, by site A B change\n"
		  " /a/model.py:3:f grew 1.00 MiB 3.00 MiB +2.00 MiB\n" },
		{ tsi_section_memory_changes, "", true, "" },
	};

	check(cases, TSI_COUNT_OF(cases));
}

TEST(what_is_not_the_same_again_is_told)
{
	static const struct section_case cases[] = {
		{ tsi_section_reproducibility,
		  "reproducibility.is_reproducible no\nreproducibility.identical_trajectory no\n"
		  "reproducibility.first_divergence_step 7\n"
		  "reproducibility.a_final_loss 1.25\nreproducibility.b_final_loss 1.5\n"
		  "reproducibility.a_best_loss 1.25\nreproducibility.b_best_loss 1.5\n"
		  "reproducibility.config name=lr a=0.001 b=0.0003\n"
		  "reproducibility.config name=seed a=7\n"
		  "reproducibility.environment name=torch a=2.8.0 b=2.9.0\n"
		  "reproducibility.notes note='configuration differs'\n",
		  false,
		  "\n● REPRODUCIBILITY not the same run again\n"
		  " config lr: 0.001 → 0.0003\n"
		  " config seed: 7 → -\n"
		  " environment torch: 2.8.0 → 2.9.0\n"
		  " loss final 1.25 → 1.5 · best 1.25 → 1.5 · first differs in step 7\n"
		  " configuration differs\n" },
		{ tsi_section_reproducibility,
		  "reproducibility.is_reproducible yes\nreproducibility.identical_trajectory yes\n",
		  false, "" },
		{ tsi_section_reproducibility, "", true, "" },
	};

	check(cases, TSI_COUNT_OF(cases));
}

TEST(findings_are_told_by_what_became_of_them)
{
	static const struct section_case cases[] = {
		{ tsi_section_finding_changes,
		  "finding_changes.new_count 1\nfinding_changes.worse_count 1\n"
		  "finding_changes.gone_count 1\n"
		  "finding_changes.list change=new id=GPU.IDLE b_severity=high title='it idles'\n"
		  "finding_changes.list change=worse id=HOST.GC a_severity=low b_severity=med "
		  "title='it collects'\n"
		  "finding_changes.list change=same id=DIST.STRAGGLER a_severity=med "
		  "b_severity=med title='rank 3 is slow'\n"
		  "finding_changes.list change=gone id=MEMORY.GROWTH a_severity=med "
		  "title='it grows'\n"
		  "finding_changes.lost id=GPU.OOM reason='no snapshot'\n",
		  false,
		  "\n● FINDINGS 1 new, 1 worse, 1 gone\n"
		  " NEW [high] it idles (GPU.IDLE)\n"
		  " WORSE [low → med] it collects (HOST.GC)\n"
		  " GONE [med] it grows (MEMORY.GROWTH)\n"
		  " rules that B lacks the data for, and A had it:\n"
		  " GPU.OOM\n" },
		{ tsi_section_finding_changes,
		  "finding_changes.list change=same id=DIST.STRAGGLER a_severity=med "
		  "b_severity=med title='rank 3 is slow'\n",
		  false, "" },
		{ tsi_section_finding_changes,
		  "finding_changes.list change=same id=DIST.STRAGGLER a_severity=med "
		  "b_severity=med title='rank 3 is slow'\n",
		  true,
		  "\n● FINDINGS the same in A and B\n"
		  " SAME [med] rank 3 is slow (DIST.STRAGGLER)\n" },
	};

	check(cases, TSI_COUNT_OF(cases));
}

/* What nothing tests is told where the step changed, and by 5 % or more. */
TEST(untested_figures_are_told_with_a_change)
{
	static const char facts[] =
		"fact_changes.list fact=efficiency.mfu unit=ratio a=0.4 b=0.3 difference=-0.1 "
		"ratio=-0.25 verdict=not_tested\n"
		"fact_changes.list fact=overlap.overlap_ratio unit=ratio a=0.5 b=0.48 "
		"difference=-0.02 ratio=-0.04 verdict=not_tested\n";
	char changed[1024];

	snprintf(changed, sizeof(changed), "step_change.verdict changed\n%s", facts);
	const struct section_case cases[] = {
		{ tsi_section_fact_changes, facts, false, "" },
		{ tsi_section_fact_changes, changed, false,
		  "\n● OTHER METRICS that changed\n\n metric A B change\n efficiency.mfu untested "
		  "40.0 % 30.0 % -10.0 points\n" },
	};

	check(cases, TSI_COUNT_OF(cases));
}

TEST(other_figures_are_told_once)
{
	static const char facts[] =
		/* In the head, in MEMORY, or no matter. */
		"fact_changes.list fact=step_time.mean_ns unit=ns a=5 b=9 difference=4 ratio=0.8 "
		"verdict=changed\n"
		"fact_changes.list fact=memory.fragmentation unit=ratio a=0.1 b=0.2 difference=0.1 "
		"ratio=1.0 verdict=exact\n"
		"fact_changes.list fact=efficiency.mfu unit=ratio a=0.4 b=0.3 difference=-0.1 "
		"ratio=-0.25 verdict=no_change\n"
		"fact_changes.list fact=collectives.bytes unit=bytes per_step=yes a=1024 b=2048 "
		"difference=1024 ratio=1.0 verdict=exact\n"
		"fact_changes.list fact=efficiency.device unit=text a=A100 b=H100 verdict=exact\n"
		"fact_changes.list fact=integrity.verdict unit=text a=sound b=cut verdict=exact\n";
	const struct section_case cases[] = {
		{ tsi_section_fact_changes, facts, false,
		  "\n● OTHER METRICS that changed\n\n metric A B change\n collectives.bytes per "
		  "step 1.00 KiB 2.00 KiB +1.00 KiB\n integrity.verdict sound cut -\n" },
		{ tsi_section_fact_changes, "", false, "" },
	};
	char *text;

	check(cases, TSI_COUNT_OF(cases));
	text = print(tsi_section_fact_changes, facts, true);
	assert_non_null(strstr(text, " efficiency.mfu noise"));
	free(text);
}

/* Figures as absurd as a saved report may hold them. */
TEST(absurd_figures_are_printed)
{
	static void (*const sections[])(const struct panel *panel) = {
		tsi_put_changes,
		tsi_section_explanation,
		tsi_section_rank_changes,
		tsi_section_kernel_changes,
		tsi_section_memory_changes,
		tsi_section_reproducibility,
		tsi_section_finding_changes,
		tsi_section_fact_changes,
	};
	static const char facts[] =
		"step_change.verdict changed\nstep_change.change_ns -9223372036854775808\n"
		"step_change.change_ratio nan\nstep_change.p_value nan\n"
		"explanation.change_ns 9223372036854775807\n"
		"explanation.lines line=\x1b[2J change_ns=-9223372036854775808\n"
		"explanation.lines\n"
		"explanation.parts line=\x1b[2J part=\x1b[2J a_part=\x1b change_ns=5\n"
		"rank_changes.changed_count 9\nrank_changes.list verdict=changed\n"
		"rank_changes.list rank=-9223372036854775808 verdict=changed\n"
		"kernel_changes.new_count 9\nkernel_changes.list change=new name=\x1b[2J\n"
		"kernel_changes.list\n"
		"allocation_changes.sites site=\x1b]0;t change=new change_bytes=5 "
		"b_count=9223372036854775807\nallocation_changes.sites\n"
		"reproducibility.config name=\x1b[2J a=\xff "
		"b=\xe2\x80\xae\nreproducibility.config\n"
		"reproducibility.notes note=\x1b[2J\n"
		"finding_changes.new_count 1\nfinding_changes.list change=new id=\x1b "
		"title=\x1b[2J\n"
		"finding_changes.list\nfinding_changes.lost id=\x1b\n"
		"fact_changes.list fact=\x1b[2J verdict=changed a=\x1b b=\xff unit=\x1b\n"
		"fact_changes.list fact=memory.peak_alloc_bytes verdict=changed ratio=inf\n"
		"fact_changes.list\n";

	for (size_t i = 0; i < 2 * TSI_COUNT_OF(sections); i++) {
		char *text = print(sections[i / 2], facts, i % 2 == 1);

		if (i % 2 == 1)
			assert_true(*text != '\0');
		assert_null(strchr(text, '\x1b'));
		assert_null(strstr(text, "\xe2\x80\xae"));
		assert_null(strchr(text, '\xff'));
		free(text);
	}
}

/* ---- whole reports ---- */

static const char *const pairs[][TSCOPE_SIDE_COUNT] = {
	{ "run_before", "run_after" },      { "run_before", "run_before" },
	{ "run_healthy", "run_sick" },      { "leak_a.pickle", "leak_b.pickle" },
	{ "two_steps.json", "flops.json" },
};

/* The report of a pair; the caller frees it. */
static char *report(size_t pair, const struct tscope_report_options *options)
{
	const char *const gates[] = { "step_time.mean_ns>+5%", "new-finding" };
	struct tscope_gate_result results[TSI_COUNT_OF(gates)];
	char paths[TSCOPE_SIDE_COUNT][1024], *text = NULL;
	const char *sides[] = { paths[0], paths[1] };
	struct tscope_diff *diff;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++)
		snprintf(paths[i], sizeof(paths[i]), "%s/%s", testdata, pairs[pair][i]);
	assert_int_equal(tscope_diff_open(&diff, sides, NULL, NULL), TSCOPE_OK);
	for (size_t i = 0; i < TSI_COUNT_OF(gates); i++)
		results[i] = tscope_gate_evaluate_change(gates[i], diff, false);
	const struct tscope_diff_report of_diff = { diff, results, TSI_COUNT_OF(gates) };
	assert_int_equal(tscope_report_write_diff(out, &of_diff, options, NULL), TSCOPE_OK);
	assert_int_equal(fclose(out), 0);
	tscope_diff_free(diff);
	return text;
}

/* Behind the two sides: paths are shown as they are, however long. */
static const char *behind_sides(const char *text)
{
	const char *b = strstr(text, "\nB  ");

	assert_non_null(b);
	return b + 1;
}

TEST(reports_keep_what_is_asked_of_them)
{
	static const unsigned widths[] = { 40, 60, 80, 120 };

	for (size_t pair = 0; pair < TSI_COUNT_OF(pairs); pair++) {
		char *plain = report(pair, &(struct tscope_report_options){ .all = true });
		char *colored =
			report(pair, &(struct tscope_report_options){ .all = true, .color = true });
		char *ascii =
			report(pair, &(struct tscope_report_options){ .all = true, .ascii = true });

		check_colored(colored, plain);
		check_ascii(ascii);
		assert_null(strstr(ascii, "?")); /* a character without a substitute */
		free(plain);
		free(colored);
		free(ascii);
		for (size_t i = 0; i < TSI_COUNT_OF(widths); i++) {
			struct tscope_report_options options = { .width = widths[i],
								 .all = i % 2 == 0 };
			char *text = report(pair, &options);

			check_width(behind_sides(text), widths[i]);
			free(text);
		}
	}
}

/* Ids of facts that the document composes are empty without memory: it is refused as a whole. */
TEST(a_report_without_memory_is_refused)
{
	static const enum tscope_report_extent extents[] = { TSCOPE_REPORT_SCREEN,
							     TSCOPE_REPORT_FULL };
	char before[512], after[512];
	const char *const paths[] = { before, after };
	struct tscope_diff *diff;

	snprintf(before, sizeof(before), "%s/run_before", testdata);
	snprintf(after, sizeof(after), "%s/run_after", testdata);
	assert_int_equal(tscope_diff_open(&diff, paths, NULL, NULL), TSCOPE_OK);
	for (size_t i = 0; i < TSI_COUNT_OF(extents); i++) {
		struct tscope_report_options options = { .extent = extents[i] };
		const struct tscope_diff_report of_diff = { .diff = diff };
		struct alloc_sweep sweep = { .at_least = 2 };

		while (alloc_sweep_next(&sweep)) {
			char *text = NULL;
			size_t length = 0;
			FILE *out = open_memstream(&text, &length);

			assert_non_null(out);
			alloc_sweep_try(&sweep, tscope_report_write_diff(out, &of_diff, &options,
									 &sweep.err));
			assert_int_equal(fclose(out), 0);
			assert_int_equal(sweep.has_failed, length == 0);
			free(text);
		}
	}
	tscope_diff_free(diff);
}
