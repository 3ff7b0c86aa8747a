/* SPDX-License-Identifier: MIT */
/* Sections about where the time went: the steps' budget, the devices, communication. */
#include "report/section.h"
#include "timeline/idle_cause.h"

#include <inttypes.h>
#include <string.h>

/* A mean that is so many times the median is like none of the steps. */
static const double FAR_FROM_MEDIAN = 1.5;

/* The light of a section whose loss is this part of a whole. */
static enum doc_tone light_of_loss(int64_t loss_ns, int64_t whole_ns)
{
	if (whole_ns <= 0 || loss_ns < whole_ns / 5)
		return DOC_GOOD;
	return loss_ns < whole_ns / 2 ? DOC_WARN : DOC_BAD;
}

const struct part tsi_budget_lines[BUDGET_LINE_COUNT] = {
	[BUDGET_COMPUTE] = { "compute", "budget.compute_total_ns", DOC_GOOD },
	[BUDGET_EXPOSED_COMM] = { "exposed comm", "budget.exposed_comm_total_ns", DOC_WARN },
	[BUDGET_EXPOSED_COPY] = { "exposed copy", "budget.exposed_copy_total_ns", DOC_WARN },
	[BUDGET_DATA_STALL] = { "data stall", "budget.data_stall_total_ns", DOC_BAD },
	[BUDGET_SYNC_STALL] = { "sync stall", "budget.sync_stall_total_ns", DOC_BAD },
	[BUDGET_LAUNCH_STALL] = { "launch stall", "budget.launch_stall_total_ns", DOC_BAD },
	[BUDGET_DEVICE_GAP] = { "device gap", "budget.device_gap_total_ns", DOC_BAD },
	[BUDGET_UNATTRIBUTED] = { "unattributed", "budget.unattributed_total_ns", DOC_BAD },
	[BUDGET_HOST_DATA] = { "data", "budget.host.data_total_ns", DOC_BAD },
	[BUDGET_HOST_FORWARD] = { "forward", "budget.host.forward_total_ns", DOC_GOOD },
	[BUDGET_HOST_BACKWARD] = { "backward", "budget.host.backward_total_ns", DOC_GOOD },
	[BUDGET_HOST_OPTIMIZER] = { "optimizer", "budget.host.optimizer_total_ns", DOC_GOOD },
	[BUDGET_HOST_COMM] = { "comm", "budget.host.comm_total_ns", DOC_WARN },
	[BUDGET_HOST_OTHER] = { "other", "budget.host.other_total_ns", DOC_PLAIN },
};

#define CAUSE_PART(id, name, line, words, meaning) { "  " words, "idle." name "_ns", DOC_FAINT },

/*
 * The causes of a line of 1 % of the step or more, largest first; a line with one cause is that.
 */
