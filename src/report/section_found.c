/* SPDX-License-Identifier: MIT */
/*
 * The lines of a run's head that say what was found, rank by rank, and what was not read:
 *
 *	found    rank 0     2 PyTorch traces · step records · metrics.csv
 *	         ranks 1-7, each  PyTorch trace
 *	ignored  12 files: not a kind of file that tscope reads (9); settings of the job (3)
 */
#include "report/section.h"

#include "base/attributes.h"
#include "base/rank_text.h"

#include <inttypes.h>
#include <string.h>

/* What files are called, in the order of the line. The last row is for all others. */
static const struct {
	const char *format, *one, *many;
} words[] = {
	{ "kineto", "PyTorch trace", "PyTorch traces" },
	{ "composer", "Composer trace", "Composer traces" },
	{ "viztracer", "VizTracer trace", "VizTracer traces" },
	{ "chrome", "Chrome trace", "Chrome traces" },
	{ "steps_jsonl", "step records", "files of step records" },
	{ "tensorboard", "TensorBoard event file", "TensorBoard event files" },
	{ "csv", "CSV of metrics", "CSVs of metrics" },
	{ "mlflow", "MLflow store", "MLflow stores" },
	{ "snapshot", "allocator snapshot", "allocator snapshots" },
	{ "memory_timeline", "memory timeline", "memory timelines" },
	{ "memory_stats", "file of memory statistics", "files of memory statistics" },
	{ "memory_tracker", "memory tracker's log", "memory tracker's logs" },
	{ "host_memory", "memray capture", "memray captures" },
	{ NULL, "file", "files" },
};

enum {
	WORD_COUNT = TSI_COUNT_OF(words),
	MAX_GROUPS = 6, /* of ranks that have the same; more are counted */
	MAX_REASONS = 3,
	LABEL_COLUMNS = 7, /* "ignored" */
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
};

static size_t word_of(const struct tscope_run_input *input)
{
	size_t word = 0;

	while (words[word].format && strcmp(words[word].format, input->format) != 0)
		word++;
	return word;
}

static bool is_of_run(const struct tscope_run *run, int64_t rank)
{
	for (size_t i = 0; i < tscope_run_rank_count(run); i++)
		if (tscope_run_rank_number(run, i) == rank)
			return true;
	return false;
}

/* What is of this rank; NO_RANK_OF_RUN: of none that the run has. */
static size_t count_files(const struct tscope_run *run, int64_t rank, size_t counts[WORD_COUNT])
{
	size_t count = 0;

	memset(counts, 0, WORD_COUNT * sizeof(*counts));
	for (size_t i = 0; i < tscope_run_input_count(run); i++) {
		struct tscope_run_input input = tscope_run_input(run, i);
		bool fits =
			rank == NO_RANK_OF_RUN ? !is_of_run(run, input.rank) : input.rank == rank;

		counts[word_of(&input)] += fits;
		count += fits;
	}
	return count;
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

static void add_rank(struct groups *groups, const struct tscope_run *run, int64_t rank)
{
	size_t counts[WORD_COUNT];

	if (count_files(run, rank, counts) == 0)
		return;
	struct group *group = find_group(groups, counts);
	if (!group) {
		groups->further_count++;
		return;
	}
	group->is_one = group->ranks.text[0] == '\0' && !group->ranks.has_run;
	tsi_rank_text_add(&group->ranks, rank);
}

/* "  found    rank 0  " at the start of a line; label is empty in all but the first. */
static void put_label(struct text_writer *w, const char *label, const char *subject)
{
	tsi_text_style(w, TEXT_CYAN);
	tsi_text_left(w, label, LABEL_COLUMNS);
	tsi_text_style(w, TEXT_PLAIN);
	tsi_text_put(w, "  ");
	tsi_text_put(w, subject);
	tsi_text_put(w, *subject ? "  " : "");
}

static void put_files(struct text_writer *w, const char *label, const char *subject,
		      const size_t counts[WORD_COUNT])
{
	unsigned indent = LABEL_COLUMNS + 2 + tsi_text_columns(subject) + (*subject ? 2 : 0);
	struct text_flow flow = { .w = w, .separator = " · ", .indent = indent, .column = indent };

	put_label(w, label, subject);
	for (size_t i = 0; i < WORD_COUNT; i++) {
		char text[64];

		if (counts[i] == 1)
			snprintf(text, sizeof(text), "%s", words[i].one);
		else
			snprintf(text, sizeof(text), "%zu %s", counts[i], words[i].many);
		if (counts[i] > 0)
			tsi_text_flow(&flow, text);
	}
	tsi_text_flow_end(&flow);
}

static void put_groups(struct text_writer *w, const struct tscope_run *run, struct groups *groups)
{
	size_t counts[WORD_COUNT];
	const char *label = "found";

	for (size_t i = 0; i < groups->count; i++) {
		struct group *group = &groups->items[i];
		char subject[1100] = "";

		tsi_rank_text_end(&group->ranks);
		if (tscope_run_rank_number(run, 0) >= 0)
			snprintf(subject, sizeof(subject),
				 group->is_one ? "rank %s" : "ranks %s, each", group->ranks.text);
		put_files(w, label, subject, group->counts);
		label = "";
	}
	if (groups->further_count > 0) {
		put_label(w, label, "");
		tsi_text_printf(w, "… and other files of %zu more ranks\n", groups->further_count);
	}
	if (count_files(run, NO_RANK_OF_RUN, counts) > 0)
		put_files(w, label, "no rank", counts);
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
	char text[1024];
	size_t length = (size_t)snprintf(text, sizeof(text), "%zu file%s: ", reasons->total,
					 reasons->total == 1 ? "" : "s");

	for (size_t i = 0; i < reasons->count; i++) {
		char count[32] = "";

		if (reasons->total > reasons->counts[i])
			snprintf(count, sizeof(count), " (%zu)", reasons->counts[i]);
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%.240s%s",
					   i > 0 ? "; " : "", reasons->texts[i], count);
	}
	if (reasons->further_count > 0)
		snprintf(text + length, sizeof(text) - length, "; for other reasons (%zu)",
			 reasons->further_count);
	put_label(panel->w, "ignored", "");
	tsi_text_paragraph(panel->w, text, LABEL_COLUMNS + 2);
}

void tsi_put_found(const struct panel *panel)
{
	const struct tscope_run *run = panel->report->run;
	struct groups groups = { .count = 0 };
	struct reasons reasons = { .count = 0 };

	for (size_t i = 0; i < tscope_run_rank_count(run); i++)
		add_rank(&groups, run, tscope_run_rank_number(run, i));
	put_groups(panel->w, run, &groups);
	for (size_t i = 0; i < tscope_run_other_count(run); i++) {
		struct tscope_run_other other = tscope_run_other(run, i);

		if (!other.is_problem)
			add_reason(&reasons, other.reason);
	}
	if (reasons.total > 0)
		put_reasons(panel, &reasons);
}
