/* SPDX-License-Identifier: MIT */
/*
 * Columns and the file for those that memory is too small for. The file has no name and goes with
 * the process. Each column has a window of it, so far from others that it can grow: files may have
 * holes. Room is reserved before it is mapped, since a write to a page that finds no room on the
 * disk ends the process. A column that grows is mapped anew at another address, by which all its
 * pages leave the process; they are still in the system's cache while that has room for them.
 */
#define _GNU_SOURCE /* fallocate(), O_TMPFILE */
#include "base/column.h"

#include "base/ckd.h"
#include "base/error.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tscope/trace.h>

/* Stands before the items. */
struct head {
	struct tscope_spill *spill; /* NULL: from the heap */
	size_t bytes;               /* in all */
	unsigned window;
};

enum { HEAD_BYTES = 32 };
_Static_assert(sizeof(struct head) <= HEAD_BYTES, "no room for the head");

static struct head *head_of(void *column)
{
	return (struct head *)(void *)((char *)column - HEAD_BYTES);
}

static void *items_of(struct head *head)
{
	return (char *)head + HEAD_BYTES;
}

/* ---- the file ------------------------------------------------------------------------ */

#ifdef __linux__

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <unistd.h>

enum {
	WINDOW_COUNT = 1000, /* 16 TB, the most that a file of ext4 may have */
	STEP_BYTES = 1 << 20,
};

#define WINDOW_BYTES (INT64_C(1) << 34)

/* Traces that several threads read share it. */
struct tscope_spill {
	int file;
	atomic_bool is_taken[WINDOW_COUNT];
};

static int open_nameless(const char *folder)
{
	char path[4096];
	int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return file;
	if ((size_t)snprintf(path, sizeof(path), "%s/tscope-XXXXXX", folder) >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	file = mkostemp(path, O_CLOEXEC);
	if (file >= 0)
		(void)unlink(path);
	return file;
}

/* A file in memory would take what it is to save. */
static bool is_in_memory(int file)
{
	struct statfs status;
	const uint32_t tmpfs = 0x01021994, ramfs = 0x858458f6;
	return fstatfs(file, &status) == 0 &&
	       ((uint32_t)status.f_type == tmpfs || (uint32_t)status.f_type == ramfs);
}

enum tscope_status tscope_spill_open(struct tscope_spill **ret, const char *folder,
				     struct tscope_error *err)
{
	int file = open_nameless(folder);
	if (file < 0)
		return tsi_fail(err, TSCOPE_E_IO, "%s: %s", folder, strerror(errno));
	bool is_disk = !is_in_memory(file);
	struct tscope_spill *spill = is_disk ? calloc(1, sizeof(*spill)) : NULL;
	if (!spill) {
		close(file);
		return is_disk ? tsi_fail_nomem(err)
			       : tsi_fail(err, TSCOPE_E_IO, "%s is memory itself", folder);
	}
	spill->file = file;
	*ret = spill;
	return TSCOPE_OK;
}

void tscope_spill_free(struct tscope_spill *spill)
{
	if (!spill)
		return;
	close(spill->file);
	free(spill);
}

static off_t begin_of(unsigned window)
{
	return (off_t)(window * WINDOW_BYTES);
}

/* Makes a hole, which is zero. Where that fails the disk has less room until the file goes. */
static bool give_back(const struct tscope_spill *spill, off_t begin, uint64_t bytes)
{
	return fallocate(spill->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, begin,
			 (off_t)bytes) == 0;
}

/* Maps so much of a window, of which the first old_bytes have room already. NULL: no room. */
static struct head *map(struct tscope_spill *spill, unsigned window, size_t old_bytes, size_t bytes)
{
	off_t fresh = begin_of(window) + (off_t)old_bytes;
	void *memory = MAP_FAILED;
	if ((uint64_t)bytes > (uint64_t)WINDOW_BYTES)
		return NULL;
	if (fallocate(spill->file, 0, fresh, (off_t)(bytes - old_bytes)) == 0)
		memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, spill->file,
			      begin_of(window));
	if (memory == MAP_FAILED) {
		(void)give_back(spill, fresh, bytes - old_bytes);
		return NULL;
	}
	/* Reading ahead takes memory from the other columns: a dozen are walked side by side. */
	(void)madvise(memory, bytes, MADV_RANDOM);
	struct head *head = memory;
	*head = (struct head){ spill, bytes, window };
	return head;
}

/* NULL: there is no room. */
static struct head *make_mapped(struct tscope_spill *spill, size_t bytes)
{
	unsigned window = 0;
	while (window < WINDOW_COUNT && atomic_exchange(&spill->is_taken[window], true))
		window++;
	struct head *head = window < WINDOW_COUNT ? map(spill, window, 0, bytes) : NULL;
	if (!head && window < WINDOW_COUNT)
		atomic_store(&spill->is_taken[window], false);
	return head;
}

