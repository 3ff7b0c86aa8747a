/* SPDX-License-Identifier: MIT */
/*
 * The lines of a run's head that say what was found, rank by rank, and what was not read:
 *
 *	found    rank 0: 2 PyTorch traces · step records · metrics.csv
 *	         ranks 1-7, each: PyTorch trace
 *	ignored  12 files: not a kind of file that tscope reads (9); settings of the job (3)
 */
#include "report/section.h"

#include "base/bisect.h"
#include "base/rank_text.h"
#include "base/sort.h"

#include <string.h>

/* Names of files by format, in the order of the line. The last row is for all others. */
static const struct {
	const char *format, *one, *many;
} words[] = {
	{ "kineto", "PyTorch trace", "PyTorch traces" },
	{ "composer", "Composer trace", "Composer traces" },
	{ "viztracer", "VizTracer trace", "VizTracer traces" },
	{ "chrome", "Chrome trace", "Chrome traces" },
	{ "steps_jsonl", "step records", "step-record files" },
	{ "tensorboard", "TensorBoard event file", "TensorBoard event files" },
	{ "csv", "metrics CSV", "metrics CSVs" },
	{ "json", "JSON log of metrics", "JSON logs of metrics" },
	{ "mlflow", "MLflow store", "MLflow stores" },
	{ "snapshot", "allocator snapshot", "allocator snapshots" },
	{ "memory_timeline", "memory timeline", "memory timelines" },
	{ "memory_stats", "memory-statistics file", "memory-statistics files" },
	{ "memory_tracker", "memory-tracker log", "memory-tracker logs" },
	{ "host_memory", "memray capture", "memray captures" },
	{ "saved_report", "saved report", "saved reports" },
	{ "flight_recorder", "flight-recorder dump", "flight-recorder dumps" },
	{ NULL, "file", "files" },
};

enum {
	WORD_COUNT = TSI_COUNT_OF(words),
	MAX_GROUPS = 6, /* of ranks that have the same; more are counted */
	MAX_REASONS = 3,
	NO_RANK_OF_RUN = -2,
};

/* Ranks of which the same was found. */
struct group {
	size_t counts[WORD_COUNT];
	struct rank_text ranks;
	bool is_one; /* of ranks: one is added so far */
};

struct groups {
	struct group items[MAX_GROUPS];
	size_t count;
	size_t further_count; /* ranks beyond these groups */
	size_t no_rank[WORD_COUNT], no_rank_count;
};

static size_t word_of(const struct tscope_run_input *input)
{
	size_t word = 0;

	while (words[word].format && strcmp(words[word].format, input->format) != 0)
		word++;
	return word;
}

/* The ranks of a run are in ascending order. */
static bool is_of_run(const struct tscope_run *run, int64_t rank)
{
	size_t first = 0, end = tscope_run_rank_count(run);

	TSI_BISECT(first, end, tscope_run_rank_number(run, middle) < rank);
	return first < tscope_run_rank_count(run) && tscope_run_rank_number(run, first) == rank;
}

/* The files of a run by rank; those of no rank in it come first. */
struct rank_files {
	const struct tscope_run *run;
	struct sort_pair *inputs; /* value: index */
	size_t count, at;         /* those before it were counted */
};

static uint64_t key_of(int64_t rank)
{
	return tsi_sort_key_of_int64(rank);
}

static struct rank_files sort_files(const struct panel *panel)
{
	const struct tscope_run *run = panel->report->run;
	size_t count = tscope_run_input_count(run);
	struct sort_pair *inputs = tsi_arena_new(&panel->doc->arena, 2 * count, sizeof(*inputs));

	for (size_t i = 0; inputs && i < count; i++) {
		int64_t rank = tscope_run_input(run, i).rank;

		inputs[i] =
			(struct sort_pair){ key_of(is_of_run(run, rank) ? rank : NO_RANK_OF_RUN),
					    i };
	}
	if (inputs)
		tsi_sort_pairs(inputs, inputs + count, count);
	return (struct rank_files){ run, inputs, inputs ? count : 0, 0 };
}

/* Counts the files of the next rank by kind: ranks are asked for in ascending order. */
static size_t count_files(struct rank_files *files, int64_t rank, size_t counts[WORD_COUNT])
{
	size_t first = files->at;

	memset(counts, 0, WORD_COUNT * sizeof(*counts));
	for (; files->at < files->count && files->inputs[files->at].key == key_of(rank);
	     files->at++) {
		struct tscope_run_input input =
			tscope_run_input(files->run, files->inputs[files->at].value);

		counts[word_of(&input)]++;
	}
	return files->at - first;
}

static struct group *find_group(struct groups *groups, const size_t counts[WORD_COUNT])
{
	struct group *group = groups->items;

	while (group < groups->items + groups->count &&
	       memcmp(group->counts, counts, sizeof(group->counts)) != 0)
		group++;
	if (group < groups->items + groups->count)
		return group;
	if (groups->count == MAX_GROUPS)
		return NULL;
	groups->count++;
	memcpy(group->counts, counts, sizeof(group->counts));
	group->ranks = (struct rank_text){ .text = "" };
	group->is_one = false;
	return group;
}

