/* SPDX-License-Identifier: MIT */
/*
 * Differences of two runs before any time is compared: device, world size, model, batch size,
 * precision, FLOPs per step. Where the work of a step differs, so do step times, and no change of
 * theirs says that the code got slower.
 */
#include "analyze/facts.h"
#include "analyze/lookup.h"
#include "diff/comparison.h"
#include "diff/setting_match.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FACTS(X)                                                                                   \
	X(COUNT, "count", COUNT, "of the list below")                                              \
	X(HAS_SAME_WORK, "has_same_work", FLAG,                                                    \
	  "nothing says that a step of B does other work than one of A")                           \
	X(HAS_SAME_DEVICE, "has_same_device", FLAG, "nothing says that the devices differ")        \
	X(THROUGHPUT_CHANGE, "throughput_change_ratio", NUMBER,                                    \
	  "where the work differs: by how much B does more of it per second than A")               \
	X(THROUGHPUT_BASIS, "throughput_basis", TEXT,                                              \
	  "work that this counts: samples where only the batch size differs, else FLOPs")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define LIST_COLUMNS(X)                                                                            \
	X(LIST_WHAT, "what", TEXT,                                                                 \
	  "device, world size, model, batch size, sequence length, precision or FLOPs per step")   \
	X(LIST_A, "a", TEXT, "in A")                                                               \
	X(LIST_B, "b", TEXT, "and in B")

TSI_FACT_LIST(enum list_column, list_columns, LIST_COLUMNS);

#define TABLES(X) X(LIST, "list", list_columns, "what both sides say, differently")

TSI_TABLE_LIST(enum table, tables, TABLES);

/* FLOPs that differ by less come from other counts of the same work. */
static const double min_flops_ratio = 0.02;

enum { MAX_NAMES = 8 };

/* Keys of run.json, by the names that trainers use. */
static const struct said {
	const char *what, *table, *names[MAX_NAMES];
	bool is_work;
} said[] = {
	{ "model",
	  "provenance.config",
	  { "model", "model_name", "model_name_or_path", "arch", "architecture" },
	  true },
	{ "batch size",
	  "provenance.config",
	  { "batch_size", "per_device_train_batch_size", "train_batch_size", "micro_batch_size",
	    "global_batch_size", "bs" },
	  true },
	{ "sequence length",
	  "provenance.config",
	  { "seq_len", "sequence_length", "max_seq_len", "max_length", "seq_length", "block_size" },
	  true },
};

enum { WORK_SAMPLES, WORK_FLOPS, WORK_COUNT };

struct setup {
	const struct diff_side *sides;
	struct fact_sheet *out;
	int64_t count;
	bool has_other_work, has_other_device, has_other_samples;
	double work_ratios[WORK_COUNT]; /* of a step, B to A; 0: not known */
};

/* Adds a row if both sides say something, and not the same. */
static bool put_if_other(struct setup *setup, const char *what, const char *a, const char *b)
{
	if (!a || !b || strcmp(a, b) == 0)
		return false;
	struct tscope_value *cells = tsi_table_row(setup->out, LIST);
	cells[LIST_WHAT] = tsi_text(what);
	cells[LIST_A] = tsi_text(a);
	cells[LIST_B] = tsi_text(b);
	setup->count++;
	return true;
}

static const char *text_fact(const struct tscope_analysis *analysis, const char *id)
{
	struct tscope_value value = tsi_lookup(analysis, id);

	return value.kind == TSCOPE_VALUE_TEXT && *value.text != '\0' ? value.text : NULL;
}

/* By the peaks that are known, else by what the trace says. */
static const char *device_of(const struct diff_side *side, struct arena *scratch)
{
	const struct tscope_analysis *rank = side->ranks[0].analysis;
	const char *device = text_fact(side->analysis, "efficiency.device");

	if (!device)
		device = text_fact(rank, "efficiency.device");
	for (size_t i = 0; !device && i < 2; i++) {
		struct settings environment = tsi_settings_open(i ? rank : side->analysis,
								"provenance.environment", scratch);
		device = tsi_setting_find(&environment, "trace.gpu");
	}
	return device;
}

/* Ranks that the job had, else those that were read. */
static int64_t world_size_of(const struct diff_side *side)
{
	int64_t declared = tsi_lookup_int(side->analysis, "distributed.declared_world_size");

	return declared > 0 ? declared : (int64_t)side->rank_count;
}

static void compare_worlds(struct setup *setup)
{
	int64_t a = world_size_of(&setup->sides[TSCOPE_SIDE_A]);
	int64_t b = world_size_of(&setup->sides[TSCOPE_SIDE_B]);

	if (a != b)
		put_if_other(setup, "world size", tsi_sheet_print(setup->out, "%" PRId64, a),
			     tsi_sheet_print(setup->out, "%" PRId64, b));
}

