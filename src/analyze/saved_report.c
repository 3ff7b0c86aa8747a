/* SPDX-License-Identifier: MIT */
/*
 * Reads the document that a JSON report is: what there is of it, and of whom. The facts themselves
 * are saved_facts.c.
 */
#include "analyze/saved_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analyzer_table.h"
#include "analyze/lookup.h"
#include "analyze/saved_facts.h"
#include "base/array.h"
#include "base/error.h"
#include "base/print_text.h"
#include "decode/plain/plain_reader.h"

/* ---- what document it is ------------------------------------------------------------------- */

/* The document while it is read. */
struct document {
	const struct plain *plain;
	struct plain_value root;
	struct plain_value body; /* the only element of runs */
	struct saved_facts_reader facts;
	struct tscope_error *err;
};

static struct plain_value find(const struct document *doc, struct plain_value dict, const char *key)
{
	return tsi_plain_find(doc->plain, dict, tsi_str_of(key));
}

/* "" if it is not a text. */
static struct str find_text(const struct document *doc, struct plain_value dict, const char *key)
{
	return tsi_plain_text(doc->plain, find(doc, dict, key));
}

static enum tscope_status check_head(const struct document *doc, struct saved_report *report)
{
	struct plain_value tool = find(doc, doc->root, "tool");
	struct str name = find_text(doc, tool, "name");
	int64_t schema = 0;

	if (!tsi_str_is(name, "tscope") ||
	    !tsi_plain_to_int64(doc->plain, find(doc, doc->root, "schema_version"), &schema) ||
	    schema < 1)
		return tsi_fail(doc->err, TSCOPE_E_FORMAT,
				"no report of tscope: expected an object with schema_version and "
				"tool (tscope report --format json)");
	tsi_print_text(report->saved_by, sizeof(report->saved_by), "%s %s", name.data,
		       find_text(doc, tool, "version").data);
	if (schema > SAVED_SCHEMA_VERSION)
		return tsi_fail(doc->err, TSCOPE_E_UNSUPPORTED,
				"saved by %.40s with schema_version %lld: this tscope reads "
				"version %d; save it again with this one",
				report->saved_by, (long long)schema, SAVED_SCHEMA_VERSION);
	return TSCOPE_OK;
}

/*
 * A comparison takes one report, not several side by side. Schema 1 had a single one at the root,
 * which it is without a list, and its inputs there in any case.
 */
static enum tscope_status find_body(struct document *doc)
{
	static const char *const lists[] = { "runs", "traces", "files" };

	doc->body = doc->root;
	for (size_t i = 0; i < TSI_COUNT_OF(lists); i++) {
		struct plain_value list = find(doc, doc->root, lists[i]);
		if (!tsi_plain_is_list(list))
			continue;
		if (tsi_plain_length(doc->plain, list) != 1)
			return tsi_fail(doc->err, TSCOPE_E_UNSUPPORTED,
					"holds %zu reports (%s), and one can be read: save "
					"each by itself",
					tsi_plain_length(doc->plain, list), lists[i]);
		doc->body = tsi_plain_item(doc->plain, list, 0);
	}
	return TSCOPE_OK;
}

static enum tscope_status check_facts(const struct document *doc, struct plain_value facts)
{
	if (tsi_plain_kind(facts) != PLAIN_DICT)
		return tsi_fail(doc->err, TSCOPE_E_FORMAT,
				"a report without facts: expected what tscope report --format json "
				"writes");
	for (size_t i = 0; i < tscope_analyzer_count(); i++)
		if (tsi_analyzer(i)->levels & LEVEL_DIFF &&
		    tsi_plain_kind(find(doc, facts, tscope_analyzer(i)->id)) != PLAIN_ABSENT)
			return tsi_fail(doc->err, TSCOPE_E_UNSUPPORTED,
					"is a comparison itself; save a report "
					"(tscope report --format json)");
	return TSCOPE_OK;
}

/* ---- ranks --------------------------------------------------------------------------------- */

static int64_t rank_number(const struct document *doc, struct plain_value dict)
{
	int64_t number;

	if (!tsi_plain_to_int64(doc->plain, find(doc, dict, "rank"), &number) || number < 0)
		return -1;
	return number;
}

static struct plain_value find_inputs(const struct document *doc)
{
	struct plain_value inputs = find(doc, doc->body, "inputs");

	return tsi_plain_is_list(inputs) ? inputs : find(doc, doc->root, "inputs");
}

