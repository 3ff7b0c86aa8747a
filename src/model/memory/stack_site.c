/* SPDX-License-Identifier: MIT */
/*
 * The site and the role of a stack. A large snapshot holds hundreds of millions of references to
 * frames, a million frames and some thousand texts: so texts are compared with patterns once
 * (stack_words.h), a frame is a byte made of the marks of its two texts, and a walk along a stack
 * looks at bytes only.
 */
#include "model/memory/stack_site.h"

#include "model/memory/stack_words.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

/* Bytes of a file or name: in a site; in a collapsed stack, where templates may be written out. */
enum { MAX_SITE_PIECE = 2000, MAX_LINE_PIECE = 16000 };

/* Bytes of all sites: a small file may refer to long names again and again. */
enum { MAX_SITE_BYTES = 64 << 20 };

/* A frame as text: two pieces, two colons, a number. */
#define MAX_FRAME_BYTES(piece) (2 * (piece) + 32)

/* Frames of a collapsed stack: the innermost so many. */
enum { MAX_COLLAPSED_FRAMES = 4096 };

enum { FRAME_BATCH = 64 };

static const char outwards[] = " < ";

/* The site of what is not filtered for, and of what comes when there is too much to be named. */
static const struct str other = { "(other)", 7 };

/* ---- frames ------------------------------------------------------------------------------ */

static uint32_t text_marks(struct stack_sites *sites, struct plain_value value)
{
	const struct plain *plain = sites->snapshot->plain;
	size_t index = tsi_plain_text_index(value);

	if (index == SIZE_MAX)
		return tsi_stack_text_marks(tsi_plain_text(plain, value), sites->filter);
	if (!sites->text_marks[index])
		sites->text_marks[index] =
			tsi_stack_text_marks(tsi_plain_text(plain, value), sites->filter);
	return sites->text_marks[index];
}

/* A site is the innermost frame of the first class that a stack has. */
enum frame_class {
	FRAME_USER = 1,
	FRAME_PYTHON,
	FRAME_NODE,
	FRAME_OPERATOR,
	FRAME_OTHER,
	FRAME_PLUMBING,
};

/* Hints of a frame at the role of its stack. */
enum frame_hint {
	HINT_NONE,
	HINT_BACKWARD,
	HINT_OPTIMIZER,
	HINT_KV_CACHE,
	HINT_COMMUNICATION,
	HINT_PARAMETER,
	HINT_CALL, /* of a module */
};

/* The byte of a frame: its class, whether it matches, its hint. */
enum {
	FRAME_CLASS_MASK = 7,
	FRAME_MATCHES = 1 << 3,
	FRAME_HINT_SHIFT = 4,
};

/* Folds what moves tensors to a device, too: the caller knows which. */
static bool is_folded(uint32_t file, uint32_t name)
{
	return file & FILE_FOLDED || (file & FILE_PACKAGE && name & NAME_MOVE);
}

static enum frame_class class_of(uint32_t file, uint32_t name)
{
	if (file & FILE_PYTHON)
		return is_folded(file, name) ? FRAME_PYTHON : FRAME_USER;
	if (name & NAME_NODE)
		return FRAME_NODE;
	if (name & NAME_OPERATOR)
		return FRAME_OPERATOR;
	return name & NAME_PLUMBING ? FRAME_PLUMBING : FRAME_OTHER;
}

static bool is_of_parameter(uint32_t file, uint32_t name)
{
	return file & FILE_PARAMETERS || name & NAME_PARAMETERS ||
	       (file & FILE_MODULE && name & NAME_MOVE) ||
	       (file & FILE_MODULES && name & NAME_INIT);
}

