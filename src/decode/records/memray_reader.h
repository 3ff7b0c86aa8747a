/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_RECORDS_MEMRAY_READER_H
#define TSCOPE_DECODE_RECORDS_MEMRAY_READER_H

#include "base/pair_set.h"
#include "decode/records/memray.h"
#include "decode/records/memray_lines.h"

/*
 * Shared by the files of the memray reader. memray_bytes.c takes numbers and texts out of the
 * input, memray_stacks.c keeps threads, frames and stacks, memray_records.c reads the records that
 * all forms have; memray_stream_v7.c, memray_stream_v12.c and memray_aggregated.c know the three
 * forms of files.
 */

/* No number and no record without text or table is longer: this much can be read at once. */
enum { MEMRAY_ROOM = 96 };

/* Formats that are read, and those where something changed. */
enum {
	MEMRAY_FIRST_VERSION = 7,
	MEMRAY_RENUMBERED_VERSION = 12, /* other allocators, other records, code objects */
	MEMRAY_LAST_VERSION = 13,
};

/* Limits of a hostile file. */
enum {
	MEMRAY_MAX_TEXT_BYTES = 4 << 20,
	MEMRAY_MAX_TABLE_BYTES = 16 << 20,
	MEMRAY_MAX_NAMES = 1 << 24,
	MEMRAY_MAX_NAME_BYTES = 1 << 30,
	MEMRAY_MAX_THREADS = 1 << 20,
	MEMRAY_MAX_FRAMES = 1 << 24, /* and code objects, and instructions that call */
	MEMRAY_MAX_NODES = 1 << 24,
};

#define MEMRAY_NONE UINT32_MAX

/* Does a number's first byte become the lowest one when eight are loaded? */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define MEMRAY_LOADS_NUMBERS 1
#else
#define MEMRAY_LOADS_NUMBERS 0
#endif

/* Meaning of a file's ids, which are any numbers of 64 bits. */
struct memray_ids {
	struct pair_set numbers; /* by the halves of the id */
	uint32_t *values;        /* by number; MEMRAY_NONE: the id was only referred to */
	size_t value_count, capacity;
};

struct memray_code {
	uint32_t function, file;
	struct memray_line_range lines;
};

/* A frame of an aggregated file, from format 12 on. */
struct memray_code_frame {
	uint64_t code_id;
	int32_t offset; /* of the instruction */
};

/* The last fifteen addresses ÷ 8, the newest at recent[first]; one place is to spare. */
enum { MEMRAY_RECENT_RING = 16 };

struct memray_reader {
	struct memray_capture *out;
	struct memray_sink *sink;
	struct input *in;
	struct tscope_error err; /* the first failure: what comes after it changes nothing */

	const char *start, *at, *end; /* what is shown; the next byte is *at */
	uint64_t start_offset;        /* of *start in the input */
	enum tscope_status in_status; /* TSCOPE_OK: more may come behind `end` */
	struct tscope_error in_err;
	char tail[2 * MEMRAY_ROOM]; /* the last bytes of the input, then zeros */

	const char *record; /* the name of the one that is being read, for errors */
	uint64_t record_offset;
	unsigned flags; /* what its first byte says beside its kind */
	bool is_done;   /* the trailer was read */

	/* The last value of each field that is written as a difference: one set for all threads. */
	uint64_t address, frame_id, line; /* address: ÷ 8 from format 12 on */
	uint64_t recent[MEMRAY_RECENT_RING];
	unsigned recent_first;

	struct memray_allocation now; /* of the current thread: thread (or MEMRAY_NONE) and node */
	struct arena memory;          /* of what follows */
	struct pair_set threads;      /* by the halves of the tid: index */
	uint32_t *thread_nodes;       /* where each thread is, but for the current one */
	size_t thread_node_capacity;

	struct pair_set places;      /* (function, file) */
	struct pair_set frames;      /* (place, line): index - 1 */
	struct pair_set tree;        /* (parent, frame): node - 1 */
	struct memray_ids frame_ids; /* to frames; aggregated from 12 on: to code_frames */
	struct memray_ids code_ids;  /* to codes */
	struct memray_code *codes;
	size_t code_count, code_capacity;
	struct memray_code_frame *code_frames;
	size_t code_frame_count, code_frame_capacity;
	struct memray_lines lines;
	struct pair_set offsets; /* (code, offset) */
	uint32_t *offset_frames; /* by its numbers */
	size_t offset_count, offset_capacity;
	uint64_t name_bytes;
};

/* ---- memray_bytes.c ---------------------------------------------------------------------- */

/* tsi_memray_room() where fewer bytes are shown. */
TSI_MUST_CHECK
bool tsi_memray_refill(struct memray_reader *r);

