/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_REPORT_HTML_WRITER_H
#define TSCOPE_REPORT_HTML_WRITER_H

#include "base/attributes.h"
#include "report/doc.h"

#include <stdio.h>

struct report_subject;

/*
 * A text between tags or within the quotes of an attribute. Bytes that are no UTF-8, controls and
 * marks that turn the direction of writing become visible, as on a terminal.
 */
void tsi_html_text(FILE *out, const char *text);
void tsi_html_str(FILE *out, struct str text);

/* A table, a comparison, a heat map: nodes with rows (html_table.c). */
void tsi_html_table(FILE *out, const struct doc_table *table, size_t number, const char *label);
void tsi_html_changes(FILE *out, const struct doc_changes *changes, size_t number);
void tsi_html_heat(FILE *out, const struct doc_heat *heat);
void tsi_html_series(FILE *out, const struct doc_series *series);

/*
 * A finding, the number-th of its part of the report, which has this name; a gate as a row
 * (html_finding.c).
 */
void tsi_html_finding(FILE *out, const struct tscope_finding *finding, const char *name,
		      size_t part, size_t number);
void tsi_html_gate(FILE *out, const struct tscope_gate_result *gate);

/* A class for a tone: "bad", "plain" … */
const char *tsi_html_tone(enum doc_tone tone);

/* A bar of a share, drawn without script. */
void tsi_html_bar(FILE *out, double ratio, const char *class_name);

/*
 * The data that the page's pictures are drawn from, one object for each part of the report, as the
 * contents of a script element that no browser runs (html_data.c).
 * False: no memory.
 */
TSI_MUST_CHECK
bool tsi_html_data(FILE *out, const struct report_subject *subject);

#endif
