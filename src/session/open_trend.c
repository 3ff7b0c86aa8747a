/* SPDX-License-Identifier: MIT */
/*
 * The path of a history: runs one after the other, most of them lines of facts that
 * --format metrics wrote. Of each run its facts stay as numbers; whole are kept the newest and the
 * last good ones before it.
 */
#include <tscope/diff.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "analyze/analyzer_table.h"
#include "analyze/facts.h"
#include "analyze/lookup.h"
#include "base/array.h"
#include "base/error.h"
#include "decode/json.h"
#include "decode/plain/plain_reader.h"
#include "decode/records/text_rows.h"
#include "diff/trend.h"
#include "session/open_diff.h"
#include "session/open_trace.h"

enum { DEFAULT_TREND_RUNS = 20, TAG_CHARS = 400, LINE_DEPTH = 8 };

/* A run of the history that is kept whole. */
struct kept_run {
	struct side side;
	bool is_good;
};

struct history {
	struct tscope_diff *diff;
	const struct tscope_diff_options *options;
	struct kept_run *kept; /* the newest is the last; all before it are good */
	size_t kept_count, kept_capacity, keep_limit;
	size_t run_capacity; /* of diff->runs */
	struct history_series *series;
	struct tscope_analysis *nothing; /* what a run without rules is diagnosed by */
	/* Lines that are no figures. */
	const char *bad_path;
	uint64_t bad_line, bad_count;
	struct tscope_error *err;
};

/* ---- runs --------------------------------------------------------------------------------- */

