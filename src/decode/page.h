/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_PAGE_H
#define TSCOPE_DECODE_PAGE_H

#include "base/str.h"

/*
 * HTML pages, which many profilers write: what a page is, by its first bytes (some kilobytes).
 *
 * To add one: a row in the table of page.c.
 */
enum page_use {
	PAGE_NONE,     /* not HTML */
	PAGE_UNKNOWN,  /* HTML: only reading it shows whether it holds a trace */
	PAGE_TRACE,    /* a trace within the viewer of Chrome's traces: VizTracer's pages */
	PAGE_SNAPSHOT, /* torch's memory_viz: plain_page.c */
	PAGE_FOREIGN,  /* known, and holds nothing that we read */
};

struct page {
	enum page_use use;
	struct str mark;  /* what its head holds */
	const char *what; /* "an HTML page …: " and what to do instead */
};

/* Never NULL. */
const struct page *tsi_page_find(struct str head);

#endif
