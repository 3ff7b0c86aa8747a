/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for saved reports: any bytes as one, or as two with a byte 0xff between them. Traps
 * where what was read and written again is not read again as the same, or where a report is not
 * the same as itself. Rules and comparisons get facts that no analyzer computed.
 */
#include "fuzz.h"

#include "analyze/analysis.h"
#include "analyze/saved_report.h"
#include "decode/foreign.h"
#include "decode/plain/plain_reader.h"
#include "diff/comparison.h"
#include "report/json_parts.h"

#include <stdlib.h>

enum { MAX_LENGTH = 64 << 10, MAX_RANKS = 8 };

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* A report that was read, as a side of a comparison. */
struct side {
	struct saved_report report;
	struct diff_rank ranks[MAX_RANKS];
	struct tscope_diagnosis *diagnosis;
};

static bool read_report(struct saved_report *report, struct str text)
{
	struct input_options options = { .block_bytes = text.length % 3, .single_thread = true };
	struct tscope_error err = { 0 };
	struct input *in;

	*report = (struct saved_report){ 0 };
	if (tsi_input_open_memory(&in, text.data, text.length, &options, &err) != TSCOPE_OK)
		return false;
	enum tscope_status status = tsi_saved_report_read(report, in, &err);
	tsi_input_close(in);
	require(status == TSCOPE_OK || (err.status == status && err.message[0]));
	return status == TSCOPE_OK;
}

/* ---- reading again ------------------------------------------------------------------------- */

/* NULL: out of memory. */
static char *written(const struct saved_report *report)
{
	struct json_writer w = { 0 };
	char *text = NULL;
	size_t length = 0;

	w.out = open_memstream(&text, &length);
	if (!w.out)
		return NULL;
	tsi_jw_object(&w);
	tsi_json_head(&w);
	tsi_json_facts(&w, report->analysis, TSCOPE_WHOLE_TRACE);
	tsi_jw_key(&w, "ranks");
	tsi_jw_array(&w);
	for (size_t i = 0; i < report->rank_count; i++) {
		int64_t number = report->ranks[i].number;
		tsi_jw_object(&w);
		tsi_json_int_if(&w, "rank", number >= 0, number);
		tsi_json_facts(&w, report->ranks[i].analysis, TSCOPE_WHOLE_TRACE);
		tsi_jw_end_object(&w);
	}
	tsi_jw_end_array(&w);
	tsi_jw_end_object(&w);
	require(fclose(w.out) == 0);
	return text;
}

static void check_again(const struct saved_report *report)
{
	struct saved_report again = { 0 };
	char *first = written(report), *second = NULL;

	if (first) {
		struct str text = { first, strlen(first) };
		require(tsi_is_saved_report(text));
		require(read_report(&again, text));
		require(again.rank_count == report->rank_count && again.is_cut == report->is_cut);
		second = written(&again);
	}
	if (second)
		require(strcmp(first, second) == 0);
	free(first);
	free(second);
	tsi_saved_report_deinit(&again);
}

/* ---- comparing ----------------------------------------------------------------------------- */

static struct diff_side side_of(struct side *side)
{
	size_t count = side->report.rank_count;

	if (count > MAX_RANKS)
		count = MAX_RANKS;
	for (size_t i = 0; i < count; i++)
		side->ranks[i] = (struct diff_rank){ side->report.ranks[i].number,
						     side->report.ranks[i].analysis };
	return (struct diff_side){ side->report.analysis, side->ranks, count, side->diagnosis };
}

static struct tscope_analysis *compare(struct side *a, struct side *b)
{
	struct comparison comparison = { .sides = { side_of(a), side_of(b) } };
	const struct analysis_scope scope = { .comparison = &comparison };
	struct tscope_analysis *changes = NULL;
	enum tscope_status status = tsi_analyze_level(&changes, LEVEL_DIFF, &scope, NULL, NULL);

	require((status == TSCOPE_OK) == (changes != NULL));
	require(status == TSCOPE_OK || status == TSCOPE_E_NOMEM);
	return changes;
}

/* Against itself a report has nothing new, whatever stands in it. */
static void check_self(struct side *side)
{
	static const char *const none[] = {
		"finding_changes.new_count",     "finding_changes.gone_count",
		"finding_changes.worse_count",   "finding_changes.better_count",
		"allocation_changes.site_count", "allocation_changes.only_a_segment_count",
	};
	struct tscope_analysis *changes = compare(side, side);

	for (size_t i = 0; changes && i < TSI_COUNT_OF(none); i++) {
		struct tscope_value value;
		enum tscope_unit unit;
		require(tscope_analysis_find(changes, none[i], &value, &unit));
		require(value.kind == TSCOPE_VALUE_ABSENT || value.integer == 0);
	}
	tscope_analysis_free(changes);
}

static bool open_side(struct side *side, struct str text)
{
	*side = (struct side){ 0 };
	return read_report(&side->report, text) &&
	       tscope_diagnose(&side->diagnosis, side->report.analysis, NULL, NULL) == TSCOPE_OK;
}

static void close_side(struct side *side)
{
	tscope_diagnosis_free(side->diagnosis);
	tsi_saved_report_deinit(&side->report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct str text = { (const char *)data, length }, rest = { 0 };
	const uint8_t *mark = length ? memchr(data, 0xff, length) : NULL;
	struct side a, b;

	if (length > MAX_LENGTH)
		return 0;
	(void)tsi_is_saved_report(text);
	if (mark) {
		text.length = (size_t)(mark - data);
		rest = (struct str){ text.data + text.length + 1, length - text.length - 1 };
	}
	bool is_a = open_side(&a, text), is_b = mark && open_side(&b, rest);
	if (is_a) {
		check_again(&a.report);
		check_self(&a);
	}
	if (is_a && is_b)
		tscope_analysis_free(compare(&a, &b));
	close_side(&a);
	if (mark)
		close_side(&b);
	return 0;
}
