/* SPDX-License-Identifier: MIT */
/*
 * libarchive at work: tar and zip only, and none of its decompressors around them, which know no
 * limits of ours. It is loaded by the first archive, because it brings twelve libraries along,
 * which would make every start of the program several times as long.
 */
#define _XOPEN_SOURCE 700 /* S_IFREG */
#include "input/archive.h"

#include "base/error.h"
#include "base/library.h"
#include "config.h"

#if HAVE_ARCHIVE

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define CALLS(X) \
	X(archive_entry_filetype) X(archive_entry_hardlink) X(archive_entry_hardlink_utf8) \
	X(archive_entry_is_encrypted) X(archive_entry_mtime) X(archive_entry_mtime_nsec) \
	X(archive_entry_pathname) X(archive_entry_pathname_utf8) X(archive_entry_size) \
	X(archive_entry_sparse_count) X(archive_entry_symlink) X(archive_entry_symlink_utf8) \
	X(archive_errno) X(archive_error_string) X(archive_filter_bytes) X(archive_format) \
	X(archive_read_data_block) X(archive_read_free) X(archive_read_new) \
	X(archive_read_next_header) X(archive_read_open1) X(archive_read_set_callback_data) \
	X(archive_read_set_read_callback) X(archive_read_set_seek_callback) \
	X(archive_read_set_skip_callback) X(archive_read_support_format_tar) \
	X(archive_read_support_format_zip_seekable)
/* clang-format on */

struct calls {
	CALLS(TSI_CALL_MEMBER)
};

enum { BLOCK_BYTES = 64 << 10, RECORD_BYTES = 512, LEAST_ZIP_BYTES = 98 };

struct archive_walk {
	struct calls calls;
	struct archive *archive;
	struct input *in;
	bool has_places;
	uint64_t at;                /* where reading goes on, in an input with places */
	size_t shown;               /* bytes of the input that libarchive looks at, in others */
	enum tscope_status failure; /* of the input, with its error */
	struct tscope_error error;
	bool has_ended;          /* it wanted more bytes than there are */
	char last[RECORD_BYTES]; /* of the bytes shown last in inputs without places */
	char block[BLOCK_BYTES];
};

#ifdef ARCHIVE_LIBRARY

static enum tscope_status load_calls(struct archive_walk *walk, struct tscope_error *err)
{
	static const char names[][48] = { CALLS(TSI_CALL_NAME) };

	if (!tsi_library_load(&walk->calls, ARCHIVE_LIBRARY, names, TSI_COUNT_OF(names)))
		return tsi_fail(err, TSCOPE_E_UNSUPPORTED,
				"cannot load " ARCHIVE_LIBRARY
				": install it (Debian: libarchive13), or unpack the archive first");
	return TSCOPE_OK;
}

#else

static enum tscope_status load_calls(struct archive_walk *walk, struct tscope_error *err)
{
	(void)err;
	walk->calls = (struct calls){ CALLS(TSI_CALL_ITSELF) };
	return TSCOPE_OK;
}

#endif

/* ---- what libarchive calls ---- */

static la_ssize_t read_places(struct archive *archive, void *data, const void **bytes)
{
	struct archive_walk *walk = data;
	size_t got = 0;

	(void)archive;
	walk->failure = tsi_input_read_at(walk->in, walk->at, walk->block, sizeof(walk->block),
					  &got, &walk->error);
	walk->at += got;
	walk->has_ended |= got == 0;
	*bytes = walk->block;
	return walk->failure == TSCOPE_OK ? (la_ssize_t)got : -1;
}

static la_int64_t skip_places(struct archive *archive, void *data, la_int64_t count)
{
	struct archive_walk *walk = data;
	uint64_t end = tsi_input_source_bytes(walk->in);
	uint64_t left = walk->at < end ? end - walk->at : 0;

	(void)archive;
	if (count < 0)
		return 0;
	if ((uint64_t)count > left)
		count = (la_int64_t)left; /* it reads on then, and sees the end */
	walk->at += (uint64_t)count;
	return count;
}

static la_int64_t seek_places(struct archive *archive, void *data, la_int64_t offset, int whence)
{
	struct archive_walk *walk = data;
	la_int64_t base = whence == SEEK_CUR   ? (la_int64_t)walk->at
			  : whence == SEEK_END ? (la_int64_t)tsi_input_source_bytes(walk->in)
					       : 0;

	(void)archive;
	if (offset < -base || (offset > 0 && base > INT64_MAX - offset))
		return ARCHIVE_FATAL;
	walk->at = (uint64_t)(base + offset);
	return base + offset;
}

