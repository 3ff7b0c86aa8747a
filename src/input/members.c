/* SPDX-License-Identifier: MIT */
/* Lists archives (archive.h) as folders, with the bytes of members that can be read but once. */
#define _XOPEN_SOURCE 700 /* S_IFREG */
#include "input/members.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "base/intern.h"
#include "input/archive.h"
#include "input/member_name.h"

/* Limits of a hostile archive. */
enum {
	MAX_MEMBERS = 1 << 20,
};
#define MAX_KEPT_BYTES (UINT64_C(4) << 30)
#define RATIO_CHECKED_FROM_BYTES (UINT64_C(64) << 20)
#define DEFAULT_MAX_RATIO 1000

struct tscope_members {
	struct input_options options;
	bool (*is_foreign)(const char *path);
	bool is_for_one; /* file: the one at the path `wanted`, or NULL: the only one */
	const char *wanted;
	struct arena arena;
	struct intern paths;
	uint32_t *index_of; /* member by id of its path; 0: none */
	size_t id_capacity;
	struct member *items; /* [0] is none */
	size_t count, capacity;
	struct input **archives;
	size_t archive_count, archive_capacity;
	uint64_t kept_bytes;
	struct input *pending; /* standard input */
};

enum tscope_status tsi_members_new(struct tscope_members **ret, const struct input_options *options,
				   struct tscope_error *err)
{
	struct tscope_members *set;

