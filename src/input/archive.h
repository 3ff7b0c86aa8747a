/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_INPUT_ARCHIVE_H
#define TSCOPE_INPUT_ARCHIVE_H

#include "input/input.h"

#include <sys/stat.h>

/*
 * A tar or zip archive, member by member, by libarchive. It sees bytes that our filters have
 * decompressed, and nothing of the file system.
 */
struct archive_walk;

struct archive_member {
	const char *name;   /* as it stands there; "" if it has none */
	const char *target; /* of a link; or NULL */
	bool is_hard_link;
	bool is_encrypted;
	struct stat stat; /* mode, size (0: not known yet) and time of change */
	/* Its bytes stand together in the input, from here on; else -1. */
	int64_t offset;
};

/*
 * Begins to walk through `in`, which stands at its first byte and outlives the walk.
 * TSCOPE_E_UNSUPPORTED: this build or machine has no libarchive, or zip cannot be read there;
 * TSCOPE_E_FORMAT: it only begins as an archive does.
 */
TSI_MUST_CHECK
enum tscope_status tsi_archive_open(struct archive_walk **ret, struct input *in,
				    struct tscope_error *err);
void tsi_archive_close(struct archive_walk *walk); /* NULL is fine */

/* The next member; its texts live until the next call. TSCOPE_END: there are no more. */
TSI_MUST_CHECK
enum tscope_status tsi_archive_next(struct archive_walk *walk, struct archive_member *ret,
				    struct tscope_error *err);

/* Bytes of the present member, until the next call; between `at` and those before are zeros. */
struct archive_bytes {
	const void *data;
	size_t length;
	uint64_t at; /* offset in the member */
};

/* The next ones. TSCOPE_END: there are no more. Those that came before an error are good. */
TSI_MUST_CHECK
enum tscope_status tsi_archive_read(struct archive_walk *walk, struct archive_bytes *ret,
				    struct tscope_error *err);

#endif