/*
 * Sees that MEMRAY_ROOM bytes from r->at on can be read; those behind r->end are zeros and mean
 * nothing. False: the input is over, r->at is r->end; or it failed.
 */
TSI_MUST_CHECK
static inline bool tsi_memray_room(struct memray_reader *r)
{
	return tsi_likely(r->end - r->at >= MEMRAY_ROOM) || tsi_memray_refill(r);
}

static inline bool tsi_memray_has_failed(const struct memray_reader *r)
{
	return tsi_unlikely(r->err.status != TSCOPE_OK);
}

/* Fails: the input ends within the record, or broke there. */
TSI_COLD void tsi_memray_fail_cut(struct memray_reader *r);
/* Fails at the record that is being read: "FRAME_PUSH record: what is wrong". */
TSI_COLD TSI_PRINTF(3, 4) void tsi_memray_fail(struct memray_reader *r, enum tscope_status status,
					       const char *format, ...);

static inline uint64_t tsi_memray_offset(const struct memray_reader *r)
{
	return r->start_offset + (uint64_t)(r->at - r->start);
}

/* Numbers have 7 bits a byte, the low ones first; all but the last byte have the highest bit. */
#define MEMRAY_MORE_BITS UINT64_C(0x8080808080808080)

/* The seven bits of each of eight bytes side by side: pairs are joined, then fours, then eight. */
static inline uint64_t tsi_memray_join(uint64_t bytes)
{
	bytes &= ~MEMRAY_MORE_BITS;
	bytes = (bytes & 0x007f007f007f007f) | (bytes & 0x7f007f007f007f00) >> 1;
	bytes = (bytes & 0x00003fff00003fff) | (bytes & 0x3fff00003fff0000) >> 2;
	return (bytes & 0x000000000fffffff) | (bytes & 0x0fffffff00000000) >> 4;
}

/* A number byte by byte. One of more than ten is none: *is_bad is set. */
uint64_t tsi_memray_long_varint(const char **at, bool *is_bad);

/*
 * The number at *at, which moves on; *is_bad is set (and never cleared) where there is none. How
 * many bytes it has is computed: a branch would be guessed wrong each time that the size of an
 * allocation is unlike the last one.
 */
static inline uint64_t tsi_memray_varint(const char **at, bool *is_bad)
{
	uint64_t bytes;

	memcpy(&bytes, *at, sizeof(bytes));
	uint64_t ends = ~bytes & MEMRAY_MORE_BITS;
	if (tsi_unlikely(!MEMRAY_LOADS_NUMBERS || ends == 0))
		return tsi_memray_long_varint(at, is_bad);
	*at += (unsigned)__builtin_ctzll(ends) / 8 + 1;
	return tsi_memray_join(bytes & (ends ^ (ends - 1)));
}

/* A varint with a sign, as two's complement: 0, -1, 1, -2 … are written as 0, 1, 2, 3 … */
static inline uint64_t tsi_memray_svarint(const char **at, bool *is_bad)
{
	uint64_t folded = tsi_memray_varint(at, is_bad);

	return (folded >> 1) ^ (0 - (folded & 1));
}

/*
 * Parts of a record. Parts that are taken are gone from the input; taking fails where the input
 * ends, and then gives 0 or no text.
 */
uint64_t tsi_memray_take_varint(struct memray_reader *r);
uint64_t tsi_memray_take_svarint(struct memray_reader *r);
/* Adds a difference to what the field was before. */
void tsi_memray_take_delta(struct memray_reader *r, uint64_t *field);
/* A number of that many bytes, the lowest first. */
uint64_t tsi_memray_take_bytes(struct memray_reader *r, unsigned bytes);
/* A text up to its NUL. Both are good until something else is taken. */
struct str tsi_memray_take_text(struct memray_reader *r);
struct str tsi_memray_take_block(struct memray_reader *r, size_t length);

/* ---- memray_header.c --------------------------------------------------------------------- */

void tsi_memray_read_header(struct memray_reader *r);

/* ---- memray_stacks.c --------------------------------------------------------------------- */

/* Frame 0, node 0, the set of names. */
void tsi_memray_stacks_init(struct memray_reader *r);
void tsi_memray_stacks_deinit(struct memray_reader *r);

/* A line as a field that wraps, as a line; 0: none. */
static inline int32_t tsi_memray_line_of(uint64_t field)
{
	int32_t line = (int32_t)(uint32_t)field;

	return line > 0 ? line : 0;
}

/* Takes a text up to its NUL and keeps it: its id. */
uint32_t tsi_memray_take_name(struct memray_reader *r);

