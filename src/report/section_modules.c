/* SPDX-License-Identifier: MIT */
/*
 * Sections about whose code the time is: blocks of kernels, modules, layers unlike the others,
 * functions, --by.
 */
#include "report/section.h"

#include <inttypes.h>
#include <string.h>

/* "block 17 of 36 takes 1.200 ms, 1.4x the median, mostly in gemm (longer kernels)" */
static void put_odd_blocks(const struct panel *panel)
{
	struct table_view blocks = tsi_panel_rows(panel, "blocks.odd_blocks");

	for (size_t row = 0; row < blocks.row_count; row++) {
		struct tscope_value ns = tsi_table_find(&blocks, row, "ns");
		struct tscope_value median = tsi_table_find(&blocks, row, "median_ns");
		const char *cause = tsi_table_text(&blocks, row, "because");
		tsi_doc_line(panel->doc, DOC_NOTE, DOC_PLAIN, NULL,
			     "block %" PRId64 " of sequence %" PRId64
			     " takes %s, %.1fx the median%s%.60s (%s)",
			     tsi_table_find(&blocks, row, "block").integer,
			     tsi_table_find(&blocks, row, "sequence").integer,
			     tsi_panel_people(panel, ns, TSCOPE_UNIT_NS),
			     (double)ns.integer / (double)median.integer,
			     *cause ? ", mostly in " : "", cause,
			     tsi_table_text(&blocks, row, "why"));
	}
}

void tsi_section_blocks(const struct panel *panel)
{
	static const struct column columns[] = {
		{ "longest kernel", "kernel", 0 }, { "no", "sequence", 3 },
		{ "blocks", "block_count", 7 },    { "kernels", "kernel_count", 8 },
		{ "passes", "pass_count", 7 },     { "block", "median_ns", 10 },
		{ "share", "share_ratio", 7 },
	};
	static const struct column kernel_columns[] = {
		{ "kernel", "name", 0 },    { "of", "sequence", 3 },       { "count", "count", 6 },
		{ "in a block", "ns", 11 }, { "share", "share_ratio", 7 },
	};

	if (tsi_panel_row_count(panel, "blocks.sequences") == 0)
		return;
	tsi_panel_title(panel, DOC_INFO, "blocks", "BLOCKS", "%s of %s in kernels that repeat",
			tsi_panel_number(panel, "blocks.repeated_ns"),
			tsi_panel_number(panel, "blocks.device_ns"));
	put_odd_blocks(panel);
	tsi_panel_kernels(panel, "blocks.sequences", columns, TSI_COUNT_OF(columns));
	tsi_panel_kernels(panel, "blocks.kernels", kernel_columns, TSI_COUNT_OF(kernel_columns));
}

/* "Block_17 takes 12.3 ms, 1.4x the median of 32 layers alike, mostly in … (longer copies)" */
static void put_odd_layers(const struct panel *panel)
{
	struct table_view layers = tsi_panel_rows(panel, "modules.odd_layers");

	for (size_t row = 0; row < layers.row_count; row++) {
		struct tscope_value ns = tsi_table_find(&layers, row, "ns");
		struct tscope_value median = tsi_table_find(&layers, row, "median_ns");
		const char *cause = tsi_table_text(&layers, row, "because");
		const char *times = "";
		if (median.integer > 0)
			times = tsi_panel_print(
				panel, " %.1fx the median of %s layers alike",
				(double)ns.integer / (double)median.integer,
				tsi_panel_people(panel,
						 tsi_table_find(&layers, row, "module_count"),
						 TSCOPE_UNIT_COUNT));
		tsi_doc_line(panel->doc, DOC_NOTE, DOC_PLAIN, NULL, "%s takes %s,%s%s%s (%s)",
			     tsi_table_text(&layers, row, "layer"),
			     tsi_panel_people(panel, ns, TSCOPE_UNIT_NS), times,
			     *cause ? ", mostly in " : "", cause,
			     tsi_table_text(&layers, row, "why"));
	}
}