/* The rank of a report without a list of them: that of its trace, or of its file. */
static int64_t only_number(const struct document *doc)
{
	int64_t number = rank_number(doc, find(doc, doc->body, "trace"));
	struct plain_value inputs = find_inputs(doc);

	if (number < 0 && tsi_plain_length(doc->plain, inputs) == 1)
		number = rank_number(doc, tsi_plain_item(doc->plain, inputs, 0));
	return number;
}

static int by_number(const void *left, const void *right)
{
	const struct saved_rank *a = left, *b = right;

	return (a->number > b->number) - (a->number < b->number);
}

/* In ascending order, each once. */
static enum tscope_status order_ranks(const struct document *doc, struct saved_report *report)
{
	qsort(report->ranks, report->rank_count, sizeof(*report->ranks), by_number);
	for (size_t i = 1; i < report->rank_count; i++) {
		int64_t number = report->ranks[i].number;
		if (number != report->ranks[i - 1].number)
			continue;
		if (number < 0)
			return tsi_fail(doc->err, TSCOPE_E_DAMAGED,
					"ranks without a number: expected at most one");
		return tsi_fail(doc->err, TSCOPE_E_DAMAGED, "rank %lld is there twice",
				(long long)number);
	}
	return TSCOPE_OK;
}

static enum tscope_status read_ranks(struct document *doc, struct saved_report *report)
{
	struct plain_value ranks = find(doc, doc->body, "ranks");
	size_t count = tsi_plain_is_list(ranks) ? tsi_plain_length(doc->plain, ranks) : 0;