/* The index of a thread, which is added if it is new; MEMRAY_NONE: failed. */
uint32_t tsi_memray_find_thread(struct memray_reader *r, uint64_t tid);
/* From now on the records are of this thread. False: failed. */
bool tsi_memray_switch_thread(struct memray_reader *r, uint64_t tid);

/* Records before the first switch belong to a thread without number. False: failed. */
TSI_MUST_CHECK
static inline bool tsi_memray_need_thread(struct memray_reader *r)
{
	return tsi_likely(r->now.thread != MEMRAY_NONE) || tsi_memray_switch_thread(r, 0);
}

/* The index of a frame, which is added if it is new. */
uint32_t tsi_memray_add_frame(struct memray_reader *r, const struct memray_frame *frame);
/* The current thread calls, or returns from so many frames. */
void tsi_memray_push(struct memray_reader *r, uint32_t frame);
void tsi_memray_pop(struct memray_reader *r, unsigned count);

/* A node of an aggregated file, as it is; its frame is a number of frame_ids. */
void tsi_memray_add_node(struct memray_reader *r, struct memray_node node);

/* The number of an id, which is added without a value if it is new; MEMRAY_NONE: failed. */
uint32_t tsi_memray_find_id(struct memray_reader *r, struct memray_ids *ids, uint64_t id);
/* The value of an id, which may be MEMRAY_NONE; NULL: failed. */
uint32_t *tsi_memray_find_value(struct memray_reader *r, struct memray_ids *ids, uint64_t id);

/* Fails: "more than 5 frames (limit: frames)". */
TSI_COLD void tsi_memray_fail_limit(struct memray_reader *r, size_t limit, const char *what);

/* ---- memray_records.c -------------------------------------------------------------------- */

struct memray_record_kind {
	const char *name;
	/* Takes what follows the record's first byte. */
	void (*take)(struct memray_reader *r);
};

void tsi_memray_take_native_trace(struct memray_reader *r);
void tsi_memray_take_map_start(struct memray_reader *r);
void tsi_memray_take_segments(struct memray_reader *r);
void tsi_memray_take_thread_name(struct memray_reader *r);
void tsi_memray_take_resident(struct memray_reader *r);
void tsi_memray_take_switch(struct memray_reader *r);
void tsi_memray_take_code(struct memray_reader *r);
void tsi_memray_take_trailer(struct memray_reader *r);
/* Zeros fill the file up to its end, or up to the next record. */
void tsi_memray_take_zeros(struct memray_reader *r);
void tsi_memray_take_filler(struct memray_reader *r);

/* The line of an instruction of a code object as a frame. Code MEMRAY_NONE: frame 0. */
uint32_t tsi_memray_find_code_frame(struct memray_reader *r, uint32_t code, int32_t offset);

/* Takes the record that begins there; a kind without `take` is none. */
void tsi_memray_take_record(struct memray_reader *r, const struct memray_record_kind *kind,
			    unsigned flags);

/* Allocators by their numbers in a file; MEMRAY_ALLOCATOR_COUNT: there is none of it. */
enum { MEMRAY_ALLOCATOR_NUMBERS = 16 };
extern const uint8_t tsi_memray_allocators_v7[MEMRAY_ALLOCATOR_NUMBERS];
extern const uint8_t tsi_memray_allocators_v12[MEMRAY_ALLOCATOR_NUMBERS];

static inline uint8_t tsi_memray_allocator(const uint8_t *allocators, unsigned number)
{
	return number < MEMRAY_ALLOCATOR_NUMBERS ? allocators[number] : MEMRAY_ALLOCATOR_COUNT;
}

/* These have no size in the file. */
static inline bool tsi_memray_is_simple_free(unsigned allocator)
{
	return allocator == MEMRAY_FREE || allocator == MEMRAY_PYMALLOC_FREE;
}

/* Hands r->now on, which was read up to p. */
static inline void tsi_memray_emit(struct memray_reader *r, const char *p)
{
	r->at = p;
	r->out->record_count++;
	if (tsi_unlikely(r->now.allocator == MEMRAY_ALLOCATOR_COUNT))
		r->out->dropped_count++;
	else
		(void)r->sink->allocation(r->sink, &r->now, &r->err);
}

/* Fails: an allocation that is_bad, or cut. */
TSI_COLD void tsi_memray_fail_allocation(struct memray_reader *r, bool is_bad);

/* ---- the forms --------------------------------------------------------------------------- */

/* Read records up to the trailer or the end of the input. */
void tsi_memray_read_stream_v7(struct memray_reader *r);
void tsi_memray_read_stream_v12(struct memray_reader *r);
void tsi_memray_read_aggregated(struct memray_reader *r);

#endif
