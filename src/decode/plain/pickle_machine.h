/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_PLAIN_PICKLE_MACHINE_H
#define TSCOPE_DECODE_PLAIN_PICKLE_MACHINE_H

#include "decode/plain/pickle.h"
#include "decode/plain/pickle_lists.h"
#include "decode/plain/plain_graph.h"
#include "input/input.h"

/*
 * A pickle is a program for a machine with a stack of values, marks on it, and a memo of
 * values to use again. pickle_read.c takes its opcodes out of the input, pickle_opcodes.c does
 * what they say.
 *
 * To add an opcode: a row of the table in pickle_opcodes.c.
 */
struct pickle_machine;

/* Operand after an opcode's byte. The rows are in pickle_read.c. */
enum operand_form {
	OPERAND_NONE,
	OPERAND_U1, /* a number of this many bytes; U: without sign, I: with one */
	OPERAND_U2,
	OPERAND_U4,
	OPERAND_U8,
	OPERAND_I4,
	OPERAND_TEXT_U1, /* a length of this many bytes, then the text */
	OPERAND_TEXT_U4,
	OPERAND_TEXT_U8,
	OPERAND_TEXT_I4,
	OPERAND_LONG_U1, /* the same with an integer of that length */
	OPERAND_LONG_I4,
	OPERAND_LINE,    /* text to the end of a line, which is taken off */
	OPERAND_2_LINES, /* text with one line end inside */
	OPERAND_DECIMAL, /* a line that is a number without sign */
	OPERAND_FORM_COUNT,
};

struct pickle_operand {
	uint64_t number; /* with a sign: as if int64 */
	struct str text; /* in the input's window, until the next opcode */
};

struct pickle_opcode {
	const char *name; /* NULL: there is no such opcode */
	enum operand_form operand;
	/* On failure fills m->err; a limit without offset gets name and offset. */
	void (*run)(struct pickle_machine *m);
	uint32_t argument; /* opcodes that do the same to another kind of value: its tag, a count */
	const char *refusal; /* of those that are refused: what they would do */
};

/* Indexed by an opcode's byte. */
extern const struct pickle_opcode tsi_pickle_opcodes[256];

/* Nearly all opcodes are one of these, which are recognised without the table. */
enum {
	APPENDS = 'e',
	BINGET = 'h',
	LONG_BINGET = 'j',
	BININT1 = 'K',
	MEMOIZE = '\x94',
	LONGEST_USUAL = 5, /* bytes of any of them, with its operand */
};

struct pickle_machine {
	struct input *in;
	const char *start, *at, *end; /* what the input shows; the next byte is *at */
	uint64_t start_offset;
	struct plain *out;

	uint32_t *stack;
	size_t depth, stack_room, stack_capacity; /* room: within capacity and limit */
	size_t *marks;                            /* depths of the stack */
	size_t mark_count, mark_capacity;
	size_t fence; /* the last mark, or 0: values below it are out of reach */
	struct word_pool memo;
	size_t memo_count; /* of entries that are set */
	struct known_lists known_lists;

	const struct pickle_opcode *op; /* the one that runs, and where it stands */
	uint64_t op_offset;
	struct pickle_operand operand;
	uint64_t frame_offset, frame_end; /* of the frame that reaches farthest */
	bool is_done;
	char *scratch; /* for texts that are written with escapes */
	size_t scratch_capacity;

	struct pool_limit stack_limit, mark_limit, memo_limit;
	size_t max_text_bytes;
	struct tscope_error err; /* the first failure, which ends the run */
};

/* Written out, as compilers see one load in it. */
static inline uint32_t tsi_pickle_u4(const char *p)
{
	const unsigned char *at = (const unsigned char *)p;
	return (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

/* A number of 1 to 8 bytes among those that are shown: of eight at once, if they are, too. */
static inline uint64_t tsi_pickle_number(const struct pickle_machine *m, const char *p,
					 unsigned bytes)
{
	uint64_t number = 0;

	if (tsi_likely(m->end - p >= 8))
		return ((uint64_t)tsi_pickle_u4(p + 4) << 32 | tsi_pickle_u4(p)) &
		       UINT64_MAX >> (64 - 8 * bytes);
	for (unsigned i = 0; i < bytes; i++)
		number |= (uint64_t)(unsigned char)p[i] << (8 * i);
	return number;
}

/* Fails at the opcode that runs: "SETITEMS: what is wrong". */
TSI_COLD TSI_PRINTF(3, 4) void tsi_pickle_fail(struct pickle_machine *m, enum tscope_status status,
					       const char *format, ...);

/* Makes room for one value more on the stack, within the limit; false: failed. */
TSI_MUST_CHECK
bool tsi_pickle_grow_stack(struct pickle_machine *m);

static inline void tsi_pickle_push(struct pickle_machine *m, uint32_t word)
{
	if (tsi_likely(m->depth < m->stack_room) || tsi_pickle_grow_stack(m))
		m->stack[m->depth++] = word;
}

#endif