/* The row of by_module with most bytes at the peak, of those behind `last`; SIZE_MAX: the first. */
static size_t next_holder(const struct table_view *modules, size_t last)
{
	size_t most_row = SIZE_MAX;
	int64_t most = -1, below = INT64_MAX;

	if (last != SIZE_MAX)
		below = tsi_table_find(modules, last, "self_peak_bytes").integer;
	for (size_t row = 0; row < modules->row_count; row++) {
		int64_t bytes = tsi_table_find(modules, row, "self_peak_bytes").integer;
		bool is_behind = bytes < below || (bytes == below && row > last);
		if (!is_behind || bytes <= most)
			continue;
		most = bytes;
		most_row = row;
	}
	return most_row;
}

/* "Block.*.Attention: 419 MiB at the peak of memory, 21.0 % of it; 838 MiB with modules in it" */
static void put_peak_holders(const struct panel *panel)
{
	enum { MAX_SHOWN = 3, LEAST_SHARE = 20 };
	struct table_view modules = tsi_panel_rows(panel, "modules.by_module");
	int64_t peak_bytes = tsi_panel_int(panel, "modules.peak_bytes");
	size_t row = next_holder(&modules, SIZE_MAX);

	for (int i = 0; i < MAX_SHOWN && row != SIZE_MAX; i++) {
		struct tscope_value bytes = tsi_table_find(&modules, row, "self_peak_bytes");
		struct tscope_value whole = tsi_table_find(&modules, row, "peak_bytes");
		const char *within = "";
		if (bytes.integer <= peak_bytes / LEAST_SHARE)
			return;
		if (whole.integer > bytes.integer)
			within = tsi_panel_print(panel, "; %s with modules in it",
						 tsi_panel_people(panel, whole, TSCOPE_UNIT_BYTES));
		tsi_doc_line(panel->doc, DOC_NOTE, DOC_PLAIN, NULL,
			     "%s: %s at the peak of memory, %.1f %% of it%s",
			     tsi_table_text(&modules, row, "name"),
			     tsi_panel_people(panel, bytes, TSCOPE_UNIT_BYTES),
			     100 * (double)bytes.integer / (double)peak_bytes, within);
		row = next_holder(&modules, row);
	}
}

/* "1.2 ms of (outside modules) is device work without a launch in the trace: whose is not known" */
static void put_unlinked(const struct panel *panel, const char *id, const char *row)
{
	if (tsi_panel_int(panel, id) > 0)
		tsi_doc_line(panel->doc, DOC_NOTE, DOC_PLAIN, NULL,
			     "%s of %s is device work without a launch in the trace: where it "
			     "belongs is not known",
			     tsi_panel_number(panel, id), row);
}

void tsi_section_modules(const struct panel *panel)
{
	static const struct figure figures[] = {
		{ "modules", "modules.module_count" },
		{ "calls", "modules.call_count" },
		{ "run again in backward", "modules.repeated_count" },
		{ "backward outside", "modules.outside_backward_ns" },
	};
	static const struct figure peak_figures[] = {
		{ "peak of memory", "modules.peak_bytes" },
		{ "allocated before the recording", "modules.peak_unrecorded_bytes" },
		{ "outside modules", "modules.peak_outside_bytes" },
	};
	static const struct column columns[] = {
		{ "module", "name", 0 },         { "calls/step", "calls_per_step", 10 },
		{ "own", "self_device_ns", 10 }, { "share", "self_share_ratio", 7 },
		{ "whole", "device_ns", 10 },    { "MFU", "mfu", 7 },
	};
	static const struct column host_columns[] = {
		{ "module", "name", 0 },
		{ "calls/step", "calls_per_step", 10 },
		{ "own", "self_host_ns", 11 },
		{ "whole", "host_ns", 11 },
	};
	bool has_device = tsi_panel_has(panel, "modules.device_ns");

	if (tsi_panel_row_count(panel, "modules.by_module") == 0)
		return;
	if (has_device)
		tsi_panel_title(panel, DOC_INFO, "modules", "MODULES", "%s of device time",
				tsi_panel_number(panel, "modules.device_ns"));
	else
		tsi_panel_title(panel, DOC_INFO, "modules", "MODULES", "%s of thread time",
				tsi_panel_number(panel, "modules.host_ns"));
	tsi_panel_figures(panel, figures, TSI_COUNT_OF(figures) - !has_device);
	put_unlinked(panel, "modules.unlinked_ns", "(outside modules)");
	put_odd_layers(panel);
	tsi_panel_figures(panel, peak_figures, TSI_COUNT_OF(peak_figures));
	if (tsi_panel_has(panel, "modules.peak_bytes"))
		put_peak_holders(panel);
	if (has_device)
		tsi_panel_paths(panel, "modules.by_module", columns, TSI_COUNT_OF(columns));
	else
		tsi_panel_paths(panel, "modules.by_module", host_columns,
				TSI_COUNT_OF(host_columns));
}