/* A batch size that is a number says how the samples of a step compare. */
static void note_said(struct setup *setup, const struct said *of, const char *a, const char *b)
{
	double a_count = strtod(a, NULL), b_count = strtod(b, NULL);

	setup->has_other_work |= of->is_work;
	if (strcmp(of->what, "batch size") != 0)
		setup->has_other_samples = true;
	else if (a_count > 0 && b_count > 0)
		setup->work_ratios[WORK_SAMPLES] = b_count / a_count;
}

static void compare_said(struct setup *setup, const struct said *of)
{
	struct arena *scratch = tsi_sheet_scratch(setup->out);
	struct settings a =
		tsi_settings_open(setup->sides[TSCOPE_SIDE_A].analysis, of->table, scratch);
	struct settings b =
		tsi_settings_open(setup->sides[TSCOPE_SIDE_B].analysis, of->table, scratch);

	for (size_t i = 0; i < MAX_NAMES && of->names[i]; i++) {
		const char *in_a = tsi_setting_find(&a, of->names[i]);
		const char *in_b = tsi_setting_find(&b, of->names[i]);

		if (put_if_other(setup, of->what, in_a, in_b)) {
			note_said(setup, of, in_a, in_b);
			return;
		}
	}
}

/* "4.31 TFLOP" */
static const char *name_flops(struct fact_sheet *out, double flops)
{
	static const char *const units[] = { "FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP" };
	size_t unit = 0;

	for (; unit + 1 < TSI_COUNT_OF(units) && flops >= 1000; unit++)
		flops /= 1000;
	return tsi_sheet_print(out, "%.3g %s", flops, units[unit]);
}

/* The first of a mix: "bf16" of "bf16 97.1 %, fp32 2.9 %". */
static const char *precision_of(const struct diff_side *side, struct fact_sheet *out)
{
	const char *mix = text_fact(side->analysis, "efficiency.precision");

	return mix ? tsi_sheet_print(out, "%.*s", (int)strcspn(mix, " ,"), mix) : NULL;
}

/* B's part of A's figure; 0: one of them has none. */
static double fact_ratio(const struct setup *setup, const char *id, double *a, double *b)
{
	if (!tsi_diff_number(tsi_lookup(setup->sides[TSCOPE_SIDE_A].analysis, id), a) ||
	    !tsi_diff_number(tsi_lookup(setup->sides[TSCOPE_SIDE_B].analysis, id), b) ||
	    !(*a > 0 && *b > 0))
		return 0;
	return *b / *a;
}

static void compare_flops(struct setup *setup)
{
	double a, b;
	double ratio = fact_ratio(setup, "efficiency.flops_per_step", &a, &b);

	if (!(ratio > 0))
		return;
	setup->work_ratios[WORK_FLOPS] = ratio;
	if (fabs(b - a) >= min_flops_ratio * a)
		setup->has_other_work |=
			put_if_other(setup, "FLOPs per step", name_flops(setup->out, a),
				     name_flops(setup->out, b));
}

/*
 * Samples are what a user wants more of; where another model or sequence length makes them other
 * ones, only FLOPs compare.
 */
static void put_throughput(const struct setup *setup)
{
	double a, b;
	double time_ratio = fact_ratio(setup, "step_time.mean_ns", &a, &b);
	bool has_samples = !setup->has_other_samples && setup->work_ratios[WORK_SAMPLES] > 0;
	double work_ratio = setup->work_ratios[has_samples ? WORK_SAMPLES : WORK_FLOPS];

	if (!setup->has_other_work || !(time_ratio > 0) || !(work_ratio > 0))
		return;
	tsi_fact_real(setup->out, THROUGHPUT_CHANGE, work_ratio / time_ratio - 1);
	tsi_fact_text(setup->out, THROUGHPUT_BASIS, has_samples ? "samples" : "FLOPs");
}

static void diff_setup_changes(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct setup setup = { .sides = scope->comparison->sides, .out = out };
	struct arena *scratch = tsi_sheet_scratch(out);

	setup.has_other_device =
		put_if_other(&setup, "device", device_of(&setup.sides[TSCOPE_SIDE_A], scratch),
			     device_of(&setup.sides[TSCOPE_SIDE_B], scratch));
	compare_worlds(&setup);
	for (size_t i = 0; i < TSI_COUNT_OF(said); i++)
		compare_said(&setup, &said[i]);
	put_if_other(&setup, "precision", precision_of(&setup.sides[TSCOPE_SIDE_A], out),
		     precision_of(&setup.sides[TSCOPE_SIDE_B], out));
	compare_flops(&setup);
	tsi_fact_int(out, COUNT, setup.count);
	tsi_fact_flag(out, HAS_SAME_WORK, !setup.has_other_work);
	tsi_fact_flag(out, HAS_SAME_DEVICE, !setup.has_other_device);
	put_throughput(&setup);
}

const struct analyzer tsi_analyzer_setup_changes = {
	.def = {
		.id = "setup_changes",
		.summary = "hardware, size and work of both runs: are they alike?",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a comparison (tscope diff)",
	},
	.levels = LEVEL_DIFF,
	.fill = diff_setup_changes,
};
