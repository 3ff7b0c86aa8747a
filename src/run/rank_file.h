/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_RANK_FILE_H
#define TSCOPE_RUN_RANK_FILE_H

#include "base/arena.h"

/*
 * The container of what `tscope map` keeps of files (.tsr). A file is any number of records, one
 * after the other, so that two files one after the other are a file, too. A record is of one file
 * that was read:
 *
 *	8 bytes  magic, which does not survive a conversion of line ends
 *	u32      version of the format
 *	u32      checksum of the names of all facts: figures of another version are not taken over
 *	frames   u32 kind, u32 stored bytes, u32 plain bytes, u32 CRC-32C of the stored bytes, then
 *	         these: one zstd frame
 *	end      a frame of kind 0 that holds two u32 as they are: how many frames came before it,
 *	         and the CRC-32C of all bytes of the record before it
 *
 * Numbers have their lowest byte first. The contents of frames are documented in
 * session/rank_record.c.
 */
enum {
	RANK_FILE_VERSION = 4,
	RANK_MAGIC_BYTES = 8,
	RANK_FRAME_MAX_BYTES = 1 << 28, /* plain */
	RANK_FRAME_MAX_RATIO = 1 << 14, /* plain to stored bytes: no more than that is honest */
};

enum rank_frame_kind {
	RANK_FRAME_END,
	RANK_FRAME_HEAD,  /* first: which file it was, and how it was read */
	RANK_FRAME_PART,  /* what came of it, or of one rank of it: steps, metrics */
	RANK_FRAME_LOG,   /* of the part before it: the log of the rank */
	RANK_FRAME_FACTS, /* likewise: facts and tables */
	RANK_FRAME_KIND_COUNT,
};

struct rank_frame {
	enum rank_frame_kind kind;
	size_t offset; /* in the record */
	struct str stored;
	size_t plain_bytes;
};

/* May these be the first bytes of such a file? */
bool tsi_is_rank_file(struct str head);

/* ---- writing ---- */

/* The bytes of a record; a zeroed struct is ready. */
struct rank_writer {
	unsigned char *bytes;
	size_t count, capacity;
	uint32_t frame_count;
};

void tsi_rank_writer_deinit(struct rank_writer *writer);

TSI_MUST_CHECK
enum tscope_status tsi_rank_writer_begin(struct rank_writer *writer, uint32_t schema,
					 struct tscope_error *err);

/* TSCOPE_E_LIMIT: more than RANK_FRAME_MAX_BYTES; _UNSUPPORTED: this build has no zstd. */
TSI_MUST_CHECK
enum tscope_status tsi_rank_writer_add(struct rank_writer *writer, enum rank_frame_kind kind,
				       struct str plain, struct tscope_error *err);
TSI_MUST_CHECK
enum tscope_status tsi_rank_writer_end(struct rank_writer *writer, struct tscope_error *err);

/* ---- reading ---- */

/*
 * How long the record is that `bytes` begin with. Checks all of it but what the frames hold:
 * TSCOPE_E_DAMAGED, with the offset in it; _UNSUPPORTED: of another version or other facts.
 */
TSI_MUST_CHECK
enum tscope_status tsi_rank_record_measure(struct str bytes, uint32_t schema, size_t *length,
					   struct tscope_error *err);

/* The first frame of a record that was measured, the one behind another; false: the end. */
bool tsi_rank_frame_first(struct str record, struct rank_frame *frame);
bool tsi_rank_frame_next(struct str record, struct rank_frame *frame);

/* Contents of a frame; they live as long as the arena. */
TSI_MUST_CHECK
enum tscope_status tsi_rank_frame_unpack(const struct rank_frame *frame, struct str *plain,
					 struct arena *arena, struct tscope_error *err);

/* "facts": never NULL. */
const char *tsi_rank_frame_name(enum rank_frame_kind kind);

#endif
