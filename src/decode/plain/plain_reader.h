/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_PLAIN_PLAIN_READER_H
#define TSCOPE_DECODE_PLAIN_PLAIN_READER_H

#include "decode/plain/plain.h"
#include "input/input.h"

/*
 * The forms in which plain data comes.
 *
 * To add one: write plain_<name>.c with a `const struct plain_reader
 * tsi_plain_reader_<name>`, add PLAIN_READER(name) to plain_reader_list.h, the file to
 * meson.build, and a test tests/unit/test_plain_<name>.c.
 */
struct plain_reader {
	const char *form; /* "pickle", "json", "yaml", "html", "text" */
	/* Message of `tscope trace` for such a file; NULL: foreign.h looks into it. */
	const char *not_a_trace;
	/* How sure the first bytes (up to TASTED_PLAIN_BYTES) make it, in bits; 0: not mine. */
	unsigned (*taste)(struct str head);
	/*
	 * Reads one document from the position of `in`, and on to its end. TSCOPE_E_FORMAT (is
	 * none), TSCOPE_E_DAMAGED (ends too early, is broken), TSCOPE_E_UNSUPPORTED (holds no
	 * data: the message says what it holds and what to do), TSCOPE_E_LIMIT, or as the input.
	 */
	enum tscope_status (*read)(struct plain **ret, struct input *in,
				   const struct plain_limits *limits, struct tscope_error *err);
};

enum { TASTED_PLAIN_BYTES = 4096 };

/* Without the UTF-8 byte order mark that a text may begin with. */
static inline struct str tsi_plain_skip_mark(struct str head)
{
	size_t mark = tsi_str_starts(head, "\xef\xbb\xbf") ? 3 : 0;
	return tsi_str_tail(head, mark);
}

/*
 * The reader for a file with these first bytes, or NULL. A bracket alone means JSON, whatever
 * the document is about.
 */
const struct plain_reader *tsi_plain_reader_find(struct str head);

/* Finds the reader and reads. *form is its name. TSCOPE_E_FORMAT says what the first bytes are. */
TSI_MUST_CHECK
enum tscope_status tsi_plain_read(struct plain **ret, const char **form, struct input *in,
				  const struct plain_limits *limits, struct tscope_error *err);

#endif
