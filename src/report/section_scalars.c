/* SPDX-License-Identifier: MIT */
/*
 * Sections of the text report about what a job logged itself: metrics beside its steps, and its own
 * MFU. The loss stands in the section about convergence.
 */
#include "report/section.h"

#include <stdio.h>
#include <string.h>

#include "analyze/lookup.h"
#include "base/attributes.h"

/* A line with a name of the input in it: what is longer is cut. */
enum { ITEM_MAX = 300, SOURCES_MAX = 300, OTHERS_NAMED = 8 };

/* ---- metrics ---- */

struct metrics {
	struct table_view view;
	size_t name, role, source;
};

static const char *text_at(const struct metrics *metrics, size_t row, size_t column)
{
	struct tscope_value value = tsi_table_cell(&metrics->view, row, column);

	return value.kind == TSCOPE_VALUE_TEXT ? value.text : "";
}

static struct metrics find_metrics(const struct panel *panel)
{
	struct metrics metrics = {
		.view = tsi_lookup_table(panel->analysis, TSCOPE_WHOLE_TRACE, "scalars.by_name"),
	};

	metrics.name = tsi_table_column(&metrics.view, "name");
	metrics.role = tsi_table_column(&metrics.view, "role");
	metrics.source = tsi_table_column(&metrics.view, "source");
	return metrics;
}

/* Is it a loss or a gradient's norm by its own name, which another section tells all of? */
static bool is_told_elsewhere(const struct metrics *metrics, size_t row)
{
	const char *role = text_at(metrics, row, metrics->role);

	return (strcmp(role, "loss") == 0 || strcmp(role, "grad_norm") == 0) &&
	       strcmp(role, text_at(metrics, row, metrics->name)) == 0;
}

static bool is_worth_telling(const struct metrics *metrics)
{
	for (size_t row = 0; row < metrics->view.row_count; row++)
		if (!is_told_elsewhere(metrics, row))
			return true;
	return false;
}

/* Appends what is not there yet. */
static void add_source(char text[SOURCES_MAX], const char *source)
{
	size_t length = strlen(text);

	if (!strstr(text, source) && length + strlen(source) + 3 <= SOURCES_MAX)
		snprintf(text + length, SOURCES_MAX - length, "%s%s", length ? ", " : "", source);
}

/*
 * "csv, tensorboard": in the order of the rows, then those of which other files gave each value
 * once more, as loggers side by side do.
 */
static void list_sources(const struct panel *panel, const struct metrics *metrics,
			 char text[SOURCES_MAX])
{
	const struct tscope_run *run = panel->report ? panel->report->run : NULL;

	text[0] = '\0';
	for (size_t row = 0; row < metrics->view.row_count; row++)
		add_source(text, text_at(metrics, row, metrics->source));
	for (size_t i = 0; run && i < tscope_run_input_count(run); i++) {
		struct tscope_run_input input = tscope_run_input(run, i);

		if (input.kind == TSCOPE_INPUT_METRICS &&
		    input.rank == tscope_run_rank_number(run, 0))
			add_source(text, input.format);
	}
}

/* What each role is, and how to read it; own_name: the name of which nothing is to be said. */
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
static void format_value(const struct panel *panel, const char *id, char text[NUMBER_MAX])
{
	struct tscope_value value = tsi_panel_value(panel, id);

	if (value.kind == TSCOPE_VALUE_REAL && strcmp(id, "scalars.mfu_ratio") != 0)
		tsi_number_significant(text, value.real, 4);
	else
		tsi_panel_number(panel, id, text);
}

/* "throughput 123.4 (throughput/samples_per_sec)", "loss is train_loss" */
static void put_role(const struct panel *panel, struct text_flow *flow, const struct role *role)
{
	struct tscope_value name = tsi_panel_value(panel, role->name);
	char text[ITEM_MAX], number[NUMBER_MAX];

	if (name.kind != TSCOPE_VALUE_TEXT || strcmp(name.text, role->own_name) == 0)
		return;
	if (role->value) {
		format_value(panel, role->value, number);
		snprintf(text, sizeof(text), "%s %s%s (%s)", role->words, number, role->behind,
			 name.text);
	} else {
		snprintf(text, sizeof(text), "%s is %s", role->words, name.text);
	}
	tsi_text_flow(flow, text);
}

