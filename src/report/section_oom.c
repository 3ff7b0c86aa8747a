/* SPDX-License-Identifier: MIT */
/*
 * The section about a request of CUDA's allocator that failed: what was free
 * then, in which pieces, and what would have let it pass.
 */
#include "report/section.h"

#include <string.h>

/* The row of the request that the facts speak of: the last one of its device. */
static size_t shown_row(const struct panel *panel, const struct table_view *ooms)
{
	int64_t device = tsi_panel_int(panel, "snapshot.oom_device");
	size_t row = ooms->row_count - 1;

	while (row > 0 && tsi_table_find(ooms, row, "device").integer != device)
		row--;
	return row;
}

/* Available memory against the requested amount. */
static void put_room(const struct panel *panel)
{
	static const struct part parts[] = {
		{ "live", "snapshot.oom_live_bytes", DOC_GOOD },
		{ "free in segments", "snapshot.oom_free_bytes", DOC_WARN },
		{ "free on device", "snapshot.oom_device_free_bytes", DOC_INFO },
		{ "requested", "snapshot.oom_size_bytes", DOC_BAD },
	};
	int64_t reserved = tsi_panel_int(panel, "snapshot.oom_reserved_bytes");
	int64_t left = tsi_panel_int(panel, "snapshot.oom_device_free_bytes");
	struct whole all = { reserved > INT64_MAX - left ? INT64_MAX : reserved + left, INT64_MIN,
			     0 };

	tsi_panel_parts(panel, &all, parts, TSI_COUNT_OF(parts));
}

static enum doc_tone tone_of_verdict(const char *verdict)
{
	if (strcmp(verdict, "yes") == 0 || strcmp(verdict, "likely") == 0)
		return DOC_GOOD;
	return strcmp(verdict, "perhaps") == 0 ? DOC_WARN : DOC_FAINT;
}

/* "  yes      expandable_segments: 96.0 MiB of free pages ≥ 64.0 MiB asked for" */
static void put_remedies(const struct panel *panel, size_t oom)
{
	struct table_view remedies = tsi_panel_rows(panel, "snapshot.oom_remedies");
	bool is_first = true;

	for (size_t row = 0; row < remedies.row_count; row++) {
		const char *verdict = tsi_table_find(&remedies, row, "verdict").text;

		if (tsi_table_find(&remedies, row, "oom").integer != (int64_t)oom)
			continue;
		if (is_first)
			tsi_doc_line(panel->doc, DOC_CAPTION, DOC_FAINT, NULL,
				     "would the allocation have succeeded with");
		is_first = false;
		tsi_doc_line(panel->doc, DOC_REMEDY, tone_of_verdict(verdict),
			     strcmp(verdict, "in_use") == 0 ? "in use" : verdict, "%s: %s",
			     tsi_table_find(&remedies, row, "remedy").text,
			     tsi_table_find(&remedies, row, "arithmetic").text);
	}
}

/* Too little, or enough in pieces? Neither, where the driver refused what it had. */
static void put_shortage(const struct panel *panel)
{
	struct tscope_value fits = tsi_panel_value(panel, "snapshot.oom_fits_unfragmented");
	const char *cause = tsi_panel_text(panel, "snapshot.oom_cause");
	const char *largest = tsi_panel_number(panel, "snapshot.oom_largest_free_bytes");

	if (fits.kind != TSCOPE_VALUE_FLAG)
		return;
	if (strcmp(cause, "limit") == 0)
		tsi_doc_note(
			panel->doc,
			"the driver had enough left: a limit of the process refused the request");
	else if (strcmp(cause, "rounding") == 0)
		tsi_doc_note(panel->doc, "torch rounds it up to %s, more than the driver had left",
			     tsi_panel_number(panel, "snapshot.oom_driver_bytes"));
	else if (fits.flag)
		tsi_doc_note(panel->doc,
			     "the largest free block was %s; all free memory in one piece would "
			     "have sufficed",
			     largest);
	else
		tsi_doc_note(panel->doc,
			     "the largest free block was %s; even all free memory in one piece "
			     "would be %s short",
			     largest, tsi_panel_number(panel, "snapshot.oom_shortfall_bytes"));
}

/* A function of C++ of which neither the file nor the line is known is named alone. */
static void put_site(const struct panel *panel)
{
	static const char no_place[] = "??:0:";
	struct tscope_value site = tsi_panel_value(panel, "snapshot.oom_site");

	if (site.kind != TSCOPE_VALUE_TEXT || *site.text == '\0')
		return;
	tsi_doc_line(panel->doc, DOC_TAGGED, DOC_FAINT, "requested at", "%s",
		     site.text + (strncmp(site.text, no_place, strlen(no_place)) == 0
					  ? strlen(no_place)
					  : 0));
}

void tsi_section_oom(const struct panel *panel)
{
	static const struct column columns[] = {
		{ "requested at", "site", 0 },
		{ "device", "device", 8 },
		{ "entry", "index", 9 },
		{ "requested", "size_bytes", 11 },
		{ "on device", "device_free_bytes", 11 },
		{ "largest free", "largest_free_bytes", 14 },
	};
	struct table_view ooms = tsi_panel_rows(panel, "snapshot.ooms");
	size_t row;

	if (ooms.row_count == 0)
		return;
	row = shown_row(panel, &ooms);
	const char *size = tsi_panel_number(panel, "snapshot.oom_size_bytes");
	if (ooms.row_count == 1)
		tsi_panel_title(panel, DOC_BAD, "snapshot", "OUT OF MEMORY", "%s requested", size);
	else
		tsi_panel_title(panel, DOC_BAD, "snapshot", "OUT OF MEMORY",
				"%s requests failed, the last one of %s",
				tsi_panel_number(panel, "snapshot.oom_count"), size);
	put_site(panel);
	put_room(panel);
	put_shortage(panel);
	if (tsi_table_find(&ooms, row, "is_exact").kind == TSCOPE_VALUE_FLAG &&
	    !tsi_table_find(&ooms, row, "is_exact").flag)
		tsi_doc_line(panel->doc, DOC_NOTE, DOC_FAINT, NULL,
			     "the layout is not known to the byte: gaps may be smaller");
	put_remedies(panel, row);
	if (ooms.row_count > 1)
		tsi_panel_table(panel, "snapshot.ooms", columns, TSI_COUNT_OF(columns));
}
