/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_REPORT_TEXT_NODES_H
#define TSCOPE_REPORT_TEXT_NODES_H

#include "report/doc.h"
#include "report/number.h"
#include "report/text_writer.h"

#include <tscope/report.h>

/* The text report's nodes that have columns, each printed as wide as the line allows. */

/* Lines that a node takes on a terminal. */
int tsi_text_lines(const struct doc_node *node, const struct tscope_report_options *options);

/* Style of a tone. */
enum text_style tsi_text_style_of(enum doc_tone tone);

/* A style that a tone has; both do nothing for DOC_PLAIN. */
void tsi_text_begin_tone(struct text_writer *w, enum doc_tone tone);
void tsi_text_end_tone(struct text_writer *w, enum doc_tone tone);
void tsi_text_put_toned(struct text_writer *w, enum doc_tone tone, const char *text);

/* "  … and 12 more", faint; nothing where the count is 0. */
void tsi_text_more(struct text_writer *w, size_t count);

void tsi_text_table(struct text_writer *w, const struct doc_table *table);
void tsi_text_heat(struct text_writer *w, const struct doc_heat *heat);
void tsi_text_changes(struct text_writer *w, const struct doc_changes *changes);
void tsi_text_explanation(struct text_writer *w, const struct doc_explanation *explanation);

#endif