/* "3 others: epoch, val_loss, val_acc" */
static void put_others(const struct panel *panel, const struct metrics *metrics)
{
	size_t count = 0, named = 0, length;
	char text[OTHERS_NAMED * ITEM_MAX];

	for (size_t row = 0; row < metrics->view.row_count; row++)
		count += text_at(metrics, row, metrics->role)[0] == '\0';
	if (count == 0)
		return;
	length = (size_t)snprintf(text, sizeof(text), "%zu other%s:", count, count == 1 ? "" : "s");
	for (size_t row = 0; row < metrics->view.row_count && named < OTHERS_NAMED; row++)
		if (text_at(metrics, row, metrics->role)[0] == '\0')
			length += (size_t)snprintf(text + length, sizeof(text) - length,
						   "%s %.200s", named++ > 0 ? "," : "",
						   text_at(metrics, row, metrics->name));
	snprintf(text + length, sizeof(text) - length, "%s", count > named ? ", …" : "");
	tsi_text_put(panel->w, "  ");
	tsi_text_paragraph(panel->w, text, 2);
}

void tsi_section_scalars(const struct panel *panel)
{
	struct text_flow flow = { .w = panel->w, .separator = " · ", .indent = 2 };
	struct metrics metrics = find_metrics(panel);
	char names[NUMBER_MAX], values[NUMBER_MAX], sources[SOURCES_MAX];

	if (!is_worth_telling(&metrics))
		return;
	tsi_panel_number(panel, "scalars.name_count", names);
	tsi_panel_number(panel, "scalars.value_count", values);
	list_sources(panel, &metrics, sources);
	tsi_panel_title(panel, TEXT_CYAN, "scalars", "METRICS", "%s · %s values · %s", names,
			values, sources);
	for (size_t i = 0; i < TSI_COUNT_OF(roles); i++)
		put_role(panel, &flow, &roles[i]);
	tsi_text_flow_end(&flow);
	put_others(panel, &metrics);
}

/* ---- efficiency as logged ---- */

/* "  FLOPs a step        1.20 PFLOP      1.19 PFLOP" */
static void put_pair(const struct panel *panel, const char *words, const char *logged_id,
		     const char *id)
{
	char logged[NUMBER_MAX], ours[NUMBER_MAX];

	if (!tsi_panel_has(panel, logged_id) && !tsi_panel_has(panel, id))
		return;
	tsi_panel_number(panel, logged_id, logged);
	tsi_panel_number(panel, id, ours);
	tsi_text_put(panel->w, "  ");
	tsi_text_left(panel->w, words, 20);
	tsi_text_right(panel->w, logged, 18);
	tsi_text_right(panel->w, ours, 18);
	tsi_text_put(panel->w, "\n");
}

void tsi_section_logged_efficiency(const struct panel *panel)
{
	struct tscope_value explanation = tsi_panel_value(panel, "logged_efficiency.explanation");
	char logged[NUMBER_MAX], ours[NUMBER_MAX];

	/* Without a figure to compare with, the logged ones stand with the other metrics. */
	if (!tsi_panel_has(panel, "logged_efficiency.mfu_factor") &&
	    !tsi_panel_has(panel, "logged_efficiency.flops_factor"))
		return;
	tsi_panel_number(panel, "logged_efficiency.logged_mfu_ratio", logged);
	tsi_panel_number(panel, "logged_efficiency.mfu_ratio", ours);
	tsi_panel_title(panel, TEXT_CYAN, "logged_efficiency", "LOGGED EFFICIENCY",
			"MFU %s by the job · %s by this report", logged, ours);
	tsi_text_put(panel->w, "                              by the job    by this report\n");
	put_pair(panel, "FLOPs of a step", "logged_efficiency.logged_flops_per_step",
		 "logged_efficiency.flops_per_step");
	put_pair(panel, "steps a second", "logged_efficiency.logged_steps_per_second",
		 "logged_efficiency.steps_per_second");
	put_pair(panel, "peak of a device", "logged_efficiency.logged_peak_flops_per_second",
		 "logged_efficiency.peak_flops_per_second");
	if (explanation.kind != TSCOPE_VALUE_TEXT)
		return;
	tsi_text_put(panel->w, "  ");
	tsi_text_paragraph(panel->w, explanation.text, 2);
}
