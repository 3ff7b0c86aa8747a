/* SPDX-License-Identifier: MIT */
/*
 * Sections about what a job logged itself: metrics beside its steps, and its own
 * MFU. The loss stands in the section about convergence.
 */
#include "report/section.h"

#include <stdio.h>
#include <string.h>

/* A line with a name of the input in it: what is longer is cut. */
enum { ITEM_MAX = 300, OTHERS_NAMED = 8 };

/* ---- metrics ---- */

/* Is it a loss or a gradient's norm by its own name, which another section covers? */
static bool is_shown_elsewhere(const struct table_view *metrics, size_t row)
{
	const char *role = tsi_table_text(metrics, row, "role");

	return (strcmp(role, "loss") == 0 || strcmp(role, "grad_norm") == 0) &&
	       strcmp(role, tsi_table_text(metrics, row, "name")) == 0;
}

static bool is_worth_telling(const struct table_view *metrics)
{
	for (size_t row = 0; row < metrics->row_count; row++)
		if (!is_shown_elsewhere(metrics, row))
			return true;
	return false;
}

/* Appends what is not there yet. */
static void add_source(const struct panel *panel, const char **text, const char *source)
{
	if (!strstr(*text, source))
		tsi_panel_append(panel, text, "%s%s", **text ? ", " : "", source);
}

/*
 * "csv, tensorboard": in the order of the rows, then those of which other files gave each value
 * once more, as loggers side by side do.
 */
static const char *list_sources(const struct panel *panel, const struct table_view *metrics)
{
	const struct tscope_run *run = panel->report ? panel->report->run : NULL;
	const char *text = "";

	for (size_t row = 0; row < metrics->row_count; row++)
		add_source(panel, &text, tsi_table_text(metrics, row, "source"));
	for (size_t i = 0; run && i < tscope_run_input_count(run); i++) {
		struct tscope_run_input input = tscope_run_input(run, i);

		if (input.kind == TSCOPE_INPUT_METRICS &&
		    input.rank == tscope_run_rank_number(run, 0))
			add_source(panel, &text, input.format);
	}
	return text;
}

/* Roles of scalars, and how to show them; own_name: the name that needs no mention. */
static const struct role {
	const char *words, *name, *own_name, *value, *behind;
} roles[] = {
	{ "loss", "scalars.loss_name", "loss", NULL, "" },
	{ "gradient's norm", "scalars.grad_norm_name", "grad_norm", NULL, "" },
	{ "learning rate", "scalars.learning_rate_name", "", "scalars.learning_rate",
	  " at the end" },
	{ "throughput", "scalars.throughput_name", "", "scalars.throughput", "" },
	{ "MFU", "scalars.mfu_name", "", "scalars.mfu_ratio", " as logged" },
};

/* Four digits: a learning rate has no usual size. */
static const char *name_value(const struct panel *panel, const char *id)
{
	struct tscope_value value = tsi_panel_value(panel, id);

	if (value.kind == TSCOPE_VALUE_REAL && strcmp(id, "scalars.mfu_ratio") != 0)
		return tsi_panel_significant(panel, value.real, 4);
	return tsi_panel_number(panel, id);
}

/* "throughput 123.4 (throughput/samples_per_sec)", "loss is train_loss" */
static void put_role(const struct panel *panel, struct doc_line *line, const struct role *role)
{
	struct tscope_value name = tsi_panel_value(panel, role->name);
	char text[ITEM_MAX];

	if (name.kind != TSCOPE_VALUE_TEXT || strcmp(name.text, role->own_name) == 0)
		return;
	if (role->value)
		snprintf(text, sizeof(text), "%s %s%s (%s)", role->words,
			 name_value(panel, role->value), role->behind, name.text);
	else
		snprintf(text, sizeof(text), "%s is %s", role->words, name.text);
	tsi_doc_item(panel->doc, line, "%s", text);
}

