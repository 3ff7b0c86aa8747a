/* SPDX-License-Identifier: MIT */
/*
 * Sections of the text report about where the time went: the steps' budget, the
 * devices, communication against computation.
 */
#include "report/section.h"

#include "analyze/lookup.h"
#include "base/attributes.h"

static int64_t fact(const struct panel *panel, const char *id)
{
	return tsi_lookup_int(panel->analysis, TSCOPE_WHOLE_TRACE, id);
}

/* The light of a section whose loss is this part of a whole. */
static enum text_style light_of_loss(int64_t loss_ns, int64_t whole_ns)
{
	if (whole_ns <= 0 || loss_ns < whole_ns / 5)
		return TEXT_GREEN;
	return loss_ns < whole_ns / 2 ? TEXT_YELLOW : TEXT_RED;
}

/* ---- budget ---- */

struct budget_line {
	const char *label;
	const char *id;
	enum text_style style;
};

/*
 * What the budget's mean step has of one of the budget's sums; halves up. It need not be
 * step_time.mean_ns: records may time other steps, and a run the slowest ranks.
 */
static int64_t of_mean_step(const struct panel *panel, int64_t sum_ns)
{
	int64_t step_count = fact(panel, "budget.step_count");

	if (step_count == 0)
		return 0;
	int64_t rest_ns = sum_ns % step_count;
	return sum_ns / step_count + (rest_ns >= step_count - rest_ns);
}

static void put_budget_lines(const struct panel *panel, const struct budget_line *lines,
			     size_t count)
{
	int64_t wall_ns = fact(panel, "budget.wall_ns");

	for (size_t i = 0; i < count; i++) {
		struct meter meter = { .label = lines[i].label,
				       .part = fact(panel, lines[i].id),
				       .whole = wall_ns,
				       .style = lines[i].style,
				       .unit = TSCOPE_UNIT_NS };

		meter.shown = of_mean_step(panel, meter.part);
		if (meter.part > 0)
			tsi_panel_meter(panel, &meter);
	}
}

void tsi_section_budget(const struct panel *panel)
{
	static const struct budget_line lines[] = {
		{ "compute", "budget.compute_ns", TEXT_GREEN },
		{ "  forward", "budget.phase.forward_ns", TEXT_DIM },
		{ "  backward", "budget.phase.backward_ns", TEXT_DIM },
		{ "  optimizer", "budget.phase.optimizer_ns", TEXT_DIM },
		{ "  data", "budget.phase.data_ns", TEXT_DIM },
		{ "  other", "budget.phase.other_ns", TEXT_DIM },
		{ "  unlinked", "budget.phase.compute_ns", TEXT_DIM }, /* launched by no known op */
		{ "exposed comm", "budget.exposed_comm_ns", TEXT_YELLOW },
		{ "  waiting", "budget.exposed_wait_ns", TEXT_DIM },
		{ "  transfer", "budget.exposed_transfer_ns", TEXT_DIM },
		{ "exposed copy", "budget.exposed_copy_ns", TEXT_YELLOW },
		{ "data stall", "budget.data_stall_ns", TEXT_RED },
		{ "sync stall", "budget.sync_stall_ns", TEXT_RED },
		{ "launch stall", "budget.launch_stall_ns", TEXT_RED },
		{ "device gap", "budget.device_gap_ns", TEXT_RED },
		{ "unattributed", "budget.unattributed_ns", TEXT_RED },
		{ "data", "budget.host.data_ns", TEXT_RED },
		{ "forward", "budget.host.forward_ns", TEXT_GREEN },
		{ "backward", "budget.host.backward_ns", TEXT_GREEN },
		{ "optimizer", "budget.host.optimizer_ns", TEXT_GREEN },
		{ "comm", "budget.host.comm_ns", TEXT_YELLOW },
		{ "  waiting", "budget.host.comm_wait_ns", TEXT_DIM },
		{ "  transfer", "budget.host.comm_transfer_ns", TEXT_DIM },
		{ "other", "budget.host.other_ns", TEXT_PLAIN },
	};
	int64_t wall_ns = fact(panel, "budget.wall_ns");
	bool has_device = tscope_analysis_device_count(panel->analysis) > 0;
	int64_t loss_ns = wall_ns - fact(panel, "budget.compute_ns");
	size_t rank_count = panel->report ? tscope_run_rank_count(panel->report->run) : 1;
	struct tscope_value mean_step = { .kind = TSCOPE_VALUE_INT,
					  .integer = of_mean_step(panel, wall_ns) };
	char mean[NUMBER_MAX];

	if (wall_ns == 0)
		return;
	tsi_number_people(mean, mean_step, TSCOPE_UNIT_NS);
	tsi_panel_title(panel, has_device ? light_of_loss(loss_ns, wall_ns) : TEXT_CYAN, "budget",
			"BUDGET", "where the mean step of %s goes%s", mean,
			rank_count > 1 ? ", mean of the ranks" : "");
	put_budget_lines(panel, lines, TSI_COUNT_OF(lines));
}

