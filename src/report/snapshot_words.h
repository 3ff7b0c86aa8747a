/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_REPORT_SNAPSHOT_WORDS_H
#define TSCOPE_REPORT_SNAPSHOT_WORDS_H

#include "report/panel.h"

/* Shared by the sections about a snapshot. */

enum { FOLDER_MAX = 512 };

bool tsi_has_many_devices(const struct panel *panel);

/* ", device 3" where there are several, else "". */
const char *tsi_peak_device_words(const struct panel *panel);

/* "1 block", "12,345 blocks" */
const char *tsi_count_words(const struct panel *panel, const char *id, const char *noun);

/*
 * "allocated memory peaks at 23.7 GiB; 86 % of it is KV cache, 20.3 GiB by
 * cache_engine.py:83:_allocate_kv_cache"
 */
const char *tsi_snapshot_sentence(const struct panel *panel);

/* The role of a stack as people say it: "KV cache". */
const char *tsi_role_label(const char *role);

/*
 * The folder, with its last slash, that all files named in the column "site" of a table lie in:
 * what names can do without. "" where there is none.
 */
void tsi_site_folder(const struct table_view *sites, char folder[FOLDER_MAX]);

/* The folder left out of the sites, if any. */
void tsi_put_site_folder(const struct panel *panel, const char *folder);

/* Explains the site "-" of a table, if it has one. */
void tsi_put_unknown_sites(const struct panel *panel, const struct table_view *sites,
			   const char *words);

#endif