static enum frame_hint hint_of(uint32_t file, uint32_t name)
{
	if (file & FILE_COMMUNICATION || name & NAME_COMMUNICATION)
		return HINT_COMMUNICATION;
	if (name & (NAME_NODE | NAME_ENGINE) || (file & FILE_PYTHON && name & NAME_BACKWARD))
		return HINT_BACKWARD;
	if (file & FILE_OPTIMIZER || name & NAME_OPTIMIZER)
		return HINT_OPTIMIZER;
	if (file & FILE_KV_CACHE || name & NAME_KV_CACHE)
		return HINT_KV_CACHE;
	if (is_of_parameter(file, name))
		return HINT_PARAMETER;
	if ((file & FILE_MODULE && name & NAME_CALL) || (file & FILE_PYTHON && name & NAME_FORWARD))
		return HINT_CALL;
	return HINT_NONE;
}

static unsigned char look_at_frame(struct stack_sites *sites, struct plain_value frame)
{
	struct plain_value part[FRAME_KEY_COUNT];

	(void)tsi_plain_pick(sites->snapshot->plain, &sites->frame_pick, frame, part);
	uint32_t file = text_marks(sites, part[FRAME_FILENAME]);
	uint32_t name = text_marks(sites, part[FRAME_NAME]);

	sites->has_checkpoint |= (file & FILE_CHECKPOINT) != 0;
	unsigned mark = class_of(file, name) | hint_of(file, name) << FRAME_HINT_SHIFT;

	if ((file | name) & TEXT_MATCHES)
		mark |= FRAME_MATCHES;
	return (unsigned char)mark;
}

static unsigned mark_of(struct stack_sites *sites, struct plain_value frame)
{
	size_t index = tsi_plain_object_index(frame);

	if (index == SIZE_MAX)
		return look_at_frame(sites, frame);
	if (!sites->frames[index])
		sites->frames[index] = look_at_frame(sites, frame);
	return sites->frames[index];
}

/* ---- sites -------------------------------------------------------------------------------- */

void tsi_stack_sites_init(struct stack_sites *sites, const struct snapshot *snapshot,
			  unsigned depth, struct str filter, struct arena *arena)
{
	size_t object_count = tsi_plain_object_count(snapshot->plain);
	size_t text_count = tsi_plain_text_count(snapshot->plain);

	depth = depth == 0 ? 1 : depth;
	*sites = (struct stack_sites){
		.snapshot = snapshot,
		.depth = depth < SITE_DEPTH_MAX ? depth : SITE_DEPTH_MAX,
		.filter = filter,
		.frame_pick = { .keys = snapshot->frame_keys, .count = FRAME_KEY_COUNT },
		.arena = arena,
	};
	if (tsi_intern_init(&sites->texts, UINT32_MAX - 1, NULL) != TSCOPE_OK)
		arena->has_failed = true;
	sites->text_marks = tsi_arena_new(arena, text_count, sizeof(*sites->text_marks));
	sites->frames = tsi_arena_new(arena, object_count, 1);
	sites->roles = tsi_arena_new(arena, object_count, 1);
	sites->sites = tsi_arena_new(arena, object_count, sizeof(*sites->sites));
	sites->text = tsi_arena_new(arena, sites->depth,
				    MAX_FRAME_BYTES(MAX_SITE_PIECE) + sizeof(outwards));
}

void tsi_stack_sites_deinit(struct stack_sites *sites)
{
	tsi_intern_deinit(&sites->texts);
}

/* The frames that make up a site, while a stack is walked along. */
struct site_walk {
	unsigned class; /* the first that was met; above all of them at the beginning */
	bool matches;
	unsigned count;
	struct plain_value frames[SITE_DEPTH_MAX];
};

/* Takes a frame; true when nothing that comes can change the site. */
static bool take_frame(const struct stack_sites *sites, struct site_walk *walk,
		       struct plain_value frame, unsigned mark)
{
	unsigned class = mark & FRAME_CLASS_MASK;
	bool may_have_more = class <= FRAME_PYTHON;

	if (class < walk->class) {
		walk->class = class;
		walk->count = 0;
	}
	if (class == walk->class && walk->count < (may_have_more ? sites->depth : 1))
		walk->frames[walk->count++] = frame;
	walk->matches = walk->matches || mark & FRAME_MATCHES;
	return walk->class == FRAME_USER && walk->count == sites->depth && walk->matches;
}

