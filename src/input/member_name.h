/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_INPUT_MEMBER_NAME_H
#define TSCOPE_INPUT_MEMBER_NAME_H

#include "input/archive.h"

/* Limits of paths: of an archive, and of a member with it. */
enum { ARCHIVE_MAX_CHARS = 4096, MEMBER_MAX_CHARS = 8192 };

/*
 * Appends the parts of a member's name to the path of the archive: "./a//b/" is "/a/b". Returns
 * why it cannot be a path there, or NULL.
 */
const char *tsi_member_name_join(char path[static MEMBER_MAX_CHARS], const char *name);

/* The path that a link at `path` leads to; false: one that cannot be in the archive. */
bool tsi_member_link_target(char ret[static MEMBER_MAX_CHARS], const char *path,
			    size_t archive_length, const struct archive_member *link);

/* Length of the path of the file that "ranks.tar/rank0.json" goes through; 0: there is none. */
size_t tsi_member_archive_length(const char *path);

#endif
