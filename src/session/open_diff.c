/* SPDX-License-Identifier: MIT */
/*
 * The path of a comparison: each side is a run (open_run.c), or a report that was saved
 * (src/analyze/saved_report.c); both come down to facts and findings, and the analyzers in
 * src/diff/ make facts of the two.
 */
#include <tscope/diff.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "base/array.h"
#include "base/error.h"
#include "base/print_text.h"
#include "session/open_diff.h"
#include "session/open_saved.h"

const struct tscope_analysis *tsi_side_analysis(const struct side *side)
{
	if (side->facts)
		return side->facts;
	if (side->is_of_rank)
		return side->ranks[0].analysis;
	return side->run ? tscope_run_analysis(side->run) : side->saved.analysis;
}

/* ---- opening ------------------------------------------------------------------------------ */

static enum tscope_status list_ranks(struct side *side, struct arena *arena,
				     struct tscope_error *err)
{
	side->rank_count = side->run ? tscope_run_rank_count(side->run) : side->saved.rank_count;
	side->ranks = tsi_arena_new(arena, side->rank_count, sizeof(*side->ranks));
	for (size_t i = 0; side->ranks && i < side->rank_count; i++)
		side->ranks[i] =
			side->run ? (struct diff_rank){ tscope_run_rank_number(side->run, i),
							tscope_run_rank_analysis(side->run, i) }
				  : (struct diff_rank){ side->saved.ranks[i].number,
							side->saved.ranks[i].analysis };
	if (!side->run)
		side->saved_missing_ranks = tsi_saved_missing_ranks(&side->saved, arena);
	side->unsaved_ranks = side->run ? tscope_run_unsaved_ranks(side->run)
					: tsi_unsaved_ranks(&side->saved, arena);
	enum tscope_status status = side->run ? tscope_run_status(side->run, err) : TSCOPE_OK;
	if (status != TSCOPE_OK)
		return status;
	return tsi_arena_status(arena, err);
}

static const char *alone_of(const struct side *side)
{
	if (side->run)
		return tscope_run_alone(side->run);
	return *side->saved.alone ? side->saved.alone : NULL;
}

static struct tscope_diff_side show(const struct side *side)
{
	return (struct tscope_diff_side){
		.path = side->path,
		.run = side->run,
		.saved_by = *side->saved.saved_by != '\0' ? side->saved.saved_by : NULL,
		.saved_damage = *side->saved.damage != '\0' ? side->saved.damage : NULL,
		.saved_missing_ranks = side->saved_missing_ranks,
		.alone = alone_of(side),
		.unsaved_ranks = side->unsaved_ranks,
		.saved_dropped_count = side->saved.dropped_count,
		.analysis = tsi_side_analysis(side),
		.diagnosis = side->diagnosis,
		.rank_count = side->rank_count,
		.rank = side->is_of_rank ? side->ranks[0].number : -1,
	};
}

enum tscope_status tsi_open_side(struct side *side, const struct tscope_diff_options *options,
				 struct arena *arena, struct tscope_error *err)
{
	/* A pipe can be read only once, so it is read as a run. */
	bool is_stream = strcmp(side->path, "-") == 0, is_saved = false;
	enum tscope_status status = TSCOPE_OK;

	if (!is_stream)
		status = tsi_saved_open(&side->saved, side->path, &options->run.trace, &is_saved,
					err);
	if (status == TSCOPE_OK && !is_saved)
		status = tscope_run_open(&side->run, &side->path, 1, &options->run, err);
	if (status == TSCOPE_OK)
		status = list_ranks(side, arena, err);
	if (status == TSCOPE_OK)
		status = tscope_diagnose(&side->diagnosis, tsi_side_analysis(side), &options->rules,
					 err);
	if (status == TSCOPE_OK && options->on_side) {
		const struct tscope_diff_side shown = show(side);

		options->on_side(options->on_side_data, &shown);
	}
	return status;
}

/* ---- comparing ---------------------------------------------------------------------------- */

TSI_PRINTF(2, 3) static void add_note(struct tscope_diff *diff, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	tsi_vprint_text(diff->notes[diff->note_count++], NOTE_CHARS, format, arguments);
	va_end(arguments);
}