/* "3 others: epoch, val_loss, val_acc" */
static void put_others(const struct panel *panel, const struct table_view *metrics)
{
	size_t count = 0, named = 0;
	const char *text;

	for (size_t row = 0; row < metrics->row_count; row++)
		count += tsi_table_text(metrics, row, "role")[0] == '\0';
	if (count == 0)
		return;
	text = tsi_panel_print(panel, "%zu other%s:", count, count == 1 ? "" : "s");
	for (size_t row = 0; row < metrics->row_count && named < OTHERS_NAMED; row++)
		if (tsi_table_text(metrics, row, "role")[0] == '\0')
			tsi_panel_append(panel, &text, "%s %.200s", named++ > 0 ? "," : "",
					 tsi_table_text(metrics, row, "name"));
	tsi_doc_note(panel->doc, "%s%s", text, count > named ? ", …" : "");
}

void tsi_section_scalars(const struct panel *panel)
{
	struct table_view metrics = tsi_panel_rows(panel, "scalars.by_name");

	if (!is_worth_telling(&metrics))
		return;
	tsi_panel_title(panel, DOC_INFO, "scalars", "METRICS", "%s · %s values · %s",
			tsi_panel_number(panel, "scalars.name_count"),
			tsi_panel_number(panel, "scalars.value_count"),
			list_sources(panel, &metrics));
	struct doc_line *line = tsi_doc_items(panel->doc, DOC_FIGURES, DOC_PLAIN, NULL);
	for (size_t i = 0; i < TSI_COUNT_OF(roles); i++)
		put_role(panel, line, &roles[i]);
	put_others(panel, &metrics);
}

/* ---- efficiency as logged ---- */

/* "FLOPs a step        1.20 PFLOP      1.19 PFLOP" */
static void put_pair(const struct panel *panel, struct doc_table *table, const char *words,
		     const char *const ids[2])
{
	struct doc_row *row;

	if (!tsi_panel_has(panel, ids[0]) && !tsi_panel_has(panel, ids[1]))
		return;
	row = tsi_doc_row(panel->doc, table);
	if (!row)
		return;
	row->cells[0].text = words;
	for (size_t i = 0; i < 2; i++) {
		row->cells[i + 1].value = tsi_panel_value(panel, ids[i]);
		row->cells[i + 1].text = tsi_panel_number(panel, ids[i]);
	}
}

static void put_pairs(const struct panel *panel)
{
	static const struct doc_column columns[] = {
		{ "", TSCOPE_UNIT_TEXT, .width = 20 },
		{ "by the job", TSCOPE_UNIT_NUMBER, .width = 18 },
		{ "by this report", TSCOPE_UNIT_NUMBER, .width = 18 },
	};
	static const struct {
		const char *words, *ids[2];
	} pairs[] = {
		{ "FLOPs per step",
		  { "logged_efficiency.logged_flops_per_step",
		    "logged_efficiency.flops_per_step" } },
		{ "steps a second",
		  { "logged_efficiency.logged_steps_per_second",
		    "logged_efficiency.steps_per_second" } },
		{ "peak of a device",
		  { "logged_efficiency.logged_peak_flops_per_second",
		    "logged_efficiency.peak_flops_per_second" } },
	};
	struct doc_table *table = tsi_doc_table(panel->doc, columns, TSI_COUNT_OF(columns));

	if (!table)
		return;
	table->is_tight = true;
	table->keeps_empty = true;
	table->keeps_all = true;
	table->has_plain_head = true;
	for (size_t i = 0; i < TSI_COUNT_OF(pairs); i++)
		put_pair(panel, table, pairs[i].words, pairs[i].ids);
}

void tsi_section_logged_efficiency(const struct panel *panel)
{
	struct tscope_value explanation = tsi_panel_value(panel, "logged_efficiency.explanation");

	/* Without a figure to compare with, the logged ones stand with the other metrics. */
	if (!tsi_panel_has(panel, "logged_efficiency.mfu_factor") &&
	    !tsi_panel_has(panel, "logged_efficiency.flops_factor"))
		return;
	tsi_panel_title(panel, DOC_INFO, "logged_efficiency", "LOGGED EFFICIENCY",
			"MFU %s by the job · %s by this report",
			tsi_panel_number(panel, "logged_efficiency.logged_mfu_ratio"),
			tsi_panel_number(panel, "logged_efficiency.mfu_ratio"));
	put_pairs(panel);
	if (explanation.kind != TSCOPE_VALUE_TEXT)
		return;
	tsi_doc_note(panel->doc, "%s", explanation.text);
}