static void add_rank(struct groups *groups, struct rank_files *files, int64_t rank)
{
	size_t counts[WORD_COUNT];

	if (count_files(files, rank, counts) == 0)
		return;
	struct group *group = find_group(groups, counts);
	if (!group) {
		groups->further_count++;
		return;
	}
	group->is_one = group->ranks.text[0] == '\0' && group->ranks.count == 0;
	tsi_rank_text_add(&group->ranks, rank);
}

static void put_files(const struct panel *panel, const char *label, const char *subject,
		      const size_t counts[WORD_COUNT])
{
	struct doc_line *line = tsi_doc_items(panel->doc, DOC_FOUND, DOC_INFO, label);

	if (line)
		line->aside = subject;
	for (size_t i = 0; i < WORD_COUNT; i++) {
		if (counts[i] == 1)
			tsi_doc_item(panel->doc, line, "%s", words[i].one);
		else if (counts[i] > 1)
			tsi_doc_item(panel->doc, line, "%zu %s", counts[i], words[i].many);
	}
}

static void put_groups(const struct panel *panel, struct groups *groups)
{
	const struct tscope_run *run = panel->report->run;
	const char *label = "found";

	for (size_t i = 0; i < groups->count; i++) {
		struct group *group = &groups->items[i];
		const char *subject = NULL;

		tsi_rank_text_end(&group->ranks);
		if (tscope_run_rank_number(run, 0) >= 0)
			subject = tsi_panel_print(
				panel,
				group->is_one ? "rank %s:" : "ranks %s, each:", group->ranks.text);
		put_files(panel, label, subject, group->counts);
		label = "";
	}
	if (groups->further_count > 0)
		tsi_doc_line(panel->doc, DOC_FOUND, DOC_INFO, label,
			     "… and other files of %zu more ranks", groups->further_count);
	if (groups->no_rank_count > 0)
		put_files(panel, label, "no rank:", groups->no_rank);
}

/* ---- what was ignored ---- */

struct reasons {
	const char *texts[MAX_REASONS];
	size_t counts[MAX_REASONS];
	size_t count, further_count, total;
};

static void add_reason(struct reasons *reasons, const char *text)
{
	size_t at = 0;

	reasons->total++;
	while (at < reasons->count && strcmp(reasons->texts[at], text) != 0)
		at++;
	if (at == MAX_REASONS) {
		reasons->further_count++;
		return;
	}
	if (at == reasons->count) {
		reasons->texts[at] = text;
		reasons->counts[at] = 0;
		reasons->count++;
	}
	reasons->counts[at]++;
}

static void put_reasons(const struct panel *panel, const struct reasons *reasons)
{
	const char *text = tsi_panel_print(panel, "%zu file%s: ", reasons->total,
					   reasons->total == 1 ? "" : "s");

	for (size_t i = 0; i < reasons->count; i++) {
		tsi_panel_append(panel, &text, "%s%.240s", i > 0 ? "; " : "", reasons->texts[i]);
		if (reasons->total > reasons->counts[i])
			tsi_panel_append(panel, &text, " (%zu)", reasons->counts[i]);
	}
	if (reasons->further_count > 0)
		tsi_panel_append(panel, &text, "; for other reasons (%zu)", reasons->further_count);
	tsi_doc_line(panel->doc, DOC_FOUND, DOC_INFO, "ignored", "%s", text);
}

void tsi_put_found(const struct panel *panel)
{
	const struct tscope_run *run = panel->report->run;
	struct groups groups = { .count = 0 };
	struct reasons reasons = { .count = 0 };
	struct rank_files files = sort_files(panel);

	groups.no_rank_count = count_files(&files, NO_RANK_OF_RUN, groups.no_rank);
	for (size_t i = 0; i < tscope_run_rank_count(run); i++)
		add_rank(&groups, &files, tscope_run_rank_number(run, i));
	put_groups(panel, &groups);
	for (size_t i = 0; i < tscope_run_other_count(run); i++) {
		struct tscope_run_other other = tscope_run_other(run, i);

		if (!other.is_problem)
			add_reason(&reasons, other.reason);
	}
	if (reasons.total > 0)
		put_reasons(panel, &reasons);
}

void tsi_put_found_kinds(const struct panel *panel)
{
	const struct tscope_run *run = panel->report->run;
	size_t counts[WORD_COUNT] = { 0 }, ignored = 0, captures = 0;

	for (size_t i = 0; i < tscope_run_input_count(run); i++) {
		struct tscope_run_input input = tscope_run_input(run, i);
		counts[word_of(&input)]++;
	}
	for (size_t i = 0; i < tscope_run_other_count(run); i++) {
		struct tscope_run_other other = tscope_run_other(run, i);
		captures += other.is_capture;
		ignored += !other.is_problem && !other.is_capture;
	}
	put_files(panel, "found", NULL, counts);
	if (tscope_run_input(run, 0).kind == TSCOPE_INPUT_REPORT && panel->doc->last)
		tsi_doc_item(panel->doc, &panel->doc->last->line,
			     "its figures only, no files and single steps");
	if (captures > 0 && panel->doc->last)
		tsi_doc_item(panel->doc, &panel->doc->last->line, "%zu graph capture%s (not a run)",
			     captures, captures == 1 ? "" : "s");
	if (ignored > 0 && panel->doc->last)
		tsi_doc_item(panel->doc, &panel->doc->last->line, "%zu file%s ignored", ignored,
			     ignored == 1 ? "" : "s");
}