void tsi_section_sources(const struct panel *panel)
{
	static const struct column columns[] = {
		{ "function", "name", 0 },     { "host", "host_ns", 11 },
		{ "device", "device_ns", 11 }, { "share", "share_ratio", 9 },
		{ "waiting", "sync_ns", 11 },
	};
	static const struct column host_columns[] = {
		{ "function", "name", 0 },
		{ "host", "host_ns", 11 },
	};
	static const struct column caller_columns[] = {
		{ "called from", "source", 0 }, { "what", "name", 26 },
		{ "count", "count", 7 },        { "time", "ns", 10 },
		{ "on", "time_of", 7 },         { "of it", "share_ratio", 8 },
	};
	bool has_device = tsi_panel_has(panel, "sources.device_ns");

	/* The section about Python has all functions of VizTracer's traces. */
	if (tsi_panel_row_count(panel, "sources.by_function") == 0 ||
	    tsi_panel_has(panel, "integrity.overflow"))
		return;
	tsi_panel_title(panel, DOC_INFO, "sources", "SOURCES", "%s functions of the user's code",
			tsi_panel_number(panel, "sources.function_count"));
	put_unlinked(panel, "sources.unlinked_ns", "(outside the user's code)");
	if (has_device)
		tsi_panel_paths(panel, "sources.by_function", columns, TSI_COUNT_OF(columns));
	else
		tsi_panel_paths(panel, "sources.by_function", host_columns,
				TSI_COUNT_OF(host_columns));
	tsi_panel_paths(panel, "sources.callers", caller_columns, TSI_COUNT_OF(caller_columns));
}

void tsi_section_attribution(const struct panel *panel)
{
	static const struct column columns[] = {
		{ "name", "name", 0 },
		{ "device", "device_ns", 11 },
		{ "share", "share_ratio", 8 },
		{ "events", "event_count", 9 },
	};
	static const struct column host_columns[] = {
		{ "name", "name", 0 },
		{ "host", "host_ns", 11 },
		{ "share", "host_share_ratio", 8 },
	};
	const char *under = tsi_panel_text(panel, "attribution.under");
	const char *by = tsi_panel_text(panel, "attribution.by");
	bool has_device = tsi_panel_int(panel, "attribution.device_ns") > 0;

	if (!tsi_panel_has(panel, "attribution.by"))
		return;
	tsi_panel_title(panel, DOC_INFO, "attribution", "ATTRIBUTION", "%s time by %s%s%.200s",
			has_device ? "device" : "host", by, *under ? ", in " : "", under);
	if (*under && tsi_panel_int(panel, "attribution.match_count") == 0)
		tsi_doc_line(panel->doc, DOC_NOTE, DOC_PLAIN, NULL,
			     "no module or function is called so: names are those of --show "
			     "modules or sources");
	else if (*under && has_device)
		tsi_doc_line(panel->doc, DOC_NOTE, DOC_PLAIN, NULL, "%s of %s",
			     tsi_panel_number(panel, "attribution.under_ns"),
			     tsi_panel_number(panel, "attribution.device_ns"));
	put_unlinked(panel, "attribution.unlinked_ns",
		     strcmp(by, "module") == 0   ? "(outside modules)"
		     : strcmp(by, "source") == 0 ? "(outside the user's code)"
						 : "(none)");
	if (has_device)
		tsi_panel_paths(panel, "attribution.rows", columns, TSI_COUNT_OF(columns));
	else
		tsi_panel_paths(panel, "attribution.rows", host_columns,
				TSI_COUNT_OF(host_columns));
}
