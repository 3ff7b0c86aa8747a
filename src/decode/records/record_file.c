/* SPDX-License-Identifier: MIT */
/* TensorFlow's records: their framing and checksums. */
#include "decode/records/record_file.h"

#include "base/crc32c.h"
#include "base/error.h"
#include "decode/records/protobuf.h"

enum { LENGTH_BYTES = 8, EVENT_VERSION = 3 /* field of an event */ };

/* So that the checksum of what holds checksums is no trivial number. */
static uint32_t mask(uint32_t crc)
{
	return (crc >> 15 | crc << 17) + UINT32_C(0xa282ead8);
}

uint32_t tsi_masked_crc(const void *data, size_t length)
{
	return mask(tsi_crc32c(0, data, length));
}

static bool has_checksum(const char *data, size_t length, const char *checksum)
{
	return tsi_masked_crc(data, length) == tsi_little_endian(checksum, 4);
}

/* A record that is not handed out: its bytes go by. */
static enum tscope_status pass_record(struct record_file *file, uint64_t length,
				      enum record_state *state, struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;
	const char *data;
	size_t available;
	uint32_t crc = 0;

	*state = RECORD_CUT;
	tsi_input_consume(file->in, RECORD_HEAD_BYTES);
	for (uint64_t left = length; left > 0; left -= available) {
		status = tsi_input_peek(file->in, 1, &data, &available, err);
		if (status != TSCOPE_OK)
			return status == TSCOPE_END ? TSCOPE_OK : status;
		available = available < left ? available : (size_t)left;
		crc = tsi_crc32c(crc, data, available);
		tsi_input_consume(file->in, available);
	}
	status = tsi_input_peek(file->in, RECORD_TAIL_BYTES, &data, &available, err);
	if (status != TSCOPE_OK) {
		file->shown_bytes = available;
		return status == TSCOPE_END ? TSCOPE_OK : status;
	}
	*state = mask(crc) == tsi_little_endian(data, 4) ? RECORD_LONG : RECORD_BAD;
	file->shown_bytes = RECORD_TAIL_BYTES;
	return TSCOPE_OK;
}

static enum tscope_status take_record(struct record_file *file, size_t length,
				      enum record_state *state, struct str *bytes,
				      struct tscope_error *err)
{
	const char *data;
	size_t available, whole = RECORD_HEAD_BYTES + length + RECORD_TAIL_BYTES;
	enum tscope_status status = tsi_input_peek(file->in, whole, &data, &available, err);

	if (status == TSCOPE_END) {
		file->shown_bytes = available;
		*state = RECORD_CUT;
		return TSCOPE_OK;
	}
	if (status != TSCOPE_OK)
		return status;
	file->shown_bytes = whole;
	*bytes = (struct str){ data + RECORD_HEAD_BYTES, length };
	*state = has_checksum(bytes->data, length, bytes->data + length) ? RECORD_GOOD : RECORD_BAD;
	return TSCOPE_OK;
}

enum tscope_status tsi_record_file_next(struct record_file *file, enum record_state *state,
					struct str *bytes, struct tscope_error *err)
{
	const char *head;
	size_t available;

	tsi_input_consume(file->in, file->shown_bytes);
	file->shown_bytes = 0;
	enum tscope_status status =
		tsi_input_peek(file->in, RECORD_HEAD_BYTES, &head, &available, err);
	if (status == TSCOPE_END && available > 0) {
		file->shown_bytes = available;
		*state = RECORD_CUT;
		return TSCOPE_OK;
	}
	if (status != TSCOPE_OK)
		return status;
	if (!has_checksum(head, LENGTH_BYTES, head + LENGTH_BYTES))
		return tsi_fail_at(err, TSCOPE_E_DAMAGED, tsi_input_offset(file->in),
				   "the checksum of a record's length does not fit: what follows "
				   "cannot be told apart");
	uint64_t length = tsi_little_endian(head, LENGTH_BYTES);
	if (length > RECORD_MAX_BYTES)
		return pass_record(file, length, state, err);
	return take_record(file, (size_t)length, state, bytes, err);
}

bool tsi_record_file_first(struct str head, struct str *bytes)
{
	if (head.length < RECORD_HEAD_BYTES + RECORD_TAIL_BYTES ||
	    !has_checksum(head.data, LENGTH_BYTES, head.data + LENGTH_BYTES))
		return false;
	uint64_t length = tsi_little_endian(head.data, LENGTH_BYTES);
	if (length > head.length - RECORD_HEAD_BYTES - RECORD_TAIL_BYTES)
		return false;
	*bytes = (struct str){ head.data + RECORD_HEAD_BYTES, (size_t)length };
	return has_checksum(bytes->data, bytes->length, bytes->data + bytes->length);
}

bool tsi_is_event_file(struct str head)
{
	struct protobuf event;
	struct protobuf_field field;
	struct str bytes;

	if (!tsi_record_file_first(head, &bytes))
		return false;
	event = tsi_protobuf(bytes);
	while (tsi_protobuf_next(&event, &field))
		if (field.number == EVENT_VERSION && field.type == PROTOBUF_BYTES &&
		    tsi_str_starts(field.bytes, "brain.Event:"))
			return true;
	return false;
}
