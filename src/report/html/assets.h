/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_REPORT_HTML_ASSETS_H
#define TSCOPE_REPORT_HTML_ASSETS_H

/* Style and script of the page, as embed.c makes them of the files beside it; "sha256-…" each. */
extern const char tsi_page_style[], tsi_page_style_hash[];
extern const char tsi_page_script[], tsi_page_script_hash[];

#endif
