/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_FOLDER_H
#define TSCOPE_RUN_FOLDER_H

#include "base/arena.h"

#include <sys/stat.h>

struct tscope_members; /* input/members.h */

/* The entries of one folder in the order of names; hidden ones are left out. */
struct folder_entry {
	const char *path;    /* folder/name */
	int error;           /* errno: it could not be looked at; else 0 */
	struct stat stat;    /* links are followed */
	const char *problem; /* why a member of an archive is left out; or NULL */
	bool is_ignored;     /* for a reason that is no loss */
};

struct folder {
	struct arena arena; /* owns all of it */
	struct folder_entry *items;
	size_t count, capacity;
};

static inline bool tsi_is_folder(const struct folder_entry *entry)
{
	return entry->error == 0 && S_ISDIR(entry->stat.st_mode);
}

/*
 * May a file or folder be there? Also where it cannot be looked at: reading it then says why.
 * members: as in a folder_query.
 */
bool tsi_may_be_there(const struct tscope_members *members, const char *path);

/* Is it a file, or may it be one? */
static inline bool tsi_may_be_file(const struct folder_entry *entry)
{
	return entry->error != 0 || S_ISREG(entry->stat.st_mode);
}

struct folder_query {
	const char *path;  /* "": the current folder, which does not show in the paths */
	struct str prefix; /* only names that begin so */
	size_t max_count;  /* limit of entries */
	const struct tscope_members *members; /* where the folder may be in an archive; or NULL */
};

/*
 * TSCOPE_E_IO: the folder cannot be read; TSCOPE_E_LIMIT: it holds more than max_count. The
 * caller frees ret->arena, on failure, too.
 */
TSI_MUST_CHECK
enum tscope_status tsi_folder_read(struct folder *ret, const struct folder_query *query,
				   struct tscope_error *err);

#endif
