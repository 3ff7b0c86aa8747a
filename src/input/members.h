/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_INPUT_MEMBERS_H
#define TSCOPE_INPUT_MEMBERS_H

#include "input/input.h"
#include "input/reader.h"

#include <sys/stat.h>

/*
 * Members of archives by path: rank0.json of ranks.tar is ranks.tar/rank0.json, so an archive is a
 * folder to all who look for files. Members of a tar that is a file stay where they are, and are
 * read there, by several threads at once. All others (of a pipe, of a compressed tar, of a zip)
 * would have to be sought from the first byte each time: their bytes are kept, up to a limit.
 *
 * Nothing changes once all archives were added: then any thread may look.
 */
struct tscope_members;

struct member {
	const char *path;         /* ranks.tar/rank0.json */
	const char *archive_path; /* ranks.tar */
	const char *problem;      /* why it is left out: then only its name counts; or NULL */
	bool is_ignored;          /* for a reason that is no loss */
	const char *target;       /* path in the archive that a link leads to, or NULL */
	struct stat stat;         /* device and inode are the same for hard links only */
	/* How the archive or the member ends, if not with its last byte; or NULL. */
	const struct tscope_error *end;
	struct input *archive; /* its bytes are there, from offset on; NULL: in bytes */
	uint64_t offset;
	char *bytes;
	size_t length;              /* of its bytes that are there */
	uint32_t first_child, next; /* members of a folder, by index; 0: none */
};

/* options: of the inputs to come, and their limits; kept as they are. */
TSI_MUST_CHECK
enum tscope_status tsi_members_new(struct tscope_members **ret, const struct input_options *options,
				   struct tscope_error *err);
void tsi_members_free(struct tscope_members *set); /* NULL is fine */

/* As they were given. */
const struct input_options *tsi_members_options(const struct tscope_members *set);

/* Before archives are added: whose bytes are not worth keeping, by its path. */
void tsi_members_leave(struct tscope_members *set, bool (*is_foreign)(const char *path));

/* Before an archive is added: only the file at this path will be read, or NULL: its only file. */
void tsi_members_want(struct tscope_members *set, const char *path);

/*
 * Adds the archive that `in` stands at, which the set owns from now on, even if this fails. Members
 * say themselves what is wrong with them, the archive what ends it early.
 * TSCOPE_E_UNSUPPORTED, _DAMAGED: it holds nothing; _NOMEM.
 */
TSI_MUST_CHECK
enum tscope_status tsi_members_add(struct tscope_members *set, const char *path, struct input *in,
				   struct tscope_error *err);

/* A file, a folder or the archive itself; NULL: it is not in any archive. */
const struct member *tsi_members_find(const struct tscope_members *set, const char *path);

/* The only file of the archive `path`; or NULL, and *example is one of several, or NULL. */
const struct member *tsi_members_find_only(const struct tscope_members *set, const char *path,
					   const char **example);

/* Whether a file or folder is called so, read or left out. O(members). */
bool tsi_members_name(const struct tscope_members *set, const char *path);

/* Members of a folder, in no order; NULL after the last. */
const struct member *tsi_members_first(const struct tscope_members *set,
				       const struct member *folder);
const struct member *tsi_members_next(const struct tscope_members *set,
				      const struct member *member);

/* As stat(2), also for members; set may be NULL. */
int tsi_members_stat(const struct tscope_members *set, const char *path, struct stat *ret);

/* Standard input, which was looked at and holds no archive: it goes to who opens it next. */
void tsi_members_keep_input(struct tscope_members *set, struct input *in);
struct input *tsi_members_take_input(const struct tscope_members *set);

/* The bytes of a member, as a source (reader.h). */
TSI_MUST_CHECK
enum tscope_status tsi_member_open(struct reader **ret, const struct member *member,
				   struct flow *flow, struct tscope_error *err);

#endif
