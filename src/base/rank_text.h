/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_RANK_TEXT_H
#define TSCOPE_BASE_RANK_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Ranks in ascending order as "0-3, 8", six and more at equal distances as "2, 6, ..., 254"; what
 * is longer than 1023 bytes ends in "...".
 *
 *	struct rank_text ranks = { .text = "" };
 *
 *	tsi_rank_text_add(&ranks, 0);
 *	...
 *	tsi_rank_text_end(&ranks);
 *	puts(ranks.text);
 */
struct rank_text {
	char text[1024];
	/* Ranks at equal distances that are not written yet; of one the distance is 0. */
	int64_t first, last, distance, count;
	bool is_full;
};

void tsi_rank_text_add(struct rank_text *text, int64_t rank);
void tsi_rank_text_end(struct rank_text *text);

#endif