static void walk_stack(struct stack_sites *sites, struct plain_value stack, struct site_walk *walk)
{
	struct plain_value frames[FRAME_BATCH];
	size_t first = 0, count;

	while ((count = tsi_plain_items(sites->snapshot->plain, stack, first, frames,
					FRAME_BATCH))) {
		for (size_t i = 0; i < count; i++)
			if (take_frame(sites, walk, frames[i], mark_of(sites, frames[i])))
				return;
		first += count;
	}
}

/* Copies a piece of a frame, cut between characters; its end. A line has no controls, no ";". */
static char *put_piece(char *at, struct str text, bool is_line)
{
	size_t limit = is_line ? MAX_LINE_PIECE : MAX_SITE_PIECE;

	if (text.length > limit) {
		text.length = limit;
		while (text.length && ((unsigned char)text.data[text.length] & 0xc0) == 0x80)
			text.length--;
	}
	for (size_t i = 0; i < text.length; i++) {
		char c = text.data[i];
		if (c == '\0' || (is_line && ((unsigned char)c < 0x20 || c == 0x7f)))
			c = ' ';
		*at++ = (char)(is_line && c == ';' ? ':' : c);
	}
	return at;
}

/* Writes "file:line:name"; its end, where a NUL stands. */
static char *put_frame(char *at, const struct snapshot_frame *frame, bool is_line)
{
	at = put_piece(at, frame->filename, is_line);
	at += snprintf(at, 32, ":%" PRId64 ":", frame->line);
	at = put_piece(at, frame->name, is_line);
	*at = '\0';
	return at;
}

static struct str site_text(struct stack_sites *sites, const struct site_walk *walk)
{
	char *at = sites->text;

	if (!walk->matches)
		return other;
	for (unsigned i = 0; i < walk->count; i++) {
		struct snapshot_frame frame = tsi_snapshot_frame(sites->snapshot, walk->frames[i]);
		if (i) {
			memcpy(at, outwards, sizeof(outwards) - 1);
			at += sizeof(outwards) - 1;
		}
		at = put_frame(at, &frame, false);
	}
	return (struct str){ sites->text, (size_t)(at - sites->text) };
}

static uint32_t add_site_text(struct stack_sites *sites, struct str text)
{
	size_t room = MAX_SITE_BYTES - sites->text_bytes, known_count = sites->texts.count;
	uint32_t id;

	if (text.length > room && tsi_intern_find(&sites->texts, text) == UINT32_MAX)
		text = other;
	if (tsi_intern_add(&sites->texts, text, &id, NULL) != TSCOPE_OK) {
		sites->arena->has_failed = true;
		return 0;
	}
	if (sites->texts.count > known_count && text.length < room)
		sites->text_bytes += text.length;
	return id;
}

static uint32_t name_site(struct stack_sites *sites, struct plain_value stack)
{
	struct site_walk walk = { .class = UINT_MAX, .matches = sites->filter.length == 0 };

	walk_stack(sites, stack, &walk);
	return add_site_text(sites, site_text(sites, &walk));
}

uint32_t tsi_stack_site(struct stack_sites *sites, struct plain_value stack)
{
	size_t index = tsi_plain_object_index(stack);
	uint32_t items_id = tsi_plain_items_id(sites->snapshot->plain, stack);
	struct latest_site *latest =
		&sites->latest[items_id * UINT32_C(0x9e3779b1) >> (32 - LATEST_SITE_BITS)];

	if (items_id && latest->items_id == items_id)
		return latest->site;
	if (index != SIZE_MAX && sites->sites[index])
		return sites->sites[index] - 1;
	uint32_t site = name_site(sites, stack);
	if (index != SIZE_MAX)
		sites->sites[index] = site + 1;
	*latest = (struct latest_site){ items_id, site };
	return site;
}

