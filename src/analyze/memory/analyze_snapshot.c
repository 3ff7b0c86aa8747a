/* SPDX-License-Identifier: MIT */
/*
 * A snapshot of CUDA's caching allocator: what filled the memory, who asked for it, what
 * was live at the peak, what is lost to fragmentation, and what would have avoided an OOM. The
 * figures are those of torch.cuda.memory_stats() and torch's _memory_viz where these have them.
 * They are worked out in snapshot_*.c; here stands what each of them is.
 */
#include "analyze/memory/snapshot_parts.h"

#include "base/arena.h"

static const struct tscope_fact_def facts[] = { SNAPSHOT_FACTS(TSI_FACT_DEF) };

static const struct tscope_fact_def actions_columns[] = { ACTIONS_COLUMNS(TSI_FACT_DEF) };
static const struct tscope_fact_def device_columns[] = { TOTALS_COLUMNS(TSI_FACT_DEF, "device",
									COUNT, "device") };
static const struct tscope_fact_def pool_columns[] = { TOTALS_COLUMNS(TSI_FACT_DEF, "pool", TEXT,
								      "small or large") };
static const struct tscope_fact_def pool_id_columns[] = { TOTALS_COLUMNS(
	TSI_FACT_DEF, "pool_id", TEXT,
	"0,0 is the default, others are private; unknown: not said") };
static const struct tscope_fact_def stream_columns[] = { TOTALS_COLUMNS(TSI_FACT_DEF, "stream",
									TEXT, "0 is the default") };
static const struct tscope_fact_def kind_columns[] = { TOTALS_COLUMNS(TSI_FACT_DEF, "kind", TEXT,
								      "plain or expandable") };

static const struct tscope_fact_def segments_columns[] = { SEGMENTS_COLUMNS(TSI_FACT_DEF) };
static const struct tscope_fact_def curves_columns[] = { CURVES_COLUMNS(TSI_FACT_DEF) };
static const struct tscope_fact_def timeline_columns[] = { TIMELINE_COLUMNS(TSI_FACT_DEF) };
static const struct tscope_fact_def role_columns[] = { ROLE_COLUMNS(TSI_FACT_DEF) };
static const struct tscope_fact_def site_timeline_columns[] = { SITE_TIMELINE_COLUMNS(
	TSI_FACT_DEF) };
static const struct tscope_fact_def sites_columns[] = { SITES_COLUMNS(TSI_FACT_DEF) };
static const struct tscope_fact_def ooms_columns[] = { OOMS_COLUMNS(TSI_FACT_DEF) };
static const struct tscope_fact_def remedies_columns[] = { REMEDIES_COLUMNS(TSI_FACT_DEF) };
static const struct tscope_fact_def growth_columns[] = { GROWTH_COLUMNS(TSI_FACT_DEF) };

static const struct tscope_table_def tables[] = { SNAPSHOT_TABLES(TSI_TABLE_ROW) };

/* ---- putting it together ---------------------------------------------------------------- */

static void replay_devices(struct snapshot_view *view, struct arena *scratch)
{
	const struct snapshot *snapshot = view->snapshot;
	int64_t peak_bytes = -1;

	view->replays = tsi_arena_new(scratch, snapshot->device_count, sizeof(*view->replays));
	for (uint32_t i = 0; i < snapshot->device_count && !scratch->has_failed; i++) {
		tsi_snapshot_replay_init(&view->replays[i], snapshot, i, scratch);
		if (view->replays[i].curves[CURVE_ACTIVE].peak_bytes > peak_bytes) {
			peak_bytes = view->replays[i].curves[CURVE_ACTIVE].peak_bytes;
			view->peak_device = i;
		}
	}
}

static void put_all(const struct snapshot_view *view, struct fact_sheet *out)
{
	static const char no_earlier[] = "one snapshot: growth is since an earlier one";

	tsi_snapshot_put_totals(view, out);
	tsi_snapshot_put_history(view, out);
	tsi_snapshot_put_sites(view, out);
	tsi_snapshot_put_ooms(view, out);
	if (view->sites->has_checkpoint)
		tsi_fact_flag(out, SNAPSHOT_ACTIVATION_CHECKPOINTING, true);
	if (view->scope->earlier) {
		tsi_snapshot_put_growth(view, out);
		return;
	}
	tsi_fact_doubt(out, SNAPSHOT_GROWTH_BYTES, no_earlier);
	tsi_fact_doubt(out, SNAPSHOT_GROWTH_RESERVED_BYTES, no_earlier);
}

static void fill_snapshot(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct tscope_analysis_options *options = scope->options;
	const char *filter = options->stack_filter ? options->stack_filter : "";
	struct arena *scratch = tsi_sheet_scratch(out);
	struct stack_sites sites;
	struct snapshot_view view = {
		.snapshot = &scope->memory->snapshot,
		.sites = &sites,
		.scope = scope,
	};

	if (view.snapshot->contradicted_count > 0)
		tsi_fact_unreliable(out, tsi_snapshot_contradiction);
	tsi_stack_sites_init(&sites, view.snapshot, options->stack_depth, tsi_str_of(filter),
			     scratch);
	replay_devices(&view, scratch);
	if (!scratch->has_failed)
		put_all(&view, out);
	tsi_stack_sites_deinit(&sites);
}

const struct analyzer tsi_analyzer_snapshot = {
	.def = {
		.id = "snapshot",
		.summary = "CUDA's caching allocator: what filled it, at the peak and at the end",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a snapshot of CUDA's allocator",
	},
	.levels = LEVEL_SNAPSHOT,
	.fill = fill_snapshot,
};
