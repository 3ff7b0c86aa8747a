/* SPDX-License-Identifier: MIT */
/* Which HTML page it is. The marks stand before a page's styles and scripts, or begin these. */
#include "decode/page.h"

#include "base/attributes.h"
#include "decode/foreign_text.h"
#include "decode/plain/plain_reader.h"

/* The first whose mark is there. */
static const struct page pages[] = {
	{ PAGE_TRACE, TEXT("onTraceViewerImportFail"),
	  "a trace in an HTML page, not a file about memory: use `tscope trace FILE`" },
	{ PAGE_SNAPSHOT, TEXT("local_files"),
	  "a page of torch's memory_viz, not a trace: use `tscope memory FILE`" },
	{ PAGE_FOREIGN, TEXT("<title>memray"),
	  "a report of memray in an HTML page: give `tscope memory` the capture (.bin) that it was "
	  "made from" },
	{ PAGE_FOREIGN, TEXT("d3-flamegraph"),
	  "a flame graph in an HTML page: give the trace that it was made from" },
	{ PAGE_FOREIGN, TEXT("<title>GPU Memory Timeline HTML</title>"),
	  "a picture of torch's memory timeline in an HTML page: export it as .json or "
	  ".raw.json.gz "
	  "(prof.export_memory_timeline(\"x.json\"))" },
	{ PAGE_FOREIGN, TEXT("PlotlyConfig"),
	  "a chart of Plotly in an HTML page: give what it was made from" },
};

static const struct page unknown_page = {
	.use = PAGE_UNKNOWN,
	.what = "an HTML page: give the trace that it was made from (of a page of torch's "
		"memory_viz: use `tscope memory FILE`)",
};

static const struct page no_page = { .use = PAGE_NONE, .what = "not an HTML page" };

static bool is_page(struct str head)
{
	static const struct str starts[] = { TEXT("<!doctype html"), TEXT("<html"),
					     TEXT("<head>") };

	head = tsi_str_trim(tsi_plain_skip_mark(head));
	for (size_t i = 0; i < TSI_COUNT_OF(starts); i++) {
		struct str start = { head.data, starts[i].length };
		if (head.length >= start.length && tsi_str_equal_nocase(start, starts[i]))
			return true;
	}
	return false;
}

const struct page *tsi_page_find(struct str head)
{
	if (!is_page(head))
		return &no_page;
	if (head.length > TASTED_PLAIN_BYTES)
		head.length = TASTED_PLAIN_BYTES;
	for (size_t i = 0; i < TSI_COUNT_OF(pages); i++)
		if (tsi_str_find(head, pages[i].mark) >= 0)
			return &pages[i];
	return &unknown_page;
}
