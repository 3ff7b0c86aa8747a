/* SPDX-License-Identifier: MIT */
/* decode/page.c: which HTML page it is, by its first bytes. */
#include "decode/page.h"

#include <string.h>

#include "base/attributes.h"
#include "check.h"

static const struct {
	const char *head;
	enum page_use use;
	const char *what; /* its beginning, or NULL */
} cases[] = {
	{ "", PAGE_NONE, NULL },
	{ "<", PAGE_NONE, NULL },
	{ "<!DOCTYPE htm", PAGE_NONE, NULL },
	{ "<?xml version=\"1.0\"?><html>", PAGE_NONE, NULL },
	{ "{\"a\": \"onTraceViewerImportFail\"}", PAGE_NONE, NULL },
	{ "<!DOCTYPE html", PAGE_UNKNOWN, "an HTML page: give the trace" },
	{ "<!doctype HTML>", PAGE_UNKNOWN, NULL },
	{ "\xef\xbb\xbf \n<HTML lang=en>", PAGE_UNKNOWN, NULL },
	{ "<head>\n", PAGE_UNKNOWN, NULL },
	{ "<!DOCTYPE html>\n<script>\nfunction onTraceViewerImportFail() {", PAGE_TRACE,
	  "a trace in an HTML page" },
	{ "<!DOCTYPE html>\n<script type=\"module\">\nconst local_files = [{", PAGE_SNAPSHOT,
	  "a page of torch's memory_viz" },
	/* the first mark of the table counts, wherever it stands */
	{ "<html>local_files onTraceViewerImportFail", PAGE_TRACE, NULL },
	{ "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n  <title>memray - flamegraph "
	  "report</title>",
	  PAGE_FOREIGN, "a report of memray in an HTML page: " },
	{ "<head>\n  <link href=\"https://cdn/dist/d3-flamegraph.css\">", PAGE_FOREIGN,
	  "a flame graph in an HTML page: " },
	{ "<html>\n<head><meta charset=\"utf-8\" /><title>GPU Memory Timeline HTML</title></head>",
	  PAGE_FOREIGN, "a picture of torch's memory timeline in an HTML page: " },
	{ "<html>\n<body><script>window.PlotlyConfig = {MathJaxConfig: 'local'};", PAGE_FOREIGN,
	  "a chart of Plotly in an HTML page: " },
};

TEST(test_cases)
{
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		const struct page *page = tsi_page_find(tsi_str_of(cases[i].head));

		if (page->use != cases[i].use)
			fail_msg("%s: %d", cases[i].head, page->use);
		if (cases[i].what)
			assert_memory_equal(page->what, cases[i].what, strlen(cases[i].what));
	}
}

/* What stands far behind the head says nothing: that is the same however much is shown. */
TEST(test_far_marks)
{
	char head[8192];

	memset(head, ' ', sizeof(head));
	memcpy(head, "<html>", 6);
	memcpy(head + 4096 - 11, "local_files", 11);
	assert_int_equal(tsi_page_find((struct str){ head, sizeof(head) })->use, PAGE_SNAPSHOT);
	head[4096 - 11] = ' ';
	memcpy(head + 4096 - 10, "local_files", 11);
	assert_int_equal(tsi_page_find((struct str){ head, sizeof(head) })->use, PAGE_UNKNOWN);
}