struct str tsi_stack_site_text(const struct stack_sites *sites, uint32_t site)
{
	return tsi_intern_text(&sites->texts, site);
}

/* ---- roles ------------------------------------------------------------------------------- */

const char *tsi_stack_role_name(enum stack_role role)
{
	static const char *const names[STACK_ROLE_COUNT] = {
		[STACK_UNKNOWN] = "unknown",
		[STACK_PARAMETER] = "parameter",
		[STACK_OPTIMIZER] = "optimizer",
		[STACK_BACKWARD] = "backward",
		[STACK_FORWARD] = "forward",
		[STACK_KV_CACHE] = "kv_cache",
		[STACK_COMMUNICATION] = "communication",
		[STACK_OTHER] = "other",
	};

	return names[role];
}

/* From the innermost frame outwards: true when the role is certain. */
static bool take_role(enum stack_role *role, bool *is_in_call, unsigned mark)
{
	switch ((enum frame_hint)(mark >> FRAME_HINT_SHIFT)) {
	case HINT_BACKWARD:
		*role = STACK_BACKWARD;
		return true;
	case HINT_OPTIMIZER:
		if (*is_in_call)
			return false;
		*role = STACK_OPTIMIZER;
		return true;
	case HINT_KV_CACHE:
		*role = STACK_KV_CACHE;
		return true;
	case HINT_COMMUNICATION:
		*role = STACK_COMMUNICATION;
		return true;
	case HINT_PARAMETER:
		*role = STACK_PARAMETER;
		return false;
	case HINT_CALL:
		*is_in_call = true;
		*role = *role == STACK_OTHER ? STACK_FORWARD : *role;
		return false;
	case HINT_NONE:
		break;
	}
	return false;
}

static enum stack_role role_of(struct stack_sites *sites, struct plain_value stack)
{
	struct plain_value frames[FRAME_BATCH];
	enum stack_role role = STACK_OTHER;
	bool is_in_call = false;
	size_t first = 0, count;

	while ((count = tsi_plain_items(sites->snapshot->plain, stack, first, frames,
					FRAME_BATCH))) {
		for (size_t i = 0; i < count; i++)
			if (take_role(&role, &is_in_call, mark_of(sites, frames[i])))
				return role;
		first += count;
	}
	return first ? role : STACK_UNKNOWN;
}

enum stack_role tsi_stack_role(struct stack_sites *sites, struct plain_value stack)
{
	size_t index = tsi_plain_object_index(stack);

	if (index == SIZE_MAX)
		return STACK_UNKNOWN;
	if (!sites->roles[index])
		sites->roles[index] = (unsigned char)(role_of(sites, stack) + 1);
	return (enum stack_role)(sites->roles[index] - 1);
}

/* ---- collapsed stacks --------------------------------------------------------------------- */

struct str tsi_stack_file_name(struct str path)
{
	size_t start = path.length;

	while (start && path.data[start - 1] != '/' && path.data[start - 1] != '\\')
		start--;
	return tsi_str_tail(path, start);
}

struct str tsi_stack_collapse(struct text_room *room, const struct snapshot *snapshot,
			      struct plain_value stack)
{
	size_t depth = tsi_stack_depth(snapshot, stack), length = 0;

	depth = depth < MAX_COLLAPSED_FRAMES ? depth : MAX_COLLAPSED_FRAMES;
	while (depth) {
		char *made = tsi_arena_reserve(room->arena, room->text, &room->capacity,
					       length + MAX_FRAME_BYTES(MAX_LINE_PIECE) + 1, 1);
		if (!made)
			return TSI_STR("");
		room->text = made;
		struct snapshot_frame frame = tsi_stack_frame(snapshot, stack, --depth);
		frame.filename = tsi_stack_file_name(frame.filename);
		if (length)
			made[length++] = ';';
		length = (size_t)(put_frame(made + length, &frame, true) - made);
	}
	return length ? (struct str){ room->text, length } : TSI_STR("");
}