	if (tsi_array_new(&set, 1, sizeof(*set), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	set->options = *options;
	set->options.members = NULL;
	*ret = set;
	return TSCOPE_OK;
}

void tsi_members_free(struct tscope_members *set)
{
	if (!set)
		return;
	for (size_t i = 1; i < set->count; i++)
		free(set->items[i].bytes);
	for (size_t i = 0; i < set->archive_count; i++)
		tsi_input_close(set->archives[i]);
	tsi_input_close(set->pending);
	free(set->items);
	free(set->index_of);
	free(set->archives);
	tsi_intern_deinit(&set->paths);
	tsi_arena_deinit(&set->arena);
	free(set);
}

const struct input_options *tsi_members_options(const struct tscope_members *set)
{
	return &set->options;
}

void tsi_members_leave(struct tscope_members *set, bool (*is_foreign)(const char *path))
{
	set->is_foreign = is_foreign;
}

void tsi_members_want(struct tscope_members *set, const char *path)
{
	set->is_for_one = true;
	set->wanted = path;
}

/* ---- looking ---- */

static uint32_t index_of(const struct tscope_members *set, struct str path)
{
	uint32_t id = set->count ? tsi_intern_find(&set->paths, path) : UINT32_MAX;

	return id == UINT32_MAX ? 0 : set->index_of[id];
}

const struct member *tsi_members_find(const struct tscope_members *set, const char *path)
{
	uint32_t index = index_of(set, tsi_str_of(path));

	return index ? &set->items[index] : NULL;
}

const struct member *tsi_members_first(const struct tscope_members *set,
				       const struct member *folder)
{
	return folder->first_child ? &set->items[folder->first_child] : NULL;
}

const struct member *tsi_members_next(const struct tscope_members *set, const struct member *member)
{
	return member->next ? &set->items[member->next] : NULL;
}

int tsi_members_stat(const struct tscope_members *set, const char *path, struct stat *ret)
{
	const struct member *member = set ? tsi_members_find(set, path) : NULL;

	if (!member)
		return stat(path, ret);
	*ret = member->stat;
	return 0;
}

static bool is_file(const struct member *member)
{
	return S_ISREG(member->stat.st_mode) && !member->problem;
}

const struct member *tsi_members_find_only(const struct tscope_members *set, const char *path,
					   const char **example)
{
	struct str folder = tsi_str_of(path);
	const struct member *only = NULL;

	*example = NULL;
	for (size_t i = 1; i < set->count; i++) {
		const struct member *member = &set->items[i];

		if (!is_file(member) || !tsi_str_has_prefix(tsi_str_of(member->path), folder))
			continue;
		*example = member->path;
		if (only)
			return NULL;
		only = member;
	}
	return only;
}

bool tsi_members_name(const struct tscope_members *set, const char *path)
{
	for (size_t i = 1; i < set->count; i++)
		if (strcmp(set->items[i].path, path) == 0)
			return true;
	return false;
}

void tsi_members_keep_input(struct tscope_members *set, struct input *in)
{
	tsi_input_close(set->pending);
	set->pending = in;
}

struct input *tsi_members_take_input(const struct tscope_members *set)
{
	struct input *in = set->pending;

	((struct tscope_members *)set)->pending = NULL;
	return in;
}

/* ---- adding ---- */

/* An archive that is being added. */
struct adding {
	struct tscope_members *set;
	struct archive_walk *walk;
	struct input *in;
	uint32_t root;
	dev_t device;
	size_t file_count;
};

/* Appends a member that no path leads to yet; 0 without memory. */
static uint32_t append(struct adding *adding, const char *path, struct tscope_error *err)
{
	struct tscope_members *set = adding->set;
	const char *archive_path = adding->root ? set->items[adding->root].path : path;

	if (set->count == 0)
		set->count = 1;
	if (tsi_array_reserve(&set->items, &set->capacity, set->count + 1, sizeof(*set->items),
			      err) != TSCOPE_OK)
		return 0;
	if (set->count == 1)
		memset(&set->items[0], 0, sizeof(set->items[0]));
	set->items[set->count] = (struct member){ .path = path, .archive_path = archive_path };
	return (uint32_t)set->count++;
}

static void put_into(struct tscope_members *set, uint32_t folder, uint32_t index)
{
	set->items[index].next = set->items[folder].first_child;
	set->items[folder].first_child = index;
}

/* The place of a path, new or not; without memory NULL. */
static uint32_t *place_of(struct tscope_members *set, struct str path, struct tscope_error *err)
{
	size_t before = set->paths.count;
	uint32_t id;

	if (tsi_intern_add(&set->paths, path, &id, err) != TSCOPE_OK ||
	    tsi_array_reserve(&set->index_of, &set->id_capacity, set->paths.count,
			      sizeof(*set->index_of), err) != TSCOPE_OK)
		return NULL;
	for (size_t i = before; i < set->paths.count; i++)
		set->index_of[i] = 0;
	return &set->index_of[id];
}

/* A new member at a path that has none; 0 without memory. */
static uint32_t add_at(struct adding *adding, struct str path, uint32_t folder, mode_t mode,
		       struct tscope_error *err)
{
	struct tscope_members *set = adding->set;
	uint32_t *place = place_of(set, path, err);
	uint32_t index = 0;

	if (place)
		index = append(adding, tsi_arena_copy(&set->arena, path), err);
	if (index == 0)
		return 0;
	*place = index;
	set->items[index].stat = (struct stat){
		.st_mode = mode,
		.st_dev = adding->device,
		.st_ino = adding->root ? index - adding->root + 1 : 1,
	};
	if (folder)
		put_into(set, folder, index);
	return index;
}

/* Something that is left out, and why; beside its path there may be another one. */
static enum tscope_status leave_out(struct adding *adding, const char *name, const char *problem,
				    bool is_ignored, struct tscope_error *err)
{
	struct tscope_members *set = adding->set;
	const char *root = set->items[adding->root].path;
	uint32_t index =
		append(adding, tsi_arena_print(&set->arena, "%s/%.4096s", root, name), err);

	if (index == 0)
		return TSCOPE_E_NOMEM;
	set->items[index].problem = tsi_arena_copy(&set->arena, tsi_str_of(problem));
	set->items[index].is_ignored = is_ignored;
	put_into(set, adding->root, index);
	return TSCOPE_OK;
}

/* The folders around a path, which are made where they are not there; 0: no memory, or *problem. */
static uint32_t add_folders(struct adding *adding, const char *path, const char **problem,
			    struct tscope_error *err)
{
	uint32_t folder = adding->root;
	const char *at = path + strlen(adding->set->items[folder].path) + 1;

	*problem = NULL;
	for (const char *slash = strchr(at, '/'); slash; slash = strchr(slash + 1, '/')) {
		struct str above = { path, (size_t)(slash - path) };
		uint32_t index = index_of(adding->set, above);

		if (index && !S_ISDIR(adding->set->items[index].stat.st_mode)) {
			*problem = "it lies in what is a file as well";
			return 0;
		}
		if (!index)
			index = add_at(adding, above, folder, S_IFDIR, err);
		if (!index)
			return 0;
		folder = index;
	}
	return folder;
}

/* ---- bytes ---- */

static const struct tscope_error *keep_error(struct tscope_members *set,
					     const struct tscope_error *why)
{
	struct tscope_error *kept = tsi_arena_new(&set->arena, 1, sizeof(*kept));

	if (kept)
		*kept = *why;
	return kept;
}

/* May so many more bytes be kept? Else why is filled. */
static enum tscope_status check_limits(const struct adding *adding, uint64_t more,
				       struct tscope_error *why)
{
	const struct tscope_members *set = adding->set;
	const struct input_options *o = &set->options;
	uint64_t max_ratio = o->max_ratio ? o->max_ratio : DEFAULT_MAX_RATIO;
	uint64_t max_bytes = o->max_output_bytes && o->max_output_bytes < MAX_KEPT_BYTES
				     ? o->max_output_bytes
				     : MAX_KEPT_BYTES;
	uint64_t bytes = set->kept_bytes + (more < MAX_KEPT_BYTES ? more : MAX_KEPT_BYTES);

	if (bytes > max_bytes)
		return tsi_fail(why, TSCOPE_E_LIMIT,
				"with it the archive holds more than %llu bytes that would have to "
				"be kept (limit: bytes kept of archives): unpack it first",
				(unsigned long long)max_bytes);
	if (bytes > RATIO_CHECKED_FROM_BYTES &&
	    bytes / max_ratio > tsi_input_stored_bytes(adding->in))
		return tsi_fail(why, TSCOPE_E_LIMIT,
				"the archive grows to more than %llu times its size (limit: "
				"decompression ratio)",
				(unsigned long long)max_ratio);
	return TSCOPE_OK;
}

/* Appends bytes to those that are kept, with the zeros of a hole before them. */
static enum tscope_status append_bytes(struct adding *adding, struct member *member,
				       size_t *capacity, const struct archive_bytes *bytes,
				       struct tscope_error *why)
{
	uint64_t end = bytes->at + bytes->length;

	if (end <= member->length || bytes->at < member->length)
		return TSCOPE_OK;
	if (check_limits(adding, end - member->length, why) != TSCOPE_OK)
		return TSCOPE_E_LIMIT;
	if (tsi_array_reserve(&member->bytes, capacity, (size_t)end, 1, why) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	memset(member->bytes + member->length, 0, (size_t)(bytes->at - member->length));
	if (bytes->length > 0)
		memcpy(member->bytes + bytes->at, bytes->data, bytes->length);
	adding->set->kept_bytes += end - member->length;
	member->length = (size_t)end;
	return TSCOPE_OK;
}

/* Keeps the bytes of the present member, as far as they can be had. */
static enum tscope_status keep_bytes(struct adding *adding, struct member *member,
				     struct tscope_error *err)
{
	struct tscope_members *set = adding->set;
	struct tscope_error why = { 0 };
	size_t capacity = 0;
	enum tscope_status status = TSCOPE_OK;

	while (status == TSCOPE_OK) {
		struct archive_bytes bytes;
		enum tscope_status kept;

		status = tsi_archive_read(adding->walk, &bytes, &why);
		if (status == TSCOPE_END)
			bytes.at = (uint64_t)member->stat.st_size; /* a hole may stand there, too */
		kept = append_bytes(adding, member, &capacity, &bytes, &why);
		status = kept == TSCOPE_OK ? status : kept;
	}
	if (status == TSCOPE_E_NOMEM)
		return tsi_fail_nomem(err);
	if (member->length < capacity) {
		char *fitting = realloc(member->bytes, member->length);

		member->bytes = fitting ? fitting : member->bytes;
	}
	member->stat.st_size = (off_t)member->length;
	if (status != TSCOPE_END)
		member->end = keep_error(set, &why);
	return tsi_arena_status(&set->arena, err);
}

/* Will nobody read it? */
static bool is_unwanted(const struct tscope_members *set, const struct member *member)
{
	if (set->wanted)
		return strcmp(member->path, set->wanted) != 0;
	return set->is_foreign && set->is_foreign(member->path);
}

static enum tscope_status find_bytes(struct adding *adding, struct member *member,
				     const struct archive_member *found, struct tscope_error *err)
{
	struct tscope_members *set = adding->set;
	uint64_t size = (uint64_t)found->stat.st_size, end = tsi_input_source_bytes(adding->in);

	if (found->offset < 0)
		return is_unwanted(set, member) ? TSCOPE_OK : keep_bytes(adding, member, err);
	member->archive = adding->in;
	member->offset = (uint64_t)found->offset;
	member->length = (size_t)size;
	if (member->offset > end || size > end - member->offset) {
		struct tscope_error why;

		member->length = (size_t)(member->offset < end ? end - member->offset : 0);
		tsi_fail(&why, TSCOPE_E_DAMAGED, "the archive ends inside it");
		member->end = keep_error(set, &why);
	}
	return tsi_arena_status(&set->arena, err);
}

/* ---- kinds of members ---- */

/* Links are not followed: what they lead to in the archive is read under its own name. */
static enum tscope_status add_link(struct adding *adding, const char *path,
				   const struct archive_member *found, struct tscope_error *err)
{
	struct tscope_members *set = adding->set;
	size_t root_length = strlen(set->items[adding->root].path);
	char target[MEMBER_MAX_CHARS];
	bool may_be_inside = tsi_member_link_target(target, path, root_length, found);
	const char *problem = tsi_arena_print(
		&set->arena, "a link to %.200s, which the archive does not hold", found->target);

	if (leave_out(adding, path + root_length + 1, problem, false, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (may_be_inside)
		set->items[set->count - 1].target = tsi_arena_copy(&set->arena, tsi_str_of(target));
	return TSCOPE_OK;
}

/* Links to what came behind them, too. */
static void settle_links(struct adding *adding)
{
	struct tscope_members *set = adding->set;

	for (size_t i = adding->root; i < set->count; i++) {
		struct member *member = &set->items[i];

		if (!member->target || index_of(set, tsi_str_of(member->target)) == 0)
			continue;
		member->is_ignored = true;
		member->problem = tsi_arena_print(
			&set->arena, "a link to %.200s, which is read itself", member->target);
	}
}

static enum tscope_status replace(struct adding *adding, struct member *earlier,
				  struct tscope_error *err)
{
	const char *name = earlier->path + strlen(adding->set->items[adding->root].path) + 1;

	adding->set->kept_bytes -= earlier->bytes ? earlier->length : 0;
	free(earlier->bytes);
	earlier->bytes = NULL;
	earlier->length = 0;
	earlier->end = NULL;
	earlier->archive = NULL;
	return leave_out(adding, name, "a later member of the archive has the same name", true,
			 err);
}

static enum tscope_status add_file(struct adding *adding, const char *path, uint32_t folder,
				   const struct archive_member *found, struct tscope_error *err)
{
	struct tscope_members *set = adding->set;
	uint32_t index = index_of(set, tsi_str_of(path));
	const char *name = path + strlen(set->items[adding->root].path) + 1;

	if (index && !S_ISREG(set->items[index].stat.st_mode))
		return leave_out(adding, name, "a file that is a folder as well", false, err);
	if (index && replace(adding, &set->items[index], err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (!index)
		index = add_at(adding, tsi_str_of(path), folder, S_IFREG, err);
	if (!index)
		return TSCOPE_E_NOMEM;
	adding->file_count++;
	set->items[index].stat.st_size = found->stat.st_size;
	set->items[index].stat.st_mtim = found->stat.st_mtim;
	return find_bytes(adding, &set->items[index], found, err);
}

static enum tscope_status add_member(struct adding *adding, const struct archive_member *found,
				     struct tscope_error *err)
{
	struct tscope_members *set = adding->set;
	const char *root = set->items[adding->root].path, *problem;
	char path[MEMBER_MAX_CHARS];
	size_t root_length = strlen(root);
	mode_t mode = found->stat.st_mode;

	memcpy(path, root, root_length + 1);
	problem = tsi_member_name_join(path, found->name);
	if (!problem && path[root_length] == '\0')
		return TSCOPE_OK; /* "./" */
	uint32_t folder = problem ? 0 : add_folders(adding, path, &problem, err);
	if (!problem && folder == 0)
		return TSCOPE_E_NOMEM;
	if (!problem && found->is_encrypted)
		problem = "encrypted: unpack the archive first";
	if (problem)
		return leave_out(adding, found->name, problem, false, err);
	if (S_ISDIR(mode))
		return index_of(set, tsi_str_of(path)) ||
				       add_at(adding, tsi_str_of(path), folder, S_IFDIR, err)
			       ? TSCOPE_OK
			       : TSCOPE_E_NOMEM;
	if (found->target && (found->is_hard_link || S_ISLNK(mode)))
		return add_link(adding, path, found, err);
	if (!S_ISREG(mode))
		return leave_out(adding, path + root_length + 1, "not a regular file", true, err);
	return add_file(adding, path, folder, found, err);
}

/* ---- an archive ---- */

static enum tscope_status add_members(struct adding *adding, struct tscope_error *err)
{
	struct tscope_members *set = adding->set;
	struct tscope_error why = { 0 };
	size_t count = 0;
	enum tscope_status status;

	for (;; count++) {
		struct archive_member found;

		status = tsi_archive_next(adding->walk, &found, &why);
		if (status == TSCOPE_OK && count == MAX_MEMBERS)
			status = tsi_fail(&why, TSCOPE_E_LIMIT,
					  "more than %d members (limit: members of an archive)",
					  MAX_MEMBERS);
		if (status != TSCOPE_OK)
			break;
		if (add_member(adding, &found, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		if (set->is_for_one && !set->wanted && adding->file_count > 1)
			return TSCOPE_OK; /* enough to say so */
	}
	settle_links(adding);
	if (status == TSCOPE_END)
		return TSCOPE_OK;
	if (status == TSCOPE_E_NOMEM)
		return tsi_fail_nomem(err);
	if (count == 0 && !why.has_offset) /* its bytes can be read, and are no archive */
		return tsi_input_refuse_archive(adding->in, err);
	tsi_fail_within(&why, "%s, behind member %zu", tsi_input_archive(adding->in), count);
	if (count > 0)
		set->items[adding->root].end = keep_error(set, &why);
	else if (err)
		*err = why;
	return count > 0 ? tsi_arena_status(&set->arena, err) : status;
}

static enum tscope_status add_root(struct adding *adding, const char *path,
				   struct tscope_error *err)
{
	struct tscope_members *set = adding->set;
	struct stat found = { 0 };
	struct str name = tsi_str_of(path);

	if (name.length >= ARCHIVE_MAX_CHARS)
		return tsi_fail(err, TSCOPE_E_LIMIT, "its path is too long for an archive");
	if (set->paths.slots == NULL &&
	    tsi_intern_init(&set->paths, UINT32_MAX - 1, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &found) == 0 : stat(path, &found) == 0)
		adding->device = ~(found.st_dev ^ (found.st_ino << 8)); /* as no real one is */
	adding->root = add_at(adding, name, 0, S_IFDIR, err);
	return adding->root ? TSCOPE_OK : TSCOPE_E_NOMEM;
}

enum tscope_status tsi_members_add(struct tscope_members *set, const char *path, struct input *in,
				   struct tscope_error *err)
{
	struct adding adding = { .set = set, .in = in };
	enum tscope_status status =
		tsi_array_reserve(&set->archives, &set->archive_capacity, set->archive_count + 1,
				  sizeof(struct input *), err);

	if (status != TSCOPE_OK) {
		tsi_input_close(in);
		return status;
	}
	set->archives[set->archive_count++] = in;
	status = add_root(&adding, path, err);
	if (status == TSCOPE_OK)
		status = tsi_archive_open(&adding.walk, in, err);
	if (status == TSCOPE_E_FORMAT)
		status = tsi_input_refuse_archive(in, err);
	else if (status < 0 && status != TSCOPE_E_NOMEM)
		tsi_fail_within(err, "%s", tsi_input_archive(in));
	if (status == TSCOPE_OK)
		status = add_members(&adding, err);
	tsi_archive_close(adding.walk);
	return status == TSCOPE_OK ? tsi_arena_status(&set->arena, err) : status;
}
