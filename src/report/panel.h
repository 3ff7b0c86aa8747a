/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_REPORT_PANEL_H
#define TSCOPE_REPORT_PANEL_H

#include "report/number.h"
#include "report/text_writer.h"

#include <tscope/analysis.h>

/*
 * What the sections of the text report are made of. A section names facts and
 * tables, and says in which words and widths; the panel looks them up, puts
 * them into units and leaves out what is absent.
 *
 * To add a section for an analyzer: write a function in one of the section_*.c,
 * declare it below and add a row to the table in report_text.c.
 */
struct panel {
	struct text_writer *w;
	const struct tscope_analysis *analysis;
	size_t top; /* rows of a table */
};

void tsi_section_steps(const struct panel *panel);
void tsi_section_budget(const struct panel *panel);
void tsi_section_device_busy(const struct panel *panel);
void tsi_section_overlap(const struct panel *panel);
void tsi_section_kernels(const struct panel *panel);
void tsi_section_operators(const struct panel *panel);
void tsi_section_launches(const struct panel *panel);
void tsi_section_copies(const struct panel *panel);
void tsi_section_spans(const struct panel *panel);
void tsi_section_python(const struct panel *panel);
void tsi_section_integrity(const struct panel *panel);

/* The trace-level fact as people read it, "-" where it is absent. */
void tsi_panel_number(const struct panel *panel, const char *id, char text[NUMBER_MAX]);

/* "● BUDGET  <format>" with its light, and why the analyzer's figures must not be believed. */
TSI_PRINTF(5, 6)
void tsi_panel_title(const struct panel *panel, enum text_style light, const char *analyzer,
		     const char *title, const char *format, ...);

/* "  compute    397.5 µs  39.8 %  ████░░░░": a part of a whole. */
struct meter {
	const char *label;
	int64_t part_ns, whole_ns;
	int64_t shown_ns; /* the time to print: part_ns, or its share of something else */
	enum text_style style;
};
void tsi_panel_meter(const struct panel *panel, const struct meter *meter);

/* A fact and what to call it: "launches 1,204". */
struct figure {
	const char *label;
	const char *id;
};

/* Figures that are there, on as few lines as they need. */
void tsi_panel_figures(const struct panel *panel, const struct figure *figures, size_t count);

struct column {
	const char *heading;
	const char *name; /* in the table's definition */
	unsigned width;   /* 0: what the others leave, for names */
};

/*
 * The first rows of a table, nothing if it is empty. Columns without a value in
 * any row are left out, and those on the right where the line is too short.
 */
void tsi_panel_table(const struct panel *panel, const char *id, const struct column *columns,
		     size_t count);

#endif