/* Notes what is missing in a saved report. */
static void note_saved(struct tscope_diff *diff, size_t side)
{
	const struct saved_report *saved = &diff->sides[side].saved;

	if (*saved->damage != '\0')
		add_note(diff, "%s was saved from inputs that were damaged or not read: %s",
			 side == TSCOPE_SIDE_A ? "A" : "B", saved->damage);
	if (saved->is_cut)
		add_note(diff,
			 "%.300s was saved without --full: of kernels, operators and other "
			 "rankings it holds the first rows only",
			 diff->sides[side].path);
	if (saved->left_out_ranks > 0)
		add_note(diff,
			 "%.300s was saved without --ranks all: of %zu of its ranks it holds "
			 "nothing",
			 diff->sides[side].path, saved->left_out_ranks);
}

static void note(struct tscope_diff *diff)
{
	const struct side *a = &diff->sides[TSCOPE_SIDE_A], *b = &diff->sides[TSCOPE_SIDE_B];

	if (a->rank_count != b->rank_count)
		add_note(diff,
			 "A has %zu rank%s and B %zu: figures are compared rank by rank; those of "
			 "the whole run are for different sizes",
			 a->rank_count, a->rank_count == 1 ? "" : "s", b->rank_count);
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++)
		note_saved(diff, i);
}

static enum tscope_status compare_sides(struct tscope_diff *diff, enum analyzer_level level,
					double loss_tolerance, struct tscope_error *err)
{
	struct comparison comparison = {
		.loss_tolerance = loss_tolerance,
		.runs = diff->runs,
		.run_count = diff->run_count,
		.trend = diff->history ? &diff->trend : NULL,
	};
	struct analysis_scope scope = { .comparison = &comparison };

	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++)
		comparison.sides[i] = (struct diff_side){
			.analysis = tsi_side_analysis(&diff->sides[i]),
			.ranks = diff->sides[i].ranks,
			.rank_count = diff->sides[i].rank_count,
			.diagnosis = diff->sides[i].diagnosis,
		};
	return tsi_analyze_level(&diff->analysis, level, &scope, NULL, err);
}

enum tscope_status tsi_compare_sides(struct tscope_diff *diff,
				     const struct tscope_diff_options *options,
				     struct tscope_error *err)
{
	note(diff);
	return compare_sides(diff, LEVEL_DIFF, options->loss_tolerance, err);
}

/* ---- one rank of each side ---------------------------------------------------------------- */

static enum tscope_status take_rank(struct side *side, const char *path,
				    const struct diff_rank *rank, struct arena *arena,
				    const struct tscope_rule_options *rules,
				    struct tscope_error *err)
{
	side->path = path;
	side->ranks = tsi_arena_new(arena, 1, sizeof(*side->ranks));
	if (!side->ranks)
		return tsi_arena_status(arena, err);
	*side->ranks = *rank;
	side->rank_count = 1;
	side->is_of_rank = true;
	return rules ? tscope_diagnose(&side->diagnosis, rank->analysis, rules, err) : TSCOPE_OK;
}

/* The rank of A with this number; else, and in a trend, the whole as rank -1. */
static struct diff_rank counterpart_of(const struct tscope_diff *diff, int64_t number)
{
	const struct side *a = &diff->sides[TSCOPE_SIDE_A];

	for (size_t i = 0; i < a->rank_count && !diff->history; i++)
		if (a->ranks[i].number == number)
			return a->ranks[i];
	return (struct diff_rank){ -1, tsi_side_analysis(a) };
}

enum tscope_status tscope_diff_open_rank(struct tscope_diff **ret, const struct tscope_diff *diff,
					 size_t index, const struct tscope_rule_options *rules,
					 struct tscope_error *err)
{
	const struct diff_rank *b = &diff->sides[TSCOPE_SIDE_B].ranks[index];
	const struct diff_rank a = counterpart_of(diff, b->number);
	struct tscope_diff *one = NULL;
	enum tscope_status status = tsi_array_new(&one, 1, sizeof(*one), err);

	if (status != TSCOPE_OK)
		return status;
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT && status == TSCOPE_OK; i++)
		status = take_rank(&one->sides[i], diff->sides[i].path, i ? b : &a, &one->arena,
				   rules, err);
	if (status == TSCOPE_OK)
		status = compare_sides(one, LEVEL_DIFF_RANK, 0, err);
	if (status == TSCOPE_OK)
		*ret = one;
	else
		tscope_diff_free(one);
	return status;
}