/* ---- devices ---- */

static void put_device_number(const struct panel *panel, uint32_t device, const char *id)
{
	enum tscope_unit unit;
	struct tscope_value value = tsi_lookup_fact(panel->analysis, (int)device, id, &unit);
	char text[NUMBER_MAX];

	tsi_number_people(text, value, unit);
	tsi_text_right(panel->w, text, 10);
}

/* Several devices: a line each. */
static void put_devices(const struct panel *panel)
{
	static const char *const ids[] = { "device_busy.utilisation_ratio",
					   "device_busy.compute_ns", "overlap.comm_ns",
					   "overlap.exposed_ns", "device_busy.copy_ns" };
	uint32_t count = tscope_analysis_device_count(panel->analysis);

	if (count < 2)
		return;
	tsi_text_put_styled(panel->w, TEXT_DIM,
			    "  device        busy   compute      comm   exposed      copy\n");
	for (uint32_t i = 0; i < count && i < panel->top; i++) {
		tsi_text_printf(panel->w, "  %-6d",
				tscope_analysis_device_ordinal(panel->analysis, i));
		for (size_t j = 0; j < TSI_COUNT_OF(ids); j++)
			put_device_number(panel, i, ids[j]);
		tsi_text_put(panel->w, "\n");
	}
}

void tsi_section_device_busy(const struct panel *panel)
{
	static const struct budget_line lines[] = {
		{ "busy", "device_busy.busy_ns", TEXT_GREEN },
		{ "  compute", "device_busy.compute_ns", TEXT_DIM },
		{ "  comm", "device_busy.comm_ns", TEXT_DIM },
		{ "  copy", "device_busy.copy_ns", TEXT_DIM },
		{ "idle", "device_busy.idle_ns", TEXT_RED },
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
	int64_t span_ns = fact(panel, "device_busy.span_ns");
	char span[NUMBER_MAX];

	if (span_ns == 0) {
		tsi_panel_title(panel, TEXT_DIM, "device_busy", "DEVICE", "no device activity");
		return;
	}
	tsi_panel_number(panel, "device_busy.span_ns", span);
	tsi_panel_title(panel, light_of_loss(fact(panel, "device_busy.idle_ns"), span_ns),
			"device_busy", "DEVICE", "first to last device event: %s%s", span,
			tscope_analysis_device_count(panel->analysis) > 1 ? ", all devices" : "");
	for (size_t i = 0; i < TSI_COUNT_OF(lines); i++) {
		int64_t part_ns = fact(panel, lines[i].id);
		struct meter meter = { lines[i].label, part_ns,        span_ns,
				       part_ns,        lines[i].style, TSCOPE_UNIT_NS };

		if (part_ns > 0)
			tsi_panel_meter(panel, &meter);
	}
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
	int64_t comm_ns = fact(panel, "overlap.comm_ns");
	int64_t span_ns = fact(panel, "device_busy.span_ns");
	int64_t exposed_ns = fact(panel, "overlap.exposed_ns");
	char comm[NUMBER_MAX];
	struct table_view kinds =
		tsi_lookup_table(panel->analysis, TSCOPE_WHOLE_TRACE, "collectives.by_kind");

	if (comm_ns == 0 && kinds.row_count == 0) {
		if (span_ns > 0)
			tsi_panel_title(panel, TEXT_DIM, "overlap", "COMMUNICATION",
					"no communication kernels");
		return;
	}
	tsi_panel_number(panel, "overlap.comm_ns", comm);
	tsi_panel_title(panel, light_of_loss(exposed_ns, span_ns), "overlap", "COMMUNICATION", "%s",
			comm_ns > 0 ? comm : "on the host only");
	if (comm_ns > 0) {
		int64_t hidden_ns = fact(panel, "overlap.overlapped_ns");

		tsi_panel_meter(panel, &(struct meter){ "overlapped", hidden_ns, comm_ns, hidden_ns,
							TEXT_GREEN, TSCOPE_UNIT_NS });
		tsi_panel_meter(panel, &(struct meter){ "exposed", exposed_ns, comm_ns, exposed_ns,
							TEXT_YELLOW, TSCOPE_UNIT_NS });
	}
	tsi_panel_table(panel, "collectives.by_kind", collective_columns,
			TSI_COUNT_OF(collective_columns));
}
