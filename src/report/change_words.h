/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_REPORT_CHANGE_WORDS_H
#define TSCOPE_REPORT_CHANGE_WORDS_H

#include "report/panel.h"

/* Shared by the sections of a comparison: rows of A, B and the difference, and their words. */

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

/* Is the verdict on the step this one? */
bool tsi_is_step(const struct panel *panel, const char *verdict);

/* A line of a budget, or a phase, in words: "exposed_comm" → "exposed communication". */
const char *tsi_line_words(const struct panel *panel, const char *line);

/* Why a device is idle: "python" → "Python between operators". */
const char *tsi_cause_words(const struct panel *panel, const char *cause);

/*
 * Change of a part of the step: "slower" → "longer". Its time says how long it takes, not whether
 * it does more.
 */
const char *tsi_part_words(const struct panel *panel, const char *change);

/* Counts of changed kernels or operators: "2 new, 1 replaced", or "". */
const char *tsi_work_counts(const struct panel *panel, const char *analyzer);

/* The rank whose kernels or operators were compared: " (compared on rank 2)", or "". */
const char *tsi_work_ranks(const struct panel *panel, const char *analyzer);

/* The rank that alone changed; false: there is none. */
struct lone_rank {
	int64_t number;
	const char *waiting; /* "the others wait for it" */
	const char *excess;  /* "+589.2 µs": how much more it changed than they */
};

bool tsi_find_lone_rank(const struct panel *panel, struct lone_rank *rank);

/* Is a row of explanation.lines worth a line? Not with no change, with noise, or with little. */
bool tsi_is_line_worth(const struct panel *panel, const struct change *line);

/* Is the change of a line significant? It may be where that of the whole step is not. */
bool tsi_has_certain_line(const struct panel *panel);

/* "new", "worse", "better", "gone", "same", or "similar" of what is hardly new or gone. */
const char *tsi_finding_change(const struct change *finding);
/* "1 new, 2 gone, 1 similar", or "" */
const char *tsi_finding_counts(const struct panel *panel);

/* The figure that says most of how memory changed; false: none does. */
bool tsi_find_memory_change(const struct panel *panel, struct change *fact, const char **what);

/* Figures that changed and matter, and that only the last section shows. */
bool tsi_is_other_fact(const struct panel *panel, const struct change *fact);
size_t tsi_other_fact_count(const struct panel *panel);

/* "+13.1 %", or "13.1 %" without a sign. */
const char *tsi_percent_words(const struct panel *panel, double ratio, bool is_signed);

/* Appends the head's lines on the step: its change and the explanation. */
void tsi_put_step_change(const struct panel *panel);

/* Is there no sign that the step changed? */
bool tsi_is_unchanged(const struct panel *panel);

/* "+0.4 ms (+0.4 %) of the mean step is within noise: …", of a step that did not change. */
const char *tsi_noise_words(const struct panel *panel);

/* Is it so little of the whole that it explains nothing? */
bool tsi_is_negligible(int64_t change_ns, int64_t whole_ns);

#endif
