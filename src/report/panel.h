/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_REPORT_PANEL_H
#define TSCOPE_REPORT_PANEL_H

#include "analyze/lookup.h"
#include "report/number.h"
#include "report/reporter.h"
#include "report/text_writer.h"

/*
 * What the sections of the text report are made of. A section names facts and
 * tables, and says in which words and widths; the panel looks them up, puts
 * them into units and leaves out what is absent.
 */
struct panel {
	struct text_writer *w;
	const struct tscope_analysis *analysis;
	size_t top; /* rows of a table */
	const struct tscope_gate_result *gates;
	size_t gate_count;
	const struct tscope_diagnosis *diagnosis; /* NULL for a trace, which has facts only */
	/* Of a run, else NULL. */
	const struct tscope_run_report *report;
	/* Of a file about memory, else NULL. */
	const struct tscope_memory_report *memory;
	bool verbose;
	bool all;     /* of a comparison: also what did not change */
	int64_t rank; /* the only one of several that a section speaks of, or -1 */
};

/* A writer for this stream, as the options want it. */
struct text_writer tsi_panel_writer(FILE *out, const struct tscope_report_options *options);

/* A line of the head in red: "DAMAGED  gzip member 1: truncated"; the text is made harmless. */
void tsi_panel_loss(const struct panel *panel, const char *word, const char *text);

/* "gzip member 1: truncated (byte 918273); what follows is missing from every figure" */
enum { DAMAGE_MAX = 640 };
void tsi_damage_words(char words[DAMAGE_MAX], const struct tscope_error *damage);

/* VizTracer's ring buffer lost the oldest events: what to do. */
extern const char tsi_overflow_words[];

/* The size of a file: "3.0 MiB", "3.0 MiB (gzip 300 KiB)". */
void tsi_panel_size(struct text_flow *flow, uint64_t bytes, uint64_t stored_bytes,
		    const char *compression);

/* "3 traces", "1 trace" */
void tsi_panel_count(struct text_flow *flow, int64_t count, const char *one, const char *many);

/* The fact of the whole; ABSENT where it is not known. */
struct tscope_value tsi_panel_value(const struct panel *panel, const char *id);

/* Is it there? */
bool tsi_panel_has(const struct panel *panel, const char *id);

/* The same as people read it, "-" where it is absent. */
void tsi_panel_number(const struct panel *panel, const char *id, char text[NUMBER_MAX]);

/*
 * "● BUDGET  <format>" with its light, and why the analyzer's figures must not
 * be believed. What a finding says of the analyzer's facts outweighs the light.
 */
TSI_PRINTF(5, 6)
void tsi_panel_title(const struct panel *panel, enum text_style light, const char *analyzer,
		     const char *title, const char *format, ...);

/* The same of a section that no analyzer stands behind; rest: what follows the title, or "". */
void tsi_panel_plain_title(const struct panel *panel, enum text_style light, const char *title,
			   const char *rest);

enum text_style tsi_severity_style(enum tscope_severity severity);

/* "  compute    397.5 µs  39.8 %  ████░░░░": a part of a whole. */
struct meter {
	const char *label; /* may come from an input */
	int64_t part, whole;
	int64_t shown; /* what to print: the part, or its share of something else */
	enum text_style style;
	enum tscope_unit unit;
};
void tsi_panel_meter(const struct panel *panel, const struct meter *meter);

/* The same with a name of the input in the place of the bar. */
void tsi_panel_part(const struct panel *panel, const struct meter *meter, const char *name);

/* A fact and what to call it: "launches 1,204". */
struct figure {
	const char *label;
	const char *id;
};

/*
 * A sketch of a series, in the order of time. Where there are more values than
 * columns a tick stands for several and shows the highest, so that no spike is lost.
 */
struct sketch {
	const void *source;
	bool (*get)(const void *source, size_t index, double *value); /* false: there is none */
	size_t count;
};
void tsi_panel_sparkline(const struct panel *panel, const struct sketch *sketch);

/* The same of a column of integers, row by row. Two points make no line. */
void tsi_panel_curve(const struct panel *panel, const char *table, const char *column);

/* Figures that are there, on as few lines as they need. */
void tsi_panel_figures(const struct panel *panel, const struct figure *figures, size_t count);

/* The rows of a table of the whole. */
struct table_view tsi_panel_rows(const struct panel *panel, const char *id);

struct column {
	const char *heading;
	const char *name; /* in the table's definition; "sum/count": the one by the other */
	unsigned width;   /* 0: what the others leave, for names */
};

/*
 * The first rows of a table, nothing if it is empty. Columns without a value in
 * any row are left out, and those on the right where the line is too short.
 */
void tsi_panel_table(const struct panel *panel, const char *id, const struct column *columns,
		     size_t count);

/* The rows of a table that have most of something. Those where either column is 0 are left out. */
struct ranking {
	const char *table;
	const char *by;     /* a column of integers */
	const char *only;   /* another one, or NULL */
	const char *folder; /* what names lose wherever they hold it, or NULL */
};

/* The same of a table that is in another order. */
void tsi_panel_ranking(const struct panel *panel, const struct ranking *ranking,
		       const struct column *columns, size_t count);

#endif
