/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_RECORDS_RECORD_FILE_H
#define TSCOPE_DECODE_RECORDS_RECORD_FILE_H

#include "base/attributes.h"
#include "base/str.h"
#include "input/input.h"

/*
 * Files of records as TensorFlow frames them: TensorBoard's event files (and data sets). Each
 * record is
 *
 *	u64 length · u32 checksum of the length · bytes · u32 checksum of the bytes
 *
 * all with the lowest byte first; a checksum is a CRC-32C turned and shifted ("masked").
 */
enum {
	RECORD_HEAD_BYTES = 12,
	RECORD_TAIL_BYTES = 4,
	RECORD_MAX_BYTES = 16 << 20, /* what is longer is checked, but not handed out */
};

enum record_state {
	RECORD_GOOD,
	RECORD_BAD,  /* the checksum does not fit the bytes */
	RECORD_LONG, /* good, and more than RECORD_MAX_BYTES */
	RECORD_CUT,  /* the input ends within it */
};

struct record_file {
	struct input *in;
	size_t shown_bytes; /* of the record that was handed out, to be consumed */
};

/*
 * The next record; *bytes are those of RECORD_GOOD and valid until the next call. TSCOPE_END:
 * there is none. TSCOPE_E_DAMAGED, with its place: the checksum of a length does not fit, so
 * nobody knows where the next record begins. Else as the input fails.
 */
TSI_MUST_CHECK
enum tscope_status tsi_record_file_next(struct record_file *file, enum record_state *state,
					struct str *bytes, struct tscope_error *err);

/* The first record of a file by its first bytes. False: there is none, or not all of it. */
bool tsi_record_file_first(struct str head, struct str *bytes);

/* Does a file begin as TensorBoard's event files do? */
bool tsi_is_event_file(struct str head);

uint32_t tsi_masked_crc(const void *data, size_t length);

#endif
