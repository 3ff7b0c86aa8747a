/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_COMM_MEMBER_LISTS_H
#define TSCOPE_COMM_MEMBER_LISTS_H

#include "comm/rank_log.h"

/*
 * The lists of members that the groups of all ranks have, each kept once: every member of a group
 * lists all of them, so that lists of their own would take the square of the number of ranks.
 * Several threads may use it at once.
 */
struct member_lists;

TSI_MUST_CHECK
enum tscope_status tsi_member_lists_new(struct member_lists **ret, struct tscope_error *err);

/* The logs whose lists are here must not be asked for members any more. NULL is fine. */
void tsi_member_lists_free(struct member_lists *lists);

/* Moves the lists of a log there. log->arena remembers if memory ends. */
void tsi_rank_log_share_lists(struct rank_log *log, struct member_lists *lists);

/* Takes the members of all groups of a log away, as if none had been stated. */
void tsi_rank_log_forget_lists(struct rank_log *log);

#endif
