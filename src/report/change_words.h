/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_REPORT_CHANGE_WORDS_H
#define TSCOPE_REPORT_CHANGE_WORDS_H

#include "analyze/lookup.h"
#include "report/panel.h"

/* What the sections of a comparison share: rows of A, B and the difference, and their words. */

/* A row of a table: cells by the name of their column. */
struct change {
	struct table_view table;
	size_t row;
};

struct change tsi_change_first(const struct panel *panel, const char *table); /* row 0 */
bool tsi_change_is_there(const struct change *change); /* false: behind the last row */

struct tscope_value tsi_change_cell(const struct change *change, const char *column);
int64_t tsi_change_int(const struct change *change, const char *column);      /* 0: absent */
const char *tsi_change_text(const struct change *change, const char *column); /* "": absent */
bool tsi_change_is(const struct change *change, const char *column, const char *text);

/* Was a difference found that is no matter of chance? By the column "verdict". */
bool tsi_change_is_real(const struct change *change);

/* The text of a fact, "" where it is absent. */
const char *tsi_panel_text(const struct panel *panel, const char *id);

/* "p < 0.0001", "p = 0.0012" */
void tsi_p_words(char text[NUMBER_MAX], double p_value);

/* A line of a budget, or a phase, in words: "exposed_comm" → "exposed communication". */
enum { LINE_WORDS_MAX = 64 };
void tsi_line_words(char text[LINE_WORDS_MAX], const char *line);

/* What of kernels or operators changed: "2 new, 1 replaced", or "". */
enum { WORK_COUNTS_MAX = 256 };
void tsi_work_counts(const struct panel *panel, const char *analyzer, char *text, size_t size);

/* Of which of several ranks they are: ", of rank 2", or "". */
void tsi_work_ranks(const struct panel *panel, const char *analyzer, char text[2 * NUMBER_MAX]);

/* The rank that alone changed; false: there is none. */
struct lone_rank {
	int64_t number;
	const char *waiting;     /* "the others wait for it" */
	char excess[NUMBER_MAX]; /* "+589.2 µs": how much more it changed than they */
};

bool tsi_find_lone_rank(const struct panel *panel, struct lone_rank *rank);

/* Is a row of explanation.lines worth a line? Not with no change, with noise, or with little. */
bool tsi_is_line_worth(const struct panel *panel, const struct change *line);

/* "1 new, 2 gone", or "" */
void tsi_finding_counts(const struct panel *panel, char text[2 * NUMBER_MAX]);

/* The figure that says most of how memory changed; false: none does. */
bool tsi_find_memory_change(const struct panel *panel, struct change *fact, const char **what);

/* Figures that changed and matter, of which no section tells but the last. */
bool tsi_is_other_fact(const struct panel *panel, const struct change *fact);
size_t tsi_other_fact_count(const struct panel *panel);

/* A thing of both sides: its name, what became of it, its figure in A and in B. */
struct change_line {
	const char *name; /* may come from an input */
	unsigned indent;  /* of the name */
	const char *word; /* "slower" */
	struct tscope_value a, b, change;
	enum tscope_unit unit;
	bool is_site; /* the name is one */
	bool is_cost; /* more is worse */
	bool is_bold;
	bool is_sum; /* of lines that are not shown: there is a difference only */
};

void tsi_change_headings(const struct panel *panel, const char *name);
void tsi_put_change_line(const struct panel *panel, const struct change_line *line);

/* What is one on one side may be several on the other: their names are joined by " + ". */
enum { ONE_NAME_MAX = 1024, NAMES_SHOWN = 4 };
size_t tsi_count_names(const char *joined);
/* Copies the first name; returns those behind it, NULL where there are none. */
const char *tsi_next_name(char one[ONE_NAME_MAX], const char *joined);

/* Dim lines below one, one for each name: "    in place of sgemm_128x64"; names are cut. */
void tsi_put_change_note(const struct panel *panel, const char *words, const char *name);

/* "  … and 12 more"; nothing where the count is 0. */
void tsi_put_more(const struct panel *panel, size_t count);

/* The same of lines that are left out of a sum: with what they add up to. */
struct change_rest {
	size_t count;
	int64_t ns;
};

void tsi_put_rest(const struct panel *panel, unsigned indent, const struct change_rest *rest);

/* Is it so little of the whole that it explains nothing? */
bool tsi_is_negligible(int64_t change_ns, int64_t whole_ns);

#endif