	if (tsi_array_new(&report->ranks, count ? count : 1, sizeof(*report->ranks), doc->err) !=
	    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (; report->rank_count < count; report->rank_count++) {
		struct saved_rank *rank = &report->ranks[report->rank_count];
		struct plain_value saved = tsi_plain_item(doc->plain, ranks, report->rank_count);
		enum tscope_status status = tsi_saved_facts_read(
			&rank->analysis, &doc->facts, find(doc, saved, "facts"), doc->err);
		if (status != TSCOPE_OK)
			return status;
		rank->number = rank_number(doc, saved);
	}
	uint64_t left_out;
	if (tsi_plain_to_uint64(doc->plain, find(doc, doc->body, "ranks_left_out"), &left_out))
		report->left_out_ranks = (size_t)left_out;
	/* Whoever shortened a report may have taken ranks out of it without saying so. */
	int64_t read_count = tsi_lookup_int(report->analysis, "distributed.world_size");
	size_t held = count ? count : 1;
	if (read_count > (int64_t)held && report->left_out_ranks < (size_t)read_count - held)
		report->left_out_ranks = (size_t)read_count - held;
	tsi_print_text(report->alone, sizeof(report->alone), "%s",
		       find_text(doc, doc->body, "alone").data);
	(void)tsi_plain_to_bool(find(doc, doc->body, "is_named"), &report->is_named);
	if (count == 0)
		report->ranks[report->rank_count++] =
			(struct saved_rank){ only_number(doc), report->analysis };
	return order_ranks(doc, report);
}

/* ---- what was wrong with its inputs -------------------------------------------------------- */

/* Damage reported for the files of a report. */
struct damages {
	const struct document *doc;
	struct saved_report *report;
	size_t count;
};

/* Names the first and counts the rest. `what` is not a text: nothing was wrong. */
static void add_damage(struct damages *damages, struct plain_value file, struct plain_value what)
{
	const struct plain *plain = damages->doc->plain;

	if (tsi_plain_kind(what) != PLAIN_TEXT || damages->count++ > 0)
		return;
	tsi_print_text(damages->report->damage, SAVED_DAMAGE_CHARS, "%.200s: %.240s",
		       find_text(damages->doc, file, "path").data,
		       tsi_plain_text(plain, what).data);
}

static void add_dropped(struct damages *damages, struct plain_value number)
{
	uint64_t count, *sum = &damages->report->dropped_count;

	if (tsi_plain_to_uint64(damages->doc->plain, number, &count))
		*sum = count > UINT64_MAX - *sum ? UINT64_MAX : *sum + count;
}

/* A trace alone says of what kinds its dropped events are, and not how many together. */
static void add_input(struct damages *damages, struct plain_value input)
{
	const struct document *doc = damages->doc;
	struct plain_value count = find(doc, input, "dropped_count");
	struct plain_value kinds = find(doc, input, "dropped");

	add_damage(damages, input, find(doc, find(doc, input, "damage"), "message"));
	add_dropped(damages, count);
	if (tsi_plain_kind(count) != PLAIN_ABSENT || tsi_plain_kind(kinds) != PLAIN_DICT)
		return;
	for (size_t i = 0; i < tsi_plain_length(doc->plain, kinds); i++)
		add_dropped(damages, tsi_plain_value(doc->plain, kinds, i));
}

/*
 * In a run each input has its damage, in a trace the report has; "problems" were not read at all.
 */
static void read_damage(const struct document *doc, struct saved_report *report)
{
	struct damages damages = { .doc = doc, .report = report };
	struct plain_value inputs = find_inputs(doc);
	struct plain_value problems = find(doc, doc->body, "problems");
	struct plain_value trace_value = find(doc, find(doc, doc->body, "damage"), "message");

	for (size_t i = 0; i < tsi_plain_length(doc->plain, inputs); i++)
		add_input(&damages, tsi_plain_item(doc->plain, inputs, i));
	add_damage(&damages, tsi_plain_item(doc->plain, inputs, 0), trace_value);
	for (size_t i = 0; i < tsi_plain_length(doc->plain, problems); i++) {
		struct plain_value problem = tsi_plain_item(doc->plain, problems, i);
		add_damage(&damages, problem, find(doc, problem, "reason"));
	}
	if (damages.count > 1)
		tsi_append_text(report->damage, SAVED_DAMAGE_CHARS, ", and %zu more",
				damages.count - 1);
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* Rankings with the facts that count their rows. */
static bool has_cut_table(const struct tscope_analysis *analysis)
{
	static const struct {
		const char *table, *count;
	} rankings[] = {
		{ "kernels.by_name", "kernels.name_count" },
		{ "operators.by_name", "operators.name_count" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(rankings); i++) {
		struct table_view view = tsi_lookup_table(analysis, rankings[i].table);
		int64_t count = tsi_lookup_int(analysis, rankings[i].count);
		if (count > 0 && (uint64_t)count > view.row_count)
			return true;
	}
	return false;
}

static enum tscope_status read_document(struct document *doc, struct saved_report *report)
{
	enum tscope_status status = check_head(doc, report);

	if (status == TSCOPE_OK)
		status = find_body(doc);
	if (status != TSCOPE_OK)
		return status;
	struct plain_value facts = find(doc, doc->body, "facts");
	status = check_facts(doc, facts);
	if (status == TSCOPE_OK)
		status = tsi_saved_facts_read(&report->analysis, &doc->facts, facts, doc->err);
	if (status == TSCOPE_OK)
		status = read_ranks(doc, report);
	if (status != TSCOPE_OK)
		return status;
	read_damage(doc, report);
	report->is_cut = has_cut_table(report->analysis);
	for (size_t i = 0; i < report->rank_count && !report->is_cut; i++)
		report->is_cut = has_cut_table(report->ranks[i].analysis);
	return TSCOPE_OK;
}

enum tscope_status tsi_saved_report_read(struct saved_report *ret, struct input *in,
					 struct tscope_error *err)
{
	struct document doc = { .err = err };
	struct plain *plain = NULL;
	const char *form;

	*ret = (struct saved_report){ 0 };
	enum tscope_status status = tsi_plain_read(&plain, &form, in, NULL, err);
	if (status != TSCOPE_OK)
		return status;
	if (tsi_plain_trailing_bytes(plain) > 0) {
		status = tsi_fail(err, TSCOPE_E_DAMAGED,
				  "%llu bytes follow the report: expected one report in a file",
				  (unsigned long long)tsi_plain_trailing_bytes(plain));
	} else {
		doc.plain = doc.facts.plain = plain;
		doc.root = tsi_plain_root(plain);
		doc.facts.texts = find(&doc, doc.root, "texts");
		status = read_document(&doc, ret);
	}
	tsi_plain_free(plain);
	return status;
}

void tsi_saved_report_deinit(struct saved_report *report)
{
	for (size_t i = 0; i < report->rank_count; i++)
		if (report->ranks[i].analysis != report->analysis)
			tscope_analysis_free(report->ranks[i].analysis);
	free(report->ranks);
	tscope_analysis_free(report->analysis);
	*report = (struct saved_report){ 0 };
}