/* ---- more than two ------------------------------------------------------------------------ */

void tsi_close_side(struct side *side)
{
	tscope_diagnosis_free(side->diagnosis);
	tscope_run_free(side->run);
	tsi_saved_report_deinit(&side->saved);
	tscope_analysis_free(side->facts);
}

/* Opens one between the sides, and keeps its figures. */
static enum tscope_status read_between(struct history_run *run, const char *path,
				       const struct tscope_diff_options *options,
				       struct tscope_error *err)
{
	struct side side = { .path = path };
	struct arena arena = { 0 };
	enum tscope_status status = tsi_open_side(&side, options, &arena, err);

	if (status == TSCOPE_OK)
		*run = tsi_history_run(path, tsi_side_analysis(&side), side.diagnosis);
	tsi_close_side(&side);
	tsi_arena_deinit(&arena);
	return status;
}

static enum tscope_status read_history(struct tscope_diff *diff, const char *const *paths,
				       size_t count, const struct tscope_diff_options *options,
				       struct tscope_error *err)
{
	enum tscope_status status;

	diff->runs = tsi_arena_new(&diff->arena, count, sizeof(*diff->runs));
	status = tsi_arena_status(&diff->arena, err);
	for (size_t i = 1; status == TSCOPE_OK && i + 1 < count; i++)
		status = read_between(&diff->runs[i],
				      tsi_arena_copy(&diff->arena, tsi_str_of(paths[i])), options,
				      err);
	if (status != TSCOPE_OK)
		return status;
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++) {
		const struct side *side = &diff->sides[i];
		diff->runs[i ? count - 1 : 0] =
			tsi_history_run(side->path, tsi_side_analysis(side), side->diagnosis);
	}
	diff->run_count = count;
	return tsi_arena_status(&diff->arena, err);
}

/* ---- the whole ---------------------------------------------------------------------------- */

static const struct tscope_diff_options default_options;

enum tscope_status tscope_diff_open(struct tscope_diff **ret,
				    const char *const paths[TSCOPE_SIDE_COUNT],
				    const struct tscope_diff_options *options,
				    struct tscope_error *err)
{
	return tscope_diff_open_many(ret, paths, TSCOPE_SIDE_COUNT, options, err);
}

enum tscope_status tscope_diff_open_many(struct tscope_diff **ret, const char *const *paths,
					 size_t count, const struct tscope_diff_options *options,
					 struct tscope_error *err)
{
	struct tscope_diff *diff = NULL;
	enum tscope_status status = tsi_array_new(&diff, 1, sizeof(*diff), err);

	if (status != TSCOPE_OK)
		return status;
	if (!options)
		options = &default_options;
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++)
		diff->sides[i].path =
			tsi_arena_copy(&diff->arena, tsi_str_of(paths[i ? count - 1 : 0]));
	status = tsi_arena_status(&diff->arena, err);
	for (size_t i = 0; status == TSCOPE_OK && i < TSCOPE_SIDE_COUNT; i++)
		status = tsi_open_side(&diff->sides[i], options, &diff->arena, err);
	if (status == TSCOPE_OK && count > TSCOPE_SIDE_COUNT)
		status = read_history(diff, paths, count, options, err);
	if (status == TSCOPE_OK)
		status = tsi_compare_sides(diff, options, err);
	if (status != TSCOPE_OK) {
		tscope_diff_free(diff);
		return status;
	}
	*ret = diff;
	return TSCOPE_OK;
}

void tscope_diff_free(struct tscope_diff *diff)
{
	if (!diff)
		return;
	tscope_analysis_free(diff->analysis);
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++)
		tsi_close_side(&diff->sides[i]);
	tsi_history_free(diff->history);
	tsi_arena_deinit(&diff->arena);
	free(diff);
}

/* ---- showing ------------------------------------------------------------------------------ */

const struct tscope_analysis *tscope_diff_analysis(const struct tscope_diff *diff)
{
	return diff->analysis;
}

struct tscope_diff_side tscope_diff_side(const struct tscope_diff *diff, enum tscope_side side)
{
	return show(&diff->sides[side]);
}

size_t tscope_diff_note_count(const struct tscope_diff *diff)
{
	return diff->note_count;
}

const char *tscope_diff_note(const struct tscope_diff *diff, size_t index)
{
	return diff->notes[index];
}
