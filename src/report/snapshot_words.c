/* SPDX-License-Identifier: MIT */
/* Figures of a snapshot, counts and names of sites in words: for the sections about it. */
#include "report/snapshot_words.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/memory/role_words.h"

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

const char *tsi_role_label(const char *role)
{
	return strcmp(role, "kv_cache") == 0 ? "KV cache" : role;
}

const char *tsi_snapshot_sentence(const struct panel *panel)
{
	struct table_view roles = tsi_panel_rows(panel, "snapshot.by_role");
	int64_t peak_bytes = tsi_panel_int(panel, "snapshot.peak_allocated_bytes");
	int64_t device = tsi_panel_int(panel, "snapshot.peak_device");
	bool is_flat = tsi_panel_int(panel, "snapshot.trace_entry_count") == 0;
	const char *text =
		tsi_panel_print(panel, "allocated memory %s %s", is_flat ? "is" : "peaks at",
				tsi_panel_number(panel, "snapshot.peak_allocated_bytes"));

	if (tsi_has_many_devices(panel))
		tsi_panel_append(panel, &text, " on device %" PRId64, device);
	for (size_t row = 0; row < roles.row_count; row++) {
		struct role_part part = tsi_role_part(&roles, row, peak_bytes);
		struct role_words words = tsi_describe_role(&part);

		if (tsi_table_find(&roles, row, "device").integer != device)
			continue;
		if (*words.chars != '\0')
			tsi_panel_append(panel, &text, "; %s", words.chars);
		if (*words.chars == '\0' || !tsi_is_role_unknown(part.role))
			break; /* the reader knows then who holds the memory */
	}
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
