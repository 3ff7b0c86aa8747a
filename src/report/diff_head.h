/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_REPORT_DIFF_HEAD_H
#define TSCOPE_REPORT_DIFF_HEAD_H

#include "report/change_words.h"

/* The head of the report of a comparison: lines, each of which tells of one thing that changed. */
struct diff_head {
	const struct panel *panel;
	size_t line_count; /* of what changed */
};

enum { HEAD_TAG_WIDTH = 11 };

/* "  SLOWER   the mean step got …" */
void tsi_head_line(struct diff_head *head, enum text_style style, const char *tag,
		   const char *words);

/* "+13.1 %", or "13.1 %" without a sign. */
void tsi_head_percent(char text[NUMBER_MAX], double ratio, bool is_signed);

/* The step, by its verdict, and what explains its change; nothing where it did not change. */
void tsi_head_step(struct diff_head *head, const char *verdict);

/* "+0.4 ms (+0.4 %) of the mean step is within noise: …", of a step that did not change. */
enum { HEAD_NOISE_MAX = 8 * NUMBER_MAX };
void tsi_head_noise(const struct panel *panel, char text[HEAD_NOISE_MAX]);

#endif
