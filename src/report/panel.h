/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_REPORT_PANEL_H
#define TSCOPE_REPORT_PANEL_H

#include "analyze/lookup.h"
#include "report/doc.h"
#include "report/number.h"

#include <tscope/report.h>

/*
 * Inputs of a section, and the document that it is appended to. A section names facts and tables;
 * the functions below look them up and leave out what is absent.
 */
struct panel {
	struct doc *doc;
	const struct tscope_analysis *analysis;
	size_t top; /* rows of a table */
	const struct tscope_gate_result *gates;
	size_t gate_count;
	const struct tscope_diagnosis *diagnosis;  /* NULL: of a comparison */
	const struct tscope_run_report *report;    /* of a run, else NULL */
	const struct tscope_memory_report *memory; /* of a file about memory, else NULL */
	const struct tscope_report_options *options;
	bool all;     /* of a comparison: also what did not change */
	int64_t rank; /* the only one of several that a section speaks of, or -1 */
};

enum { DEFAULT_TOP = 10 };

/* A panel of facts and nothing else. */
struct panel tsi_panel(struct doc *doc, const struct tscope_analysis *analysis,
		       const struct tscope_report_options *options);

/* ---- facts of the whole ---- */

struct tscope_value tsi_panel_value(const struct panel *panel, const char *id); /* or ABSENT */
bool tsi_panel_has(const struct panel *panel, const char *id);
int64_t tsi_panel_int(const struct panel *panel, const char *id);       /* 0: absent */
const char *tsi_panel_text(const struct panel *panel, const char *id);  /* "": absent */
const char *tsi_panel_doubt(const struct panel *panel, const char *id); /* NULL: none */
bool tsi_panel_is(const struct panel *panel, const char *id);           /* a flag that is set */
struct table_view tsi_panel_rows(const struct panel *panel, const char *id);
size_t tsi_panel_row_count(const struct panel *panel, const char *id);

/* ---- words, in the document's memory ---- */

/* A fact as people read it, "-" where it is absent. */
const char *tsi_panel_number(const struct panel *panel, const char *id);

/* Copies of what number.h writes. */
const char *tsi_panel_people(const struct panel *panel, struct tscope_value value,
			     enum tscope_unit unit);
const char *tsi_panel_people_int(const struct panel *panel, int64_t number, enum tscope_unit unit);
const char *tsi_panel_signed(const struct panel *panel, struct tscope_value value,
			     enum tscope_unit unit);
const char *tsi_panel_significant(const struct panel *panel, double value, int digits);

TSI_PRINTF(2, 3) const char *tsi_panel_print(const struct panel *panel, const char *format, ...);

/* A name with blanks in the place of underscores: "data_stall" → "data stall". */
const char *tsi_panel_spaced(const struct panel *panel, const char *name);

/* Appends to a text that begins as "". */
TSI_PRINTF(3, 4)
void tsi_panel_append(const struct panel *panel, const char **text, const char *format, ...);

/* ---- nodes ---- */

/*
 * A section's title with its light, and why the analyzer's figures must not be believed. The
 * severity of a finding on the analyzer's facts outweighs the light. NULL: no analyzer stands
 * behind it.
 */
TSI_PRINTF(5, 6)
void tsi_panel_title(const struct panel *panel, enum doc_tone light, const char *analyzer,
		     const char *title, const char *format, ...);

/* A fact and what to call it: "launches 1,204". */
struct figure {
	const char *label;
	const char *id;
};

/* Figures that are there. */
void tsi_panel_figures(const struct panel *panel, const struct figure *figures, size_t count);

/* A fact that is a part of a whole: "compute 397.5 µs 39.8 %". */
struct part {
	const char *label;
	const char *id;
	enum doc_tone tone;
};

struct whole {
	int64_t value;
	int64_t least; /* parts of no more than this are left out */
	int64_t count; /* what is shown of a part is its mean of so many; 0: all of it */
};

/* Halves up; 0 of none. */
int64_t tsi_mean_of(int64_t sum, int64_t count);

void tsi_panel_parts(const struct panel *panel, const struct whole *whole, const struct part *parts,
		     size_t count);

/* A column of integers, row by row, as a sketch; nothing of fewer rows than `least`. */
void tsi_panel_curve(const struct panel *panel, const char *table, const char *column,
		     size_t least);

struct column {
	const char *heading;
	const char *name; /* in the table's definition; "sum/count": the one by the other */
	unsigned width;   /* 0: what the others leave, for names */
};

/* The first rows of a table, nothing if it is empty. */
void tsi_panel_table(const struct panel *panel, const char *id, const struct column *columns,
		     size_t count);

/* The last parts of a path, as many as are short, and one at least. */
const char *tsi_path_tail(const char *path);

/* A table whose first column has paths, "a/b/c.py(3): f" or "A.B.C", of which the end says most. */
void tsi_panel_paths(const struct panel *panel, const char *id, const struct column *columns,
		     size_t count);

/* A table whose first column names kernels, which are shown as people say them. */
void tsi_panel_kernels(const struct panel *panel, const char *id, const struct column *columns,
		       size_t count);

/* The rows of a table that have most of something. Those where either column is 0 are left out. */
struct ranking {
	const char *table;
	const char *by;     /* a column of integers */
	const char *only;   /* another one, or NULL */
	const char *folder; /* what names lose wherever they hold it, or NULL */
};

/* The first rows of a ranking. */
void tsi_panel_ranking(const struct panel *panel, const struct ranking *ranking,
		       const struct column *columns, size_t count);

/* ---- lines of a head ---- */

/* "DAMAGED  gzip member 1: truncated" */
TSI_PRINTF(3, 4)
void tsi_panel_loss(const struct panel *panel, const char *word, const char *format, ...);

/* "gzip member 1: truncated (byte 918273); results cover only what precedes it" */
const char *tsi_damage_words(const struct panel *panel, const struct tscope_error *damage);

/* VizTracer's ring buffer lost the oldest events: what to do. */
extern const char tsi_overflow_words[];

/* The size of a file: "3.0 MiB", "3.0 MiB (gzip 300 KiB)". */
void tsi_panel_size(const struct panel *panel, struct doc_line *line, uint64_t bytes,
		    uint64_t stored_bytes, const char *compression);

/* "3 traces", "1 trace" */
void tsi_panel_count(const struct panel *panel, struct doc_line *line, int64_t count,
		     const char *one, const char *many);

#endif
