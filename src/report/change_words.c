/* SPDX-License-Identifier: MIT */
/* Rows of a comparison by their columns, and what they are called. */
#include "report/change_words.h"
#include "timeline/idle_cause.h"

#include <math.h>
#include <string.h>

/* ---- rows ---- */

struct change tsi_change_first(const struct panel *panel, const char *table)
{
	return (struct change){ tsi_panel_rows(panel, table), 0 };
}

bool tsi_change_is_there(const struct change *change)
{
	return change->row < change->table.row_count;
}

struct tscope_value tsi_change_cell(const struct change *change, const char *column)
{
	return tsi_table_find(&change->table, change->row, column);
}

int64_t tsi_change_int(const struct change *change, const char *column)
{
	struct tscope_value value = tsi_change_cell(change, column);

	return value.kind == TSCOPE_VALUE_INT ? value.integer : 0;
}

const char *tsi_change_text(const struct change *change, const char *column)
{
	return tsi_table_text(&change->table, change->row, column);
}

bool tsi_change_is(const struct change *change, const char *column, const char *text)
{
	return strcmp(tsi_change_text(change, column), text) == 0;
}

bool tsi_change_is_real(const struct change *change)
{
	return tsi_change_is(change, "verdict", "changed") ||
	       tsi_change_is(change, "verdict", "exact");
}

bool tsi_is_step(const struct panel *panel, const char *verdict)
{
	return strcmp(tsi_panel_text(panel, "step_change.verdict"), verdict) == 0;
}

/* ---- words ---- */

const char *tsi_line_words(const struct panel *panel, const char *line)
{
	static const struct {
		const char *line, *words;
	} known[] = {
		{ "exposed_comm", "exposed communication" },
		{ "exposed_copy", "exposed copies" },
		{ "data_stall", "waiting for data" },
		{ "sync_stall", "waiting for the device" },
		{ "launch_stall", "launch stalls" },
		{ "device_gap", "gaps between kernels" },
		{ "comm", "communication" },
		{ "outside", "not in the trace" },
	};
	bool is_of_host = strncmp(line, "host.", 5) == 0;
	const char *words = is_of_host ? line + 5 : line;

	for (size_t i = 0; i < TSI_COUNT_OF(known); i++)
		if (strcmp(known[i].line, words) == 0)
			words = known[i].words;
	return tsi_panel_print(panel, "%s%s", tsi_panel_spaced(panel, words),
			       is_of_host ? " on the host" : "");
}

const char *tsi_cause_words(const struct panel *panel, const char *cause)
{
	const char *words = tsi_idle_cause_words_of(cause);

	return words ? words : tsi_panel_spaced(panel, cause);
}

const char *tsi_part_words(const struct panel *panel, const char *change)
{
	if (strcmp(change, "slower") == 0)
		return "longer";
	return strcmp(change, "faster") == 0 ? "shorter" : tsi_panel_spaced(panel, change);
}

/* ---- what explains the change ---- */

bool tsi_find_lone_rank(const struct panel *panel, struct lone_rank *rank)
{
	struct tscope_value number = tsi_panel_value(panel, "explanation.b_rank");

	if (!tsi_is_step(panel, "changed") || number.kind != TSCOPE_VALUE_INT ||
	    !tsi_panel_is(panel, "explanation.is_one_rank"))
		return false;
	struct tscope_value excess = tsi_panel_value(panel, "explanation.rank_excess_ns");
	rank->number = number.integer;
	rank->waiting = excess.integer < 0 ? "the others waited for it" : "the others wait for it";
	rank->excess = tsi_panel_signed(panel, excess, TSCOPE_UNIT_NS);
	return true;
}

bool tsi_is_line_worth(const struct panel *panel, const struct change *line)
{
	struct change largest = { line->table, 0 };
	int64_t change_ns = tsi_change_int(line, "change_ns");
	int64_t step_ns = tsi_panel_int(panel, "explanation.change_ns");

	return change_ns != 0 && !tsi_change_is(line, "verdict", "no_change") &&
	       !tsi_is_negligible(change_ns, step_ns) &&
	       !tsi_is_negligible(change_ns, tsi_change_int(&largest, "change_ns"));
}

bool tsi_has_certain_line(const struct panel *panel)
{
	struct change line = tsi_change_first(panel, "explanation.lines");

	for (; tsi_change_is_there(&line); line.row++)
		if (tsi_change_is(&line, "certainty", "certain"))
			return true;
	return false;
}

bool tsi_is_negligible(int64_t change_ns, int64_t whole_ns)
{
	/* A hundredth of the whole. */
	return fabs((double)change_ns) * 100 < fabs((double)whole_ns);
}
