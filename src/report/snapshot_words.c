/* SPDX-License-Identifier: MIT */
/* Figures of a snapshot, counts and names of sites in words: for the sections about it. */
#include "report/snapshot_words.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

bool tsi_has_many_devices(const struct panel *panel)
{
	return tsi_panel_int(panel, "snapshot.device_count") > 1;
}

const char *tsi_peak_device_words(const struct panel *panel)
{
	if (!tsi_has_many_devices(panel))
		return "";
	return tsi_panel_print(panel, ", device %" PRId64,
			       tsi_panel_int(panel, "snapshot.peak_device"));
}

const char *tsi_count_words(const struct panel *panel, const char *id, const char *noun)
{
	return tsi_panel_print(panel, "%s %s%s", tsi_panel_number(panel, id), noun,
			       tsi_panel_int(panel, id) == 1 ? "" : "s");
}

static bool is_separator(char c)
{
	return c == '/' || c == '\\';
}

/* ---- what holds the peak ---- */

/* Share of the peak from which a site is worth a word in the first line. */
#define LEAST_SHARE 0.1

const char *tsi_role_words(const char *role)
{
	return strcmp(role, "kv_cache") == 0 ? "KV cache" : role;
}

/* Memory of a role in a sentence; NULL if nothing is known. */
static const char *role_sentence(const char *role)
{
	static const char *const sentences[][2] = {
		{ "unknown", "has no recorded stack" },
		{ "parameter", "is parameters" },
		{ "optimizer", "is allocated by the optimizer" },
		{ "backward", "is allocated in backward" },
		{ "forward", "is allocated in forward" },
		{ "kv_cache", "is KV cache" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(sentences); i++)
		if (strcmp(role, sentences[i][0]) == 0)
			return sentences[i][1];
	return NULL;
}

/* "; 86 % of it is KV cache", of the largest role of the device that peaks. */
static void append_role(const struct panel *panel, const char **text, double peak_bytes)
{
	struct table_view roles = tsi_panel_rows(panel, "snapshot.by_role");
	int64_t device = tsi_panel_int(panel, "snapshot.peak_device");
	size_t row = 0;

	while (row < roles.row_count && tsi_table_find(&roles, row, "device").integer != device)
		row++;
	if (row == roles.row_count)
		return;
	double bytes = (double)tsi_table_find(&roles, row, "bytes").integer;
	const char *sentence = role_sentence(tsi_table_text(&roles, row, "role"));
	if (sentence)
		tsi_panel_append(panel, text, "; %.0f %% of it %s", 100 * bytes / peak_bytes,
				 sentence);
}

/* The frame "folder/file.py:83:name" without its folder and its callers; "" for one of C++. */
static struct str inner_frame(const char *site)
{
	const char *end = strstr(site, " < "), *start = site;
	const char *file_end = strstr(site, ".py:");

	end = end ? end : site + strlen(site);
	if (!file_end || file_end > end)
		return TSI_STR("");
	for (const char *p = site; p < file_end; p++)
		if (is_separator(*p))
			start = p + 1;
	return (struct str){ start, (size_t)(end - start) };
}

static void append_site(const struct panel *panel, const char **text, double peak_bytes)
{
	struct table_view sites = tsi_panel_rows(panel, "snapshot.sites");
	int64_t device = tsi_panel_int(panel, "snapshot.peak_device");

	for (size_t row = 0; row < sites.row_count; row++) {
		if (tsi_table_find(&sites, row, "device").integer != device)
			continue;
		struct tscope_value site = tsi_table_find(&sites, row, "site");
		struct tscope_value bytes = tsi_table_find(&sites, row, "bytes");

		if ((double)bytes.integer < LEAST_SHARE * peak_bytes)
			return;
		struct str frame =
			site.kind == TSCOPE_VALUE_TEXT ? inner_frame(site.text) : TSI_STR("");
		if (frame.length == 0)
			continue;
		tsi_panel_append(panel, text, "; %.*s holds %s", (int)frame.length, frame.data,
				 tsi_panel_people(panel, bytes, TSCOPE_UNIT_BYTES));
		return;
	}
}

const char *tsi_peak_holder_words(const struct panel *panel)
{
	double peak_bytes = (double)tsi_panel_int(panel, "snapshot.peak_allocated_bytes");
	const char *text = "";

	if (!(peak_bytes > 0))
		return text;
	append_role(panel, &text, peak_bytes);
	append_site(panel, &text, peak_bytes);
	return text;
}

/* ---- the folder of sites ---- */

/* "/home/…", "C:\…"; functions of C++ and what is made up have no folder. */
static bool is_absolute(const char *frame)
{
	return frame[0] == '/' ||
	       (isalpha((unsigned char)frame[0]) && frame[1] == ':' && is_separator(frame[2]));
}

/* Shortens the folder to what it has in common with the frame "folder/file:line:name". */
static void shorten(char folder[FOLDER_MAX], const char *frame, size_t length)
{
	size_t same = 0;

	while (same < length && folder[same] != '\0' && folder[same] == frame[same])
		same++;
	while (same > 0 && !is_separator(frame[same - 1]))
		same--;
	folder[same] = '\0';
}

void tsi_site_folder(const struct table_view *sites, char folder[FOLDER_MAX])
{
	size_t column = tsi_table_column(sites, "site");
	bool is_first = true;

	folder[0] = '\0';
	for (size_t row = 0; row < sites->row_count; row++) {
		struct tscope_value site = tsi_table_cell(sites, row, column);
		const char *frame = site.kind == TSCOPE_VALUE_TEXT ? site.text : NULL;

		while (frame) {
			const char *next = strstr(frame, " < ");
			size_t length = next ? (size_t)(next - frame) : strlen(frame);

			if (is_absolute(frame) && is_first)
				snprintf(folder, FOLDER_MAX, "%.*s",
					 (int)(length < FOLDER_MAX ? length : FOLDER_MAX - 1),
					 frame);
			if (is_absolute(frame))
				shorten(folder, frame, length);
			is_first &= !is_absolute(frame);
			frame = next ? next + 3 : NULL;
		}
	}
	if (strlen(folder) < 2)
		folder[0] = '\0';
}

void tsi_put_site_folder(const struct panel *panel, const char *folder)
{
	if (*folder == '\0')
		return;
	tsi_doc_line(panel->doc, DOC_TAGGED, DOC_FAINT, "sites under", "%s", folder);
}

void tsi_put_unknown_sites(const struct panel *panel, const struct table_view *sites,
			   const char *words)
{
	for (size_t row = 0; row < sites->row_count; row++) {
		struct tscope_value name = tsi_table_find(sites, row, "site");

		if (name.kind == TSCOPE_VALUE_TEXT && *name.text == '\0') {
			tsi_doc_line(panel->doc, DOC_NOTE, DOC_FAINT, NULL, "%s", words);
			return;
		}
	}
}