/* Likewise; the column is as it was then. */
static struct head *resize_mapped(struct head *head, size_t bytes)
{
	struct tscope_spill *spill = head->spill;
	size_t old_bytes = head->bytes;
	if (bytes > old_bytes) {
		struct head *grown = map(spill, head->window, old_bytes, bytes);
		if (grown)
			(void)munmap(head, old_bytes);
		return grown;
	}
	if (bytes < old_bytes) {
		head->bytes = bytes;
		(void)munmap((char *)head + bytes, old_bytes - bytes);
		(void)give_back(spill, begin_of(head->window) + (off_t)bytes, old_bytes - bytes);
	}
	return head;
}

static void free_mapped(struct head *head)
{
	struct tscope_spill *spill = head->spill;
	unsigned window = head->window;
	(void)munmap(head, head->bytes);
	/* The whole window: behind the column may be bytes that could not be given back. */
	if (give_back(spill, begin_of(window), WINDOW_BYTES))
		atomic_store(&spill->is_taken[window], false);
}

#else

enum { STEP_BYTES = 1 };

enum tscope_status tscope_spill_open(struct tscope_spill **ret, const char *folder,
				     struct tscope_error *err)
{
	(void)ret;
	return tsi_fail(err, TSCOPE_E_UNSUPPORTED, "%s: spans go to files on Linux only", folder);
}

void tscope_spill_free(struct tscope_spill *spill)
{
	(void)spill;
}

static struct head *make_mapped(struct tscope_spill *spill, size_t bytes)
{
	(void)spill;
	(void)bytes;
	return NULL;
}

static struct head *resize_mapped(struct head *head, size_t bytes)
{
	(void)head;
	(void)bytes;
	return NULL;
}

static void free_mapped(struct head *head)
{
	(void)head;
}

#endif

/* ---- columns ------------------------------------------------------------------------- */

static struct head *resize_in_heap(struct head *head, size_t bytes)
{
	head = realloc(head, bytes);
	if (head)
		*head = (struct head){ .bytes = bytes };
	return head;
}

bool tsi_column_resize(void *column, struct tscope_spill *spill, size_t count, size_t item_bytes)
{
	void *items;
	size_t bytes, whole = spill ? STEP_BYTES : 1;
	if (tsi_ckd_mul(&bytes, count, item_bytes) ||
	    tsi_ckd_add(&bytes, bytes, HEAD_BYTES + whole - 1))
		return false;
	bytes -= bytes % whole;
	memcpy(&items, column, sizeof(items));
	struct head *old = items ? head_of(items) : NULL, *head;
	bool moves = old && old->spill != spill;
	if (moves || !old)
		head = spill ? make_mapped(spill, bytes) : resize_in_heap(NULL, bytes);
	else
		head = spill ? resize_mapped(old, bytes) : resize_in_heap(old, bytes);
	if (!head)
		return false;
	if (moves) {
		size_t kept_bytes = old->bytes < bytes ? old->bytes : bytes;
		memcpy(items_of(head), items, kept_bytes - HEAD_BYTES);
		tsi_column_free(items);
	}
	items = items_of(head);
	memcpy(column, &items, sizeof(items));
	return true;
}

/* The file, where so many bytes are worth it. */
static struct tscope_spill *spill_for(struct tscope_spill *spill, size_t bytes)
{
	enum { MIN_BYTES = 1 << 18 };
	return bytes >= MIN_BYTES ? spill : NULL;
}

bool tsi_column_make(void *column, struct tscope_spill *spill, size_t count, size_t item_bytes)
{
	spill = count < SIZE_MAX / item_bytes ? spill_for(spill, count * item_bytes) : NULL;
	return (spill && tsi_column_resize(column, spill, count, item_bytes)) ||
	       tsi_column_resize(column, NULL, count, item_bytes);
}

void *tsi_column_new(struct tscope_spill *spill, size_t bytes)
{
	struct head *head = NULL;
	void *column = NULL;
	if (spill_for(spill, bytes) && tsi_column_resize(&column, spill, bytes, 1))
		return column; /* holes of files are zero */
	if (!tsi_ckd_add(&bytes, bytes, (size_t)HEAD_BYTES))
		head = calloc(1, bytes);
	if (!head)
		return NULL;
	head->bytes = bytes;
	return items_of(head);
}

void tsi_column_shrink(void *column, size_t count, size_t item_bytes)
{
	void *items;
	memcpy(&items, column, sizeof(items));
	if (items && count) {
		(void)!tsi_column_resize(column, head_of(items)->spill, count, item_bytes);
	} else {
		tsi_column_free(items);
		items = NULL;
		memcpy(column, &items, sizeof(items));
	}
}

void tsi_column_free(void *column)
{
	struct head *head = column ? head_of(column) : NULL;
	if (head && head->spill)
		free_mapped(head);
	else
		free(head);
}
