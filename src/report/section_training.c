/* SPDX-License-Identifier: MIT */
/* Sections about the training job, of its lowest rank: memory and convergence. */
#include "report/section.h"

#include <string.h>

/* ---- memory ---- */

void tsi_section_memory(const struct panel *panel)
{
	static const struct figure figures[] = {
		{ "reserved", "memory.peak_reserved_bytes" },
		{ "mean", "memory.mean_alloc_bytes" },
		{ "fragmentation", "memory.fragmentation" },
		{ "growth per step", "memory.growth_bytes_per_step" },
		{ "requests that failed", "memory.oom_count" },
	};
	bool has_oom = tsi_panel_int(panel, "memory.oom_count") > 0;

	if (!tsi_panel_has(panel, "memory.peak_alloc_bytes"))
		return;
	tsi_panel_title(panel, has_oom ? DOC_BAD : DOC_GOOD, "memory", "MEMORY",
			"peak %s allocated", tsi_panel_number(panel, "memory.peak_alloc_bytes"));
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
	struct table_view spikes = tsi_panel_rows(panel, id);
	const char *text = words;

	if (spikes.row_count == 0)
		return;
	if (spikes.row_count > 1)
		tsi_panel_append(panel, &text, "s");
	for (size_t row = 0; row < spikes.row_count && row < MAX_SPIKES; row++)
		tsi_panel_append(panel, &text, "%s %lld", row > 0 ? "," : "",
				 (long long)tsi_table_cell(&spikes, row, 0).integer);
	if (spikes.row_count > MAX_SPIKES)
		tsi_panel_append(panel, &text, " and %zu more", spikes.row_count - MAX_SPIKES);
	tsi_doc_note(panel->doc, "%s", text);
}

/* "best 1.2345 · final 1.3001", in more digits than other numbers: losses differ in the last. */
static const char *name_losses(const struct panel *panel)
{
	static const struct figure losses[] = {
		{ "best", "convergence.best_loss" },
		{ "final", "convergence.final_loss" },
	};
	const char *text = "";

	for (size_t i = 0; i < TSI_COUNT_OF(losses); i++) {
		struct tscope_value loss = tsi_panel_value(panel, losses[i].id);

		if (loss.kind == TSCOPE_VALUE_REAL)
			tsi_panel_append(panel, &text, " · %s loss %s", losses[i].label,
					 tsi_panel_significant(panel, loss.real, 5));
	}
	return text;
}

void tsi_section_convergence(const struct panel *panel)
{
	struct tscope_value trend = tsi_panel_value(panel, "convergence.loss_trend");
	struct tscope_value diverged = tsi_panel_value(panel, "convergence.diverged_at");
	const struct tscope_run *run = panel->report->run;
	struct doc_series losses = { run, get_loss, tscope_run_step_count(run, 0) };

	if (trend.kind != TSCOPE_VALUE_TEXT)
		return;
	if (strcmp(trend.text, "unknown") == 0)
		trend.text = "too few losses for a trend";
	else if (tsi_panel_doubt(panel, "convergence.loss_trend"))
		trend.text = "not judged beside a reward";
	tsi_panel_title(panel, DOC_GOOD, "convergence", "CONVERGENCE", "%s%s", trend.text,
			name_losses(panel));
	tsi_doc_series(panel->doc, &losses);
	if (diverged.kind == TSCOPE_VALUE_INT)
		tsi_doc_line(panel->doc, DOC_ALERT, DOC_BAD, "DIVERGED", "at step %lld",
			     (long long)diverged.integer);
	put_spikes(panel, "the loss spikes at step", "convergence.loss_spikes");
	put_spikes(panel, "the gradient's norm spikes at step", "convergence.grad_norm_spikes");
}