static la_ssize_t read_stream(struct archive *archive, void *data, const void **bytes)
{
	struct archive_walk *walk = data;
	const char *shown = NULL;

	(void)archive;
	tsi_input_consume(walk->in, walk->shown);
	walk->failure = tsi_input_peek(walk->in, RECORD_BYTES, &shown, &walk->shown, &walk->error);
	walk->has_ended |= walk->shown == 0;
	if (walk->shown >= RECORD_BYTES)
		memcpy(walk->last, shown + walk->shown - RECORD_BYTES, RECORD_BYTES);
	*bytes = shown;
	return walk->failure < 0 && walk->shown == 0 ? -1 : (la_ssize_t)walk->shown;
}

/* ---- walking ---- */

/* Its own failures are damage: it was given the bytes. */
static enum tscope_status fail_archive(const struct archive_walk *walk, struct tscope_error *err)
{
	const char *words = walk->calls.archive_error_string(walk->archive);

	if (walk->failure < 0) {
		*err = walk->error;
		return walk->failure;
	}
	if (walk->calls.archive_errno(walk->archive) == ENOMEM)
		return tsi_fail_nomem(err);
	return tsi_fail(err, TSCOPE_E_DAMAGED, "%.200s", words ? words : "damaged");
}

static bool is_zip(const struct input *in)
{
	return strncmp(tsi_input_archive(in), "zip", 3) == 0;
}

static enum tscope_status start(struct archive_walk *walk, struct tscope_error *err)
{
	const struct calls *calls = &walk->calls;

	walk->archive = calls->archive_read_new();
	if (!walk->archive)
		return tsi_fail_nomem(err);
	calls->archive_read_support_format_tar(walk->archive);
	calls->archive_read_set_callback_data(walk->archive, walk);
	if (walk->has_places) {
		calls->archive_read_support_format_zip_seekable(walk->archive);
		calls->archive_read_set_skip_callback(walk->archive, skip_places);
		calls->archive_read_set_seek_callback(walk->archive, seek_places);
	}
	calls->archive_read_set_read_callback(walk->archive,
					      walk->has_places ? read_places : read_stream);
	if (calls->archive_read_open1(walk->archive) == ARCHIVE_OK)
		return TSCOPE_OK;
	enum tscope_status status = fail_archive(walk, err);
	if (status != TSCOPE_E_DAMAGED || walk->failure < 0)
		return status;
	if (!is_zip(walk->in) || tsi_input_source_bytes(walk->in) < LEAST_ZIP_BYTES)
		return tsi_fail(err, TSCOPE_E_FORMAT, "no archive, in spite of its first bytes");
	return tsi_fail(err, status,
			"the list of its members, which stands at its end, cannot be found: was it "
			"cut short?");
}

enum tscope_status tsi_archive_open(struct archive_walk **ret, struct input *in,
				    struct tscope_error *err)
{
	struct archive_walk *walk;

	if (!tsi_input_has_places(in) && is_zip(in))
		return tsi_fail(err, TSCOPE_E_UNSUPPORTED,
				"its list of members stands at its end: give the file itself, "
				"neither through a pipe nor compressed once more");
	walk = calloc(1, sizeof(*walk));
	if (!walk)
		return tsi_fail_nomem(err);
	walk->in = in;
	walk->has_places = tsi_input_has_places(in);
	enum tscope_status status = load_calls(walk, err);
	if (status == TSCOPE_OK)
		status = start(walk, err);
	if (status == TSCOPE_OK)
		*ret = walk;
	else
		tsi_archive_close(walk);
	return status;
}

void tsi_archive_close(struct archive_walk *walk)
{
	if (!walk)
		return;
	if (walk->archive)
		walk->calls.archive_read_free(walk->archive);
	free(walk);
}

/* Names in UTF-8 where the archive says so, whatever the locale; else its bytes. */
static const char *choose(const char *utf8, const char *bytes)
{
	return utf8 ? utf8 : bytes;
}

static bool is_tar(const struct archive_walk *walk)
{
	return (walk->calls.archive_format(walk->archive) & ARCHIVE_FORMAT_BASE_MASK) ==
	       ARCHIVE_FORMAT_TAR;
}