static enum tscope_status add_value(struct history *history, struct history_series *series,
				    double value)
{
	if (tsi_array_reserve(&series->values, &series->value_capacity, series->count + 1,
			      sizeof(*series->values), history->err) != TSCOPE_OK ||
	    tsi_array_reserve(&series->runs, &series->run_capacity, series->count + 1,
			      sizeof(*series->runs), history->err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	series->values[series->count] = value;
	series->runs[series->count++] = history->diff->run_count;
	return TSCOPE_OK;
}

/* Facts of a rank's steps and devices too: the whole takes them over. */
static enum tscope_status add_values(struct history *history,
				     const struct tscope_analysis *analysis)
{
	struct history_series *series = history->series;

	for (size_t i = 0; i < tscope_analyzer_count(); i++) {
		size_t count = tscope_analyzer(i)->fact_count;
		double value;

		for (size_t k = 0; k < count; k++, series++)
			if (!(tsi_analyzer(i)->levels & LEVEL_DIFF) &&
			    tsi_diff_number(tsi_per_step(analysis, i, k), &value) &&
			    !tscope_analysis_fact_doubt(analysis, i, k, TSCOPE_WHOLE_TRACE) &&
			    add_value(history, series, value) != TSCOPE_OK)
				return TSCOPE_E_NOMEM;
	}
	return TSCOPE_OK;
}

/* Makes room for one more that is the newest: of those before it only good ones stay. */
static void drop_runs(struct history *history)
{
	struct kept_run *kept = history->kept;
	size_t count = history->kept_count;

	if (count > 0 && !kept[count - 1].is_good)
		tsi_close_side(&kept[--history->kept_count].side);
	if (history->kept_count <= history->keep_limit)
		return;
	tsi_close_side(&kept[0].side);
	memmove(kept, kept + 1, --history->kept_count * sizeof(*kept));
}

/* The run that was kept last is complete. */
static enum tscope_status end_run(struct history *history)
{
	struct tscope_diff *diff = history->diff;
	const struct side *side = &history->kept[history->kept_count - 1].side;
	enum tscope_status status = add_values(history, tsi_side_analysis(side));

	if (status == TSCOPE_OK)
		status = tsi_array_reserve(&diff->runs, &history->run_capacity, diff->run_count + 1,
					   sizeof(*diff->runs), history->err);
	if (status == TSCOPE_OK)
		diff->runs[diff->run_count++] =
			tsi_history_run(side->path, tsi_side_analysis(side), side->diagnosis);
	return status;
}

/* NULL: no memory. */
static struct kept_run *begin_run(struct history *history, struct str path)
{
	struct kept_run *run;

	drop_runs(history);
	if (tsi_array_reserve(&history->kept, &history->kept_capacity, history->kept_count + 1,
			      sizeof(*history->kept), history->err) != TSCOPE_OK)
		return NULL;
	run = &history->kept[history->kept_count++];
	*run = (struct kept_run){
		.side.path = tsi_arena_copy(&history->diff->arena, path),
		.is_good = true,
	};
	return run;
}

static bool is_good(const struct side *side)
{
	if (side->run)
		return !tscope_run_incomplete(side->run);
	return *side->saved.damage == '\0' && side->saved.dropped_count == 0 &&
	       !side->saved_missing_ranks;
}

static enum tscope_status add_side(struct history *history, const char *path)
{
	struct kept_run *run = begin_run(history, tsi_str_of(path));
	enum tscope_status status = TSCOPE_E_NOMEM;

	if (run)
		status = tsi_open_side(&run->side, history->options, &history->diff->arena,
				       history->err);
	if (status != TSCOPE_OK)
		return status;
	run->is_good = is_good(&run->side);
	return end_run(history);
}

/* ---- lines -------------------------------------------------------------------------------- */

/* One line: a fact of a run. */
struct figure_line {
	char path[3 * TAG_CHARS + 8]; /* run, time and commit: they distinguish runs */
	char fact[128];
	struct str value, doubt;
	bool is_bad; /* of a run that is no measure for others */
};

/* The text of a string, cut; returns its length. */
static size_t copy_text(char *to, size_t size, struct str text)
{
	uint64_t ignored = 0;

	text = tsi_json_unquote(text);
	if (text.length >= size)
		text.length = size - 1;
	size_t length = tsi_json_unescape(text, to, &ignored);
	to[length] = '\0';
	tsi_str_drop_partial(to);
	return strlen(to);
}

/* False: it is none. */
static bool parse_line(struct figure_line *line, struct str text)
{
	static const char *const keys[] = { "run", "time", "commit" };
	size_t length = 0;
	double number;

	if (tsi_json_check(text, LINE_DEPTH, NULL) != TSCOPE_OK)
		return false;
	line->value = tsi_json_object_get(text, TSI_STR("value"));
	line->doubt = tsi_json_object_get(text, TSI_STR("doubt"));
	line->is_bad = tsi_str_is(tsi_json_object_get(text, TSI_STR("good")), "false");
	line->path[0] = '\0';
	for (size_t i = 0; i < TSI_COUNT_OF(keys); i++) {
		struct str tag = tsi_json_object_get(text, tsi_str_of(keys[i]));

		if (!tsi_json_is_string(tag))
			continue;
		if (length > 0)
			line->path[length++] = ' ';
		length += copy_text(line->path + length, TAG_CHARS, tag);
	}
	return copy_text(line->fact, sizeof(line->fact),
			 tsi_json_object_get(text, TSI_STR("fact"))) > 0 &&
	       !tsi_json_is_string(line->value) && tsi_json_to_double(line->value, &number);
}

/* Facts that this version does not know are passed over. */
static enum tscope_status put_figure(struct history *history, const struct figure_line *line,
				     size_t analyzer, size_t fact)
{
	struct side *side = &history->kept[history->kept_count - 1].side;
	struct fact_sheet *sheet;
	enum tscope_unit unit = tscope_analyzer(analyzer)->facts[fact].unit;
	bool is_counted = unit == TSCOPE_UNIT_COUNT || unit == TSCOPE_UNIT_NS ||
			  unit == TSCOPE_UNIT_BYTES || unit == TSCOPE_UNIT_ANY;
	int64_t whole;
	double number;

	if (tsi_analysis_sheet(side->facts, analyzer, &sheet, history->err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (is_counted && tsi_str_to_int64(line->value, &whole))
		tsi_fact_int(sheet, fact, whole);
	else if (tsi_json_to_double(line->value, &number))
		tsi_fact_real(sheet, fact, number);
	if (line->doubt.length > 0) {
		char doubt[TAG_CHARS];
		copy_text(doubt, sizeof(doubt), line->doubt);
		tsi_fact_doubt(sheet, fact, tsi_sheet_copy(sheet, tsi_str_of(doubt)));
	}
	return TSCOPE_OK;
}

static void copy_fact(struct fact_sheet *sheet, const struct tscope_analysis *whole,
		      size_t analyzer, size_t fact)
{
	struct tscope_value value = tscope_analysis_fact(whole, analyzer, fact, TSCOPE_WHOLE_TRACE);
	const char *doubt = tscope_analysis_fact_doubt(whole, analyzer, fact, TSCOPE_WHOLE_TRACE);

	if (value.kind == TSCOPE_VALUE_INT)
		tsi_fact_int(sheet, fact, value.integer);
	else if (value.kind == TSCOPE_VALUE_REAL)
		tsi_fact_real(sheet, fact, value.real);
	if (doubt)
		tsi_fact_doubt(sheet, fact, tsi_sheet_copy(sheet, tsi_str_of(doubt)));
}

/* Gives a side an analysis of its own, without facts yet. */
static enum tscope_status begin_facts(struct history *history, struct side *side)
{
	side->ranks = tsi_arena_new(&history->diff->arena, 1, sizeof(*side->ranks));
	if (!side->ranks)
		return tsi_fail_nomem(history->err);
	if (tsi_analysis_new(&side->facts, history->err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	side->ranks[0] = (struct diff_rank){ -1, side->facts };
	side->rank_count = 1;
	return TSCOPE_OK;
}

static enum tscope_status begin_lines(struct history *history, const struct figure_line *line)
{
	struct kept_run *run = begin_run(history, tsi_str_of(line->path));

	return run ? begin_facts(history, &run->side) : TSCOPE_E_NOMEM;
}

/* A fact that comes again is one of the next run. */
static bool is_of_next(const struct history *history, const struct figure_line *line,
		       size_t analyzer, size_t fact)
{
	const struct side *side = &history->kept[history->kept_count - 1].side;

	return !side->path || strcmp(side->path, line->path) != 0 ||
	       tscope_analysis_fact(side->facts, analyzer, fact, TSCOPE_WHOLE_TRACE).kind !=
		       TSCOPE_VALUE_ABSENT;
}

/* *is_open: lines of a run were read, and it is the last one that is kept. */
static enum tscope_status read_figure(struct history *history, struct str text, bool *is_open,
				      bool *is_figure)
{
	enum tscope_status status = TSCOPE_OK;
	struct figure_line line;
	size_t analyzer, fact;

	*is_figure = parse_line(&line, text);
	if (!*is_figure || !tsi_find_fact(line.fact, &analyzer, &fact) ||
	    (tsi_analyzer(analyzer)->levels & LEVEL_DIFF))
		return TSCOPE_OK;
	if (*is_open && is_of_next(history, &line, analyzer, fact)) {
		status = end_run(history);
		*is_open = false;
	}
	if (status == TSCOPE_OK && !*is_open)
		status = begin_lines(history, &line);
	if (status != TSCOPE_OK)
		return status;
	*is_open = true;
	history->kept[history->kept_count - 1].is_good &= !line.is_bad;
	return put_figure(history, &line, analyzer, fact);
}

static enum tscope_status read_lines(struct history *history, const char *path, struct input *in)
{
	struct text_rows rows = { .in = in };
	struct text_row row;
	bool is_open = false, is_figure;
	enum tscope_status status;
	uint64_t number = 0;

	while ((status = tsi_text_rows_next(&rows, &row, history->err)) == TSCOPE_OK) {
		struct str text = tsi_str_trim(row.text);

		number++;
		if (text.length == 0 && !row.is_too_long)
			continue;
		status = read_figure(history, row.is_too_long ? TSI_STR("") : text, &is_open,
				     &is_figure);
		if (status != TSCOPE_OK)
			return status;
		if (is_figure || history->bad_count++ > 0)
			continue;
		history->bad_line = number;
		history->bad_path = path;
	}
	if (status == TSCOPE_END && is_open)
		return end_run(history);
	return status == TSCOPE_END ? TSCOPE_OK : status;
}

static bool is_of_lines(struct str head)
{
	struct figure_line line;

	head = tsi_plain_skip_mark(head);
	while (head.length > 0)
		if (parse_line(&line, tsi_str_trim(tsi_str_take(&head, '\n'))))
			return true;
	return false;
}

static bool are_lines(struct input *in, enum tscope_status *status)
{
	const char *data;
	size_t available;

	*status = tsi_input_peek(in, TASTED_PLAIN_BYTES, &data, &available, NULL);
	if (*status != TSCOPE_OK && *status != TSCOPE_END)
		return false;
	return is_of_lines((struct str){
		data, available < TASTED_PLAIN_BYTES ? available : TASTED_PLAIN_BYTES });
}

/* Lines, or else one run. */
static enum tscope_status add_path(struct history *history, const char *path)
{
	struct input_options input_options = tsi_input_options_of(&history->options->run.trace);
	bool is_stream = strcmp(path, "-") == 0, is_ours;
	struct tscope_error ignored;
	struct input *in;
	enum tscope_status status = tsi_input_open_file(&in, path, &input_options, &ignored);

	/* Folders and what cannot be opened are for those who open runs. */
	if (status != TSCOPE_OK)
		return status == TSCOPE_E_NOMEM ? tsi_fail_nomem(history->err)
						: add_side(history, path);
	is_ours = are_lines(in, &status);
	if (is_ours)
		status = read_lines(history, path, in);
	else if (status == TSCOPE_E_NOMEM)
		status = tsi_fail_nomem(history->err);
	else if (is_stream)
		status = tsi_fail(history->err, TSCOPE_E_FORMAT,
				  "expected lines that --format metrics wrote");
	tsi_input_close(in);
	if (!is_ours && !is_stream && status != TSCOPE_E_NOMEM)
		return add_side(history, path);
	if (status != TSCOPE_OK)
		tsi_fail_within(history->err, "%s", path);
	return status;
}

/* ---- the trend ---------------------------------------------------------------------------- */

/* Chooses the baseline of the newest run; an analysis without facts where there is none. */
static enum tscope_status choose_baseline(struct history *history)
{
	struct tscope_diff *diff = history->diff;
	size_t count = history->kept_count - 1;
	struct side *a = &diff->sides[TSCOPE_SIDE_A];
	char path[TAG_CHARS];

	diff->trend.runs = tsi_arena_new(&diff->arena, count, sizeof(*diff->trend.runs));
	for (size_t i = 0; diff->trend.runs && i < count; i++)
		diff->trend.runs[i] = tsi_side_analysis(&history->kept[i].side);
	diff->trend.count = diff->trend.runs ? count : 0;
	diff->trend.series = history->series;
	diff->sides[TSCOPE_SIDE_B] = history->kept[count].side;
	history->kept_count = count;
	if (count > 0) {
		struct kept_run *median =
			&history->kept[tsi_trend_median_run(diff->trend.runs, count, &diff->arena)];

		*a = median->side;
		snprintf(path, sizeof(path), "median of the %zu good run%s before (%.300s)", count,
			 count == 1 ? "" : "s", a->path ? a->path : "");
		median->side = (struct side){ 0 };
	} else {
		snprintf(path, sizeof(path), "no good run before");
		if (begin_facts(history, a) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	}
	a->path = tsi_arena_copy(&diff->arena, tsi_str_of(path));
	return tsi_arena_status(&diff->arena, history->err);
}

/*
 * A run that is compared with lines keeps no more than they hold: findings and texts would look
 * new.
 */
static enum tscope_status reduce(struct history *history, struct side *side)
{
	const struct tscope_analysis *whole = tsi_side_analysis(side);
	struct fact_sheet *sheet;

	if (begin_facts(history, side) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	tscope_diagnosis_free(side->diagnosis);
	side->diagnosis = NULL;
	for (size_t i = 0; i < tscope_analyzer_count(); i++) {
		if (!tscope_analysis_has(whole, i, TSCOPE_WHOLE_TRACE))
			continue;
		if (tsi_analysis_sheet(side->facts, i, &sheet, history->err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		for (size_t k = 0; k < tscope_analyzer(i)->fact_count; k++)
			copy_fact(sheet, whole, i, k);
	}
	return TSCOPE_OK;
}

/* Lines say no rule's findings. */
static enum tscope_status diagnose_sides(struct history *history)
{
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 0; status == TSCOPE_OK && i < TSCOPE_SIDE_COUNT; i++)
		if (!history->diff->sides[i].diagnosis)
			status = tscope_diagnose(&history->diff->sides[i].diagnosis,
						 history->nothing, &history->options->rules,
						 history->err);
	return status;
}

static void note_bad_lines(struct history *history)
{
	struct side *side = &history->diff->sides[TSCOPE_SIDE_A];
	char more[40] = "";

	if (history->bad_count > 1)
		snprintf(more, sizeof(more), ", and %llu more",
			 (unsigned long long)history->bad_count - 1);
	if (history->bad_count > 0)
		snprintf(side->saved.damage, sizeof(side->saved.damage),
			 "%.200s: line %llu is no figure of a run%s", history->bad_path,
			 (unsigned long long)history->bad_line, more);
}

static enum tscope_status open_history(struct history *history, const char *const *paths,
				       size_t count)
{
	size_t keep = history->options->trend_runs;
	enum tscope_status status;

	history->keep_limit = keep > 0 ? keep : DEFAULT_TREND_RUNS;
	status = tsi_array_new(&history->series, tsi_fact_place_count(), sizeof(*history->series),
			       history->err);
	if (status == TSCOPE_OK)
		status = tsi_analysis_new(&history->nothing, history->err);
	for (size_t i = 0; status == TSCOPE_OK && i < count; i++)
		status = add_path(history, paths[i]);
	if (status == TSCOPE_OK && history->kept_count == 0)
		status = tsi_fail(history->err, TSCOPE_E_EMPTY,
				  "no run: expected lines that --format metrics wrote");
	if (status == TSCOPE_OK)
		status = choose_baseline(history);
	struct side *sides = history->diff->sides;
	if (status == TSCOPE_OK && !sides[TSCOPE_SIDE_A].facts != !sides[TSCOPE_SIDE_B].facts)
		status = reduce(history,
				&sides[sides[TSCOPE_SIDE_A].facts ? TSCOPE_SIDE_B : TSCOPE_SIDE_A]);
	if (status == TSCOPE_OK)
		status = diagnose_sides(history);
	if (status == TSCOPE_OK)
		note_bad_lines(history);
	return status;
}

enum tscope_status tscope_trend_open(struct tscope_diff **ret, const char *const *paths,
				     size_t count, const struct tscope_diff_options *options,
				     struct tscope_error *err)
{
	static const struct tscope_diff_options default_options;
	struct tscope_diff *diff = NULL;
	enum tscope_status status = tsi_array_new(&diff, 1, sizeof(*diff), err);

	if (status != TSCOPE_OK)
		return status;
	status = tsi_array_new(&diff->history, 1, sizeof(*diff->history), err);
	if (status == TSCOPE_OK) {
		*diff->history = (struct history){
			.diff = diff,
			.options = options ? options : &default_options,
			.err = err,
		};
		status = open_history(diff->history, paths, count);
	}
	if (status == TSCOPE_OK)
		status = tsi_compare_sides(diff, diff->history->options, err);
	if (status == TSCOPE_OK)
		*ret = diff;
	else
		tscope_diff_free(diff);
	return status;
}

void tsi_history_free(struct history *history)
{
	if (!history)
		return;
	for (size_t i = 0; i < history->kept_count; i++)
		tsi_close_side(&history->kept[i].side);
	for (size_t i = 0; history->series && i < tsi_fact_place_count(); i++) {
		free(history->series[i].runs);
		free(history->series[i].values);
	}
	tscope_analysis_free(history->nothing);
	free(history->series);
	free(history->kept);
	free(history->diff->runs);
	free(history);
}
