/* SPDX-License-Identifier: MIT */
/* Reads captures of memray: the header says which of the three forms follows. */
#include "decode/records/memray_reader.h"

static const char *const allocator_names[] = { MEMRAY_ALLOCATORS(TSI_NAMED_TEXT) };

const char *tsi_memray_allocator_name(enum memray_allocator allocator)
{
	return allocator < MEMRAY_ALLOCATOR_COUNT ? allocator_names[allocator] : "unknown";
}

bool tsi_memray_frees(enum memray_allocator allocator)
{
	return allocator == MEMRAY_FREE || allocator == MEMRAY_MUNMAP ||
	       allocator == MEMRAY_PYMALLOC_FREE;
}

static void read_records(struct memray_reader *r)
{
	if (r->out->header.is_aggregated)
		tsi_memray_read_aggregated(r);
	else if (r->out->header.version < MEMRAY_RENUMBERED_VERSION)
		tsi_memray_read_stream_v7(r);
	else
		tsi_memray_read_stream_v12(r);
}

/* The input ended between records: without a trailer, as format 7 always does. */
static void end(struct memray_reader *r)
{
	enum { LAST_WITHOUT_TRAILER = 7 };
	const struct memray_header *header = &r->out->header;

	if (r->in_status < 0)
		r->err = r->in_err;
	else
		r->out->is_complete =
			header->version <= LAST_WITHOUT_TRAILER && header->end_ms != 0;
}

enum tscope_status tsi_memray_read(struct memray_capture *capture, struct input *in,
				   struct memray_sink *sink, struct tscope_error *err)
{
	struct memray_reader r = { .out = capture, .sink = sink, .in = in, .start = "" };

	r.at = r.end = r.start;
	*capture = (struct memray_capture){ 0 };
	tsi_memray_stacks_init(&r);
	if (!tsi_memray_has_failed(&r))
		tsi_memray_read_header(&r);
	if (!tsi_memray_has_failed(&r))
		read_records(&r);
	if (!tsi_memray_has_failed(&r) && !r.is_done)
		end(&r);
	tsi_memray_stacks_deinit(&r);
	if (r.err.status != TSCOPE_OK && err)
		*err = r.err;
	return r.err.status;
}

void tsi_memray_capture_deinit(struct memray_capture *capture)
{
	tsi_intern_deinit(&capture->names);
	tsi_arena_deinit(&capture->memory);
	*capture = (struct memray_capture){ 0 };
}
