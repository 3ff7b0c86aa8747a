/* SPDX-License-Identifier: MIT */
/*
 * Sections of the text report about the training job as a whole: memory and
 * convergence, of the lowest rank where there are several.
 */
#include "report/section.h"

#include "analyze/lookup.h"
#include "base/attributes.h"

#include <string.h>

/* ---- memory ---- */

void tsi_section_memory(const struct panel *panel)
{
	static const struct figure figures[] = {
		{ "reserved", "memory.peak_reserved_bytes" },
		{ "mean", "memory.mean_alloc_bytes" },
		{ "fragmentation", "memory.fragmentation" },
		{ "growth a step", "memory.growth_bytes_per_step" },
		{ "requests that failed", "memory.oom_count" },
	};
	bool has_oom = tsi_lookup_int(panel->analysis, TSCOPE_WHOLE_TRACE, "memory.oom_count") > 0;
	char peak[NUMBER_MAX];

	if (!tsi_panel_has(panel, "memory.peak_alloc_bytes"))
		return;
	tsi_panel_number(panel, "memory.peak_alloc_bytes", peak);
	tsi_panel_title(panel, has_oom ? TEXT_RED : TEXT_GREEN, "memory", "MEMORY",
			"peak %s allocated", peak);
	tsi_panel_figures(panel, figures, TSI_COUNT_OF(figures) - !has_oom);
}

/* ---- convergence ---- */

enum { MAX_SPIKES = 8 };

static bool get_loss(const void *source, size_t index, double *loss)
{
	struct tscope_run_step step = tscope_run_step(source, 0, index);

	*loss = step.loss;
	return step.has_loss;
}

/* "  loss spikes at steps 12, 40, 41 and 5 more" */
static void put_spikes(const struct panel *panel, const char *words, const char *id)
{
	struct table_view spikes = tsi_lookup_table(panel->analysis, TSCOPE_WHOLE_TRACE, id);
	char text[256];
	size_t length;

	if (spikes.row_count == 0)
		return;
	length = (size_t)snprintf(text, sizeof(text), "%s%s", words,
				  spikes.row_count == 1 ? "" : "s");
	for (size_t row = 0; row < spikes.row_count && row < MAX_SPIKES; row++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s %lld",
					   row > 0 ? "," : "",
					   (long long)tsi_table_cell(&spikes, row, 0).integer);
	if (spikes.row_count > MAX_SPIKES)
		snprintf(text + length, sizeof(text) - length, " and %zu more",
			 spikes.row_count - MAX_SPIKES);
	tsi_text_put(panel->w, "  ");
	tsi_text_paragraph(panel->w, text, 2);
}

/* "best 1.2345 · final 1.3001", in more digits than other numbers: losses differ in the last. */
static void format_losses(const struct panel *panel, char *text, size_t size)
{
	static const struct figure losses[] = {
		{ "best", "convergence.best_loss" },
		{ "final", "convergence.final_loss" },
	};
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < TSI_COUNT_OF(losses); i++) {
		struct tscope_value loss = tsi_panel_value(panel, losses[i].id);
		char number[NUMBER_MAX];

		if (loss.kind != TSCOPE_VALUE_REAL)
			continue;
		tsi_number_significant(number, loss.real, 5);
		length += (size_t)snprintf(text + length, size - length, " · %s loss %s",
					   losses[i].label, number);
	}
}

void tsi_section_convergence(const struct panel *panel)
{
	struct tscope_value trend = tsi_panel_value(panel, "convergence.loss_trend");
	struct tscope_value diverged = tsi_panel_value(panel, "convergence.diverged_at");
	const struct tscope_run *run = panel->report->run;
	struct sketch losses = { run, get_loss, tscope_run_step_count(run, 0) };
	char best_and_final[2 * NUMBER_MAX + 32];

	if (trend.kind != TSCOPE_VALUE_TEXT)
		return;
	if (strcmp(trend.text, "unknown") == 0)
		trend.text = "too few losses for a trend";
	format_losses(panel, best_and_final, sizeof(best_and_final));
	tsi_panel_title(panel, TEXT_GREEN, "convergence", "CONVERGENCE", "%s%s", trend.text,
			best_and_final);
	tsi_panel_sparkline(panel, &losses);
	if (diverged.kind == TSCOPE_VALUE_INT) {
		tsi_text_put_styled(panel->w, TEXT_RED, "  DIVERGED");
		tsi_text_printf(panel->w, "  at step %lld\n", (long long)diverged.integer);
	}
	put_spikes(panel, "the loss spikes at step", "convergence.loss_spikes");
	put_spikes(panel, "the gradient's norm spikes at step", "convergence.grad_norm_spikes");
}
