/* SPDX-License-Identifier: MIT */
/*
 * libiberty knows the whole grammar. It refuses texts whose depth could exhaust the stack, but a
 * short one may still stand for a name of gigabytes: the text comes in pieces, and the piece that
 * is too much is not returned from.
 */
#include "base/cxx_name.h"
#include "config.h"

#if HAVE_LIBIBERTY
#include <libiberty/demangle.h>
#include <setjmp.h>
#endif

enum { MAX_DEMANGLED = 8192 };

#if HAVE_LIBIBERTY
struct demangled {
	char text[MAX_DEMANGLED];
	size_t length;
	jmp_buf too_long;
};

static void add_piece(const char *piece, size_t length, void *opaque)
{
	struct demangled *out = opaque;

	if (length >= MAX_DEMANGLED - out->length)
		longjmp(out->too_long, 1);
	memcpy(out->text + out->length, piece, length);
	out->length += length;
}

static const char *demangle_whole(struct arena *arena, const char *name)
{
	struct demangled *out = tsi_arena_new(arena, 1, sizeof(*out));

	if (!out || setjmp(out->too_long) ||
	    !cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_ANSI, add_piece, out))
		return NULL;
	return out->text;
}
#else
static const char *demangle_whole(struct arena *arena, const char *name)
{
	(void)arena;
	(void)name;
	return NULL;
}
#endif

/* Reads the words of a path, "N5aiter4copy", "NS_4copy", "4copy", which stand in it as they are. */
static size_t read_path(const char **at, char path[MAX_DEMANGLED], size_t length)
{
	const char *p = *at;
	size_t start = length;
	bool has_more = *p == 'N';

	p += has_more;
	if (*p == 'S') /* stands for what was there before */
		p += strcspn(p, "_") + (strchr(p, '_') != NULL);
	while (tsi_is_digit(*p) && (has_more || length == start)) {
		size_t count = 0;
		while (tsi_is_digit(*p) && count < MAX_DEMANGLED)
			count = count * 10 + (size_t)(*p++ - '0');
		if (count == 0 || count > strlen(p) || count + 4 >= MAX_DEMANGLED - length)
			break;
		if (length > start) {
			path[length++] = ':';
			path[length++] = ':';
		}
		memcpy(path + length, p, count);
		length += count;
		p += count;
	}
	*at = p;
	return length;
}

/* The path of a function, and of its first template argument. */
static const char *demangle_path(struct arena *arena, const char *name)
{
	char path[MAX_DEMANGLED];
	const char *p = name + 2;
	size_t length = read_path(&p, path, 0), end;

	if (length > 0 && *p == 'I') {
		p++;
		path[length] = '<';
		end = read_path(&p, path, length + 1);
		if (end > length + 1) {
			path[end] = '>';
			length = end + 1;
		}
	}
	return length > 0 ? tsi_arena_copy(arena, (struct str){ path, length }) : NULL;
}

const char *tsi_demangle(struct arena *arena, const char *name)
{
	if (strncmp(name, "_Z", 2) != 0)
		return NULL;
	const char *whole = demangle_whole(arena, name);
	return whole ? whole : demangle_path(arena, name);
}
