/* SPDX-License-Identifier: MIT */
/* Figures of a snapshot, counts and names of sites in words: for the sections about it. */
#include "report/snapshot_words.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/memory/site_words.h"
#include "model/memory/stack_site.h"

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

/* Share of the peak from which a part is worth a word in the first line. */
#define LEAST_SHARE 0.1

const char *tsi_role_words(const char *role)
{
	return strcmp(role, "kv_cache") == 0 ? "KV cache" : role;
}

/* A role at the peak of the device that peaks. */
struct peak_role {
	const char *role, *site, *file;
	int64_t bytes, site_bytes, file_bytes;
	double peak_bytes;
};

static struct peak_role get_role(const struct table_view *roles, size_t row, double peak_bytes)
{
	return (struct peak_role){
		.role = tsi_table_text(roles, row, "role"),
		.site = tsi_table_text(roles, row, "site"),
		.file = tsi_table_text(roles, row, "file"),
		.bytes = tsi_table_find(roles, row, "bytes").integer,
		.site_bytes = tsi_table_find(roles, row, "site_bytes").integer,
		.file_bytes = tsi_table_find(roles, row, "file_bytes").integer,
		.peak_bytes = peak_bytes,
	};
}

static bool is_worth_a_word(const struct peak_role *role, int64_t bytes)
{
	return bytes > 0 && (double)bytes >= LEAST_SHARE * role->peak_bytes;
}

static double percent_of_peak(const struct peak_role *role, int64_t bytes)
{
	return 100 * (double)bytes / role->peak_bytes;
}

static const char *name_bytes(const struct panel *panel, int64_t bytes)
{
	return tsi_panel_people_int(panel, bytes, TSCOPE_UNIT_BYTES);
}

static const char *name_site(const struct panel *panel, const char *site)
{
	struct str words = tsi_site_words(site);

	return tsi_panel_print(panel, "%.*s", (int)words.length, words.data);
}

/* "; 83 % of it is allocated in backward, 2.00 GiB by DivBackward0" */
static void append_known(const struct panel *panel, const char **text, const struct peak_role *role,
			 const char *sentence)
{
	tsi_panel_append(panel, text, "; %.0f %% of it %s", percent_of_peak(role, role->bytes),
			 sentence);
	if (*role->site != '\0' && is_worth_a_word(role, role->site_bytes))
		tsi_panel_append(panel, text, ", %s by %s", name_bytes(panel, role->site_bytes),
				 name_site(panel, role->site));
}

/*
 * Nothing says what the memory is for, so where it comes from is all there is: the file, where its
 * lines share the work, "; 71 % of it is allocated in adam_forward.py, 478 MiB by …", or the line.
 */
static void append_other(const struct panel *panel, const char **text, struct peak_role role)
{
	if (role.file_bytes > role.site_bytes && is_worth_a_word(&role, role.file_bytes)) {
		role.bytes = role.file_bytes;
		if (strncmp(role.site, role.file, strlen(role.file)) != 0)
			role.site = "";
		append_known(panel, text, &role,
			     tsi_panel_print(panel, "is allocated in %s",
					     tsi_stack_file_name(tsi_str_of(role.file)).data));
	} else if (*role.site != '\0' && is_worth_a_word(&role, role.site_bytes)) {
		tsi_panel_append(panel, text, "; %.0f %% of it is allocated by %s",
				 percent_of_peak(&role, role.site_bytes),
				 name_site(panel, role.site));
	}
}

/* True where the reader knows then who holds the memory. */
static bool append_role(const struct panel *panel, const char **text, const struct peak_role *role)
{
	const char *sentence = tsi_role_sentence(role->role);

	if (sentence)
		append_known(panel, text, role, sentence);
	else
		append_other(panel, text, *role);
	return !tsi_is_role_unknown(role->role);
}

const char *tsi_snapshot_sentence(const struct panel *panel)
{
	struct table_view roles = tsi_panel_rows(panel, "snapshot.by_role");
	double peak_bytes = (double)tsi_panel_int(panel, "snapshot.peak_allocated_bytes");
	int64_t device = tsi_panel_int(panel, "snapshot.peak_device");
	bool is_flat = tsi_panel_int(panel, "snapshot.trace_entry_count") == 0;
	const char *text =
		tsi_panel_print(panel, "allocated memory %s %s", is_flat ? "is" : "peaks at",
				tsi_panel_number(panel, "snapshot.peak_allocated_bytes"));

	if (tsi_has_many_devices(panel))
		tsi_panel_append(panel, &text, " on device %" PRId64, device);
	for (size_t row = 0; row < roles.row_count; row++) {
		struct peak_role role = get_role(&roles, row, peak_bytes);

		if (tsi_table_find(&roles, row, "device").integer != device)
			continue;
		if (!is_worth_a_word(&role, role.bytes) || append_role(panel, &text, &role))
			break;
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