static void describe(const struct archive_walk *walk, struct archive_entry *entry,
		     struct archive_member *ret)
{
	const struct calls *calls = &walk->calls;
	const char *name = choose(calls->archive_entry_pathname_utf8(entry),
				  calls->archive_entry_pathname(entry));
	const char *hard_link = choose(calls->archive_entry_hardlink_utf8(entry),
				       calls->archive_entry_hardlink(entry));
	bool is_together =
		is_tar(walk) && walk->has_places && calls->archive_entry_sparse_count(entry) == 0;
	int64_t size = calls->archive_entry_size(entry);

	*ret = (struct archive_member){
		.name = name ? name : "",
		.target = hard_link ? hard_link
				    : choose(calls->archive_entry_symlink_utf8(entry),
					     calls->archive_entry_symlink(entry)),
		.is_hard_link = hard_link != NULL,
		.is_encrypted = calls->archive_entry_is_encrypted(entry) != 0,
		.offset = is_together ? calls->archive_filter_bytes(walk->archive, 0) : -1,
	};
	ret->stat.st_mode = calls->archive_entry_filetype(entry);
	if (ret->stat.st_mode == 0 && !hard_link)
		ret->stat.st_mode = S_IFREG;
	ret->stat.st_size = size > 0 ? size : 0;
	ret->stat.st_mtim.tv_sec = calls->archive_entry_mtime(entry);
	ret->stat.st_mtim.tv_nsec = calls->archive_entry_mtime_nsec(entry);
}

/*
 * A tar that was cut between two members looks whole, but for the record of zeros that should
 * stand behind the last.
 */
static enum tscope_status end_archive(struct archive_walk *walk, struct tscope_error *err)
{
	static const char zeros[RECORD_BYTES];
	uint64_t size = tsi_input_source_bytes(walk->in);
	size_t got = 0;

	if (!is_tar(walk) || !walk->has_ended)
		return TSCOPE_END;
	if (walk->has_places && size >= RECORD_BYTES &&
	    tsi_input_read_at(walk->in, size - RECORD_BYTES, walk->last, RECORD_BYTES, &got, err) !=
		    TSCOPE_OK)
		return TSCOPE_E_IO;
	if (memcmp(walk->last, zeros, RECORD_BYTES) == 0)
		return TSCOPE_END;
	return tsi_fail(err, TSCOPE_E_DAMAGED, "it ends without the zeros that mark its end");
}

enum tscope_status tsi_archive_next(struct archive_walk *walk, struct archive_member *ret,
				    struct tscope_error *err)
{
	struct archive_entry *entry;
	int result;

	do
		result = walk->calls.archive_read_next_header(walk->archive, &entry);
	while (result == ARCHIVE_RETRY);
	if (result == ARCHIVE_EOF)
		return end_archive(walk, err);
	if (result != ARCHIVE_OK && result != ARCHIVE_WARN)
		return fail_archive(walk, err);
	describe(walk, entry, ret);
	return TSCOPE_OK;
}

enum tscope_status tsi_archive_read(struct archive_walk *walk, struct archive_bytes *ret,
				    struct tscope_error *err)
{
	la_int64_t at = 0;
	int result;

	*ret = (struct archive_bytes){ 0 };
	do
		result = walk->calls.archive_read_data_block(walk->archive, &ret->data,
							     &ret->length, &at);
	while (result == ARCHIVE_RETRY);
	ret->at = (uint64_t)at;
	if (result == ARCHIVE_OK)
		return TSCOPE_OK;
	if (result != ARCHIVE_WARN)
		ret->length = 0;
	return result == ARCHIVE_EOF ? TSCOPE_END : fail_archive(walk, err);
}

#else

enum tscope_status tsi_archive_open(struct archive_walk **ret, struct input *in,
				    struct tscope_error *err)
{
	(void)ret;
	(void)in;
	return tsi_fail(err, TSCOPE_E_UNSUPPORTED,
			"this build cannot read it: unpack it first, or build tscope with "
			"libarchive-dev");
}

void tsi_archive_close(struct archive_walk *walk)
{
	(void)walk;
}

enum tscope_status tsi_archive_next(struct archive_walk *walk, struct archive_member *ret,
				    struct tscope_error *err)
{
	(void)walk;
	(void)ret;
	return tsi_fail(err, TSCOPE_E_INTERNAL, "no archive is open");
}

enum tscope_status tsi_archive_read(struct archive_walk *walk, struct archive_bytes *ret,
				    struct tscope_error *err)
{
	(void)walk;
	*ret = (struct archive_bytes){ 0 };
	return tsi_fail(err, TSCOPE_E_INTERNAL, "no archive is open");
}

#endif