static void put_causes(const struct panel *panel, enum tscope_budget_line line,
		       const struct whole *step)
{
	static const struct part parts[] = { IDLE_CAUSES(CAUSE_PART) };
	struct part sorted[IDLE_CAUSE_COUNT];
	size_t count = 0;

	for (unsigned cause = 0; cause < IDLE_CAUSE_COUNT; cause++) {
		int64_t ns = tsi_panel_int(panel, parts[cause].id);
		size_t at = count;

		if (cause == IDLE_DATA || tsi_line_of_cause((enum idle_cause)cause) != line)
			continue;
		for (; at > 0 && ns > tsi_panel_int(panel, sorted[at - 1].id); at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = parts[cause];
		count++;
	}
	tsi_panel_parts(panel, step, sorted, count);
}

static void put_idle_lines(const struct panel *panel, int64_t wall_ns, int64_t step_count)
{
	int64_t mean_ns = tsi_mean_of(wall_ns, step_count);
	struct whole step = { mean_ns, mean_ns / 100, 0 };

	for (unsigned line = BUDGET_DATA_STALL; line <= BUDGET_UNATTRIBUTED; line++) {
		tsi_panel_parts(panel, &(struct whole){ wall_ns, 0, step_count },
				&tsi_budget_lines[line], 1);
		put_causes(panel, (enum tscope_budget_line)line, &step);
	}
}

/* For devices, or hosts without any; shows the undivided or overlapping part where it is large. */
static void put_exposed(const struct panel *panel, const struct whole *whole, size_t is_host)
{
	static const struct part parts[][2] = {
		{ { "  waiting", "budget.exposed_wait_total_ns", DOC_FAINT },
		  { "  transfer", "budget.exposed_transfer_total_ns", DOC_FAINT } },
		{ { "  waiting", "budget.host.comm_wait_total_ns", DOC_FAINT },
		  { "  transfer", "budget.host.comm_transfer_total_ns", DOC_FAINT } },
	};
	static const struct part others[][2] = {
		{ { "  undivided", "budget.exposed_unsplit_total_ns", DOC_FAINT },
		  { "  own work", "budget.exposed_own_total_ns", DOC_FAINT } },
		{ { "  undivided", "budget.host.comm_unsplit_total_ns", DOC_FAINT },
		  { "  own work", "budget.host.comm_own_total_ns", DOC_FAINT } },
	};
	struct whole large = { whole->value, whole->value / 100, whole->count };

	tsi_panel_parts(panel, whole,
			&tsi_budget_lines[is_host ? BUDGET_HOST_COMM : BUDGET_EXPOSED_COMM], 1);
	tsi_panel_parts(panel, whole, parts[is_host], TSI_COUNT_OF(parts[is_host]));
	tsi_panel_parts(panel, &large, others[is_host], TSI_COUNT_OF(others[is_host]));
}

bool tsi_is_budget_of_step(const struct panel *panel)
{
	int64_t mean_ns = tsi_mean_of(tsi_panel_int(panel, "budget.wall_total_ns"),
				      tsi_panel_int(panel, "budget.step_count"));

	return strcmp(tsi_panel_people_int(panel, mean_ns, TSCOPE_UNIT_NS),
		      tsi_panel_number(panel, "step_time.mean_ns")) == 0;
}

/* "; median 1.086 ms": of a mean that few long steps make; else "" */
static const char *name_median(const struct panel *panel)
{
	int64_t mean_ns = tsi_panel_int(panel, "step_time.mean_ns");
	int64_t median_ns = tsi_panel_int(panel, "step_time.p50_ns");

	return median_ns > 0 && (double)mean_ns >= FAR_FROM_MEDIAN * (double)median_ns
		       ? tsi_panel_print(panel, "; median %s",
					 tsi_panel_number(panel, "step_time.p50_ns"))
		       : "";
}

/* "4", or "4 on 2 devices": steps count once for each of them. */
static const char *name_step_count(const struct panel *panel, int64_t steps)
{
	uint32_t devices = tscope_analysis_device_count(panel->analysis);

	return devices > 1 && steps % devices == 0
		       ? tsi_panel_print(panel, "%" PRId64 " on %" PRIu32 " devices",
					 steps / devices, devices)
		       : tsi_panel_print(panel, "%" PRId64, steps);
}

const char *tsi_budget_words(const struct panel *panel)
{
	size_t ranks = panel->report ? tscope_run_rank_count(panel->report->run) : 1;
	int64_t steps = tsi_panel_int(panel, "budget.step_count");

	if (tsi_is_budget_of_step(panel))
		return tsi_panel_print(panel,
				       steps > 1 ? "where the time of a step goes (%s, mean of "
						   "%s%s)"
						 : "where the time of the step goes (%s)",
				       tsi_panel_number(panel, "step_time.mean_ns"),
				       name_step_count(panel, steps), name_median(panel));
	if (ranks > 1)
		return tsi_panel_print(
			panel, "where a rank's time goes per step (mean of %zu ranks)", ranks);
	return steps > 1
		       ? tsi_panel_print(panel, "where the time of a traced step goes (mean of %s)",
					 name_step_count(panel, steps))
		       : "where the time of the traced step goes";
}

void tsi_section_budget(const struct panel *panel)
{
	static const struct part phases[] = {
		{ "  forward", "budget.phase.forward_total_ns", DOC_FAINT },
		{ "  backward", "budget.phase.backward_total_ns", DOC_FAINT },
		{ "  optimizer", "budget.phase.optimizer_total_ns", DOC_FAINT },
		{ "  data", "budget.phase.data_total_ns", DOC_FAINT },
		{ "  other", "budget.phase.other_total_ns", DOC_FAINT },
	};
	static const struct part unknown = { "  unknown", "budget.phase.unknown_total_ns",
					     DOC_FAINT };
	int64_t wall_ns = tsi_panel_int(panel, "budget.wall_total_ns");
	bool has_device = tscope_analysis_device_count(panel->analysis) > 0;
	int64_t loss_ns = wall_ns - tsi_panel_int(panel, "budget.compute_total_ns");
	int64_t step_count = tsi_panel_int(panel, "budget.step_count");

	if (wall_ns == 0)
		return;
	tsi_panel_title(panel, has_device ? light_of_loss(loss_ns, wall_ns) : DOC_INFO, "budget",
			"BUDGET", "%s", tsi_budget_words(panel));
	/* A hundredth of the compute line is not worth a doubt. */
	int64_t noise_ns = tsi_panel_int(panel, "budget.compute_total_ns") / 100;
	struct whole whole = { wall_ns, 0, step_count };
	tsi_panel_parts(panel, &whole, &tsi_budget_lines[BUDGET_COMPUTE], 1);
	tsi_panel_parts(panel, &whole, phases, TSI_COUNT_OF(phases));
	tsi_panel_parts(panel, &(struct whole){ wall_ns, noise_ns, step_count }, &unknown, 1);
	put_exposed(panel, &whole, 0);
	tsi_panel_parts(panel, &whole, &tsi_budget_lines[BUDGET_EXPOSED_COPY], 1);
	put_idle_lines(panel, wall_ns, step_count);
	tsi_panel_parts(panel, &whole, &tsi_budget_lines[BUDGET_HOST_DATA],
			BUDGET_HOST_COMM - BUDGET_HOST_DATA);
	put_exposed(panel, &whole, 1);
	tsi_panel_parts(panel, &whole, &tsi_budget_lines[BUDGET_HOST_OTHER], 1);
}

/* Several devices: a line each. */
static void put_devices(const struct panel *panel)
{
	static const struct doc_column columns[] = {
		{ "device  ", TSCOPE_UNIT_TEXT, .width = 6 },
		{ "busy", TSCOPE_UNIT_RATIO, .width = 10 },
		{ "compute", TSCOPE_UNIT_NS, .width = 10 },
		{ "comm", TSCOPE_UNIT_NS, .width = 10 },
		{ "exposed", TSCOPE_UNIT_NS, .width = 10 },
		{ "copy", TSCOPE_UNIT_NS, .width = 10 },
	};
	static const char *const ids[] = { "device_busy.utilisation_ratio",
					   "device_busy.compute_ns", "overlap.comm_ns",
					   "overlap.exposed_ns", "device_busy.copy_ns" };
	uint32_t count = tscope_analysis_device_count(panel->analysis);
	struct doc_table *table;

	if (count < 2)
		return;
	table = tsi_doc_table(panel->doc, columns, TSI_COUNT_OF(columns));
	if (!table)
		return;
	table->is_tight = true;
	table->keeps_empty = true;
	table->keeps_all = true;
	for (uint32_t i = 0; i < count && i < panel->top; i++) {
		struct doc_row *row = tsi_doc_row(panel->doc, table);
		enum tscope_unit unit;

		if (!row)
			return;
		row->cells[0].text = tsi_panel_print(
			panel, "%d", tscope_analysis_device_ordinal(panel->analysis, i));
		for (size_t j = 0; j < TSI_COUNT_OF(ids); j++)
			row->cells[j + 1].value =
				tsi_lookup_fact(panel->analysis, (int)i, ids[j], &unit);
	}
}

void tsi_section_device_busy(const struct panel *panel)
{
	static const struct part lines[] = {
		{ "busy", "device_busy.busy_ns", DOC_GOOD },
		{ "  compute", "device_busy.compute_ns", DOC_FAINT },
		{ "  comm", "device_busy.comm_ns", DOC_FAINT },
		{ "  copy", "device_busy.copy_ns", DOC_FAINT },
		{ "idle", "device_busy.idle_ns", DOC_BAD },
	};
	static const struct figure figures[] = {
		{ "events", "device_busy.event_count" },
		{ "running at once", "device_busy.concurrency" },
		{ "queued mean", "device_busy.queue_mean" },
		{ "max", "device_busy.queue_max" },
	};
	static const struct column idle_columns[] = {
		{ "idle, shorter than", "upper_ns", 19 },
		{ "count", "count", 12 },
		{ "total", "total_ns", 12 },
		{ "share", "share_ratio", 10 },
	};
	int64_t span_ns = tsi_panel_int(panel, "device_busy.span_ns");

	if (span_ns == 0) {
		tsi_panel_title(panel, DOC_FAINT, "device_busy", "DEVICE",
				tsi_panel_int(panel, "launches.launch_count") > 0
					? "device activity was not recorded"
					: "no device activity");
		return;
	}
	tsi_panel_title(panel, light_of_loss(tsi_panel_int(panel, "device_busy.idle_ns"), span_ns),
			"device_busy", "DEVICE", "first to last device event: %s%s",
			tsi_panel_number(panel, "device_busy.span_ns"),
			tscope_analysis_device_count(panel->analysis) > 1 ? ", all devices" : "");
	tsi_panel_parts(panel, &(struct whole){ span_ns, 0, 0 }, lines, TSI_COUNT_OF(lines));
	tsi_panel_figures(panel, figures, TSI_COUNT_OF(figures));
	put_devices(panel);
	tsi_panel_table(panel, "device_busy.idle_histogram", idle_columns,
			TSI_COUNT_OF(idle_columns));
}

/* ---- communication ---- */

void tsi_section_overlap(const struct panel *panel)
{
	static const struct column collective_columns[] = {
		{ "collective", "kind", 0 }, { "dtype", "dtype", 10 },
		{ "group", "group", 8 },     { "ranks", "group_size", 7 },
		{ "count", "count", 8 },     { "total", "total_ns", 11 },
		{ "bytes", "bytes", 10 },    { "bus", "bus_bytes_per_second", 11 },
	};
	static const struct part parts[] = {
		{ "overlapped", "overlap.overlapped_ns", DOC_GOOD },
		{ "exposed", "overlap.exposed_ns", DOC_WARN },
	};
	int64_t comm_ns = tsi_panel_int(panel, "overlap.comm_ns");
	int64_t span_ns = tsi_panel_int(panel, "device_busy.span_ns");
	int64_t exposed_ns = tsi_panel_int(panel, "overlap.exposed_ns");

	if (comm_ns == 0 && tsi_panel_row_count(panel, "collectives.by_kind") == 0) {
		if (span_ns > 0)
			tsi_panel_title(panel, DOC_FAINT, "overlap", "COMMUNICATION",
					"no communication kernels");
		return;
	}
	tsi_panel_title(panel, light_of_loss(exposed_ns, span_ns), "overlap", "COMMUNICATION", "%s",
			comm_ns > 0 ? tsi_panel_number(panel, "overlap.comm_ns")
				    : "on the host only");
	if (comm_ns > 0)
		tsi_panel_parts(panel, &(struct whole){ comm_ns, -1, 0 }, parts,
				TSI_COUNT_OF(parts));
	tsi_panel_table(panel, "collectives.by_kind", collective_columns,
			TSI_COUNT_OF(collective_columns));
}
