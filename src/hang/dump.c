/* SPDX-License-Identifier: MIT */
/*
 * Plain data to a dump. Writers differ in numbers as texts (JSON), in lists for tuples, in keys
 * that newer versions added; what is missing is not known, and what is no entry is counted.
 */
#include "hang/dump_read.h"

#include <string.h>

#include "base/ckd.h"
#include "base/error.h"
#include "base/sum.h"

enum {
	SIZES_CHARS = 160,  /* of the shapes of a call */
	JOINED_ENTRIES = 8, /* of a coalesced call, whose shapes are shown */
	MAX_FRAMES = 256,   /* of a stack */
};

static const char *const key_names[KEY_COUNT] = {
	[KEY_RECORD] = "record_id",
	[KEY_PG_ID] = "pg_id",
	[KEY_GROUP] = "process_group",
	[KEY_SEQUENCE] = "collective_seq_id",
	[KEY_P2P_SEQUENCE] = "p2p_seq_id",
	[KEY_OLD_SEQUENCE] = "seq_id",
	[KEY_NAME] = "profiling_name",
	[KEY_CREATED] = "time_created_ns",
	[KEY_INPUTS] = "input_sizes",
	[KEY_OUTPUTS] = "output_sizes",
	[KEY_INPUT_TYPES] = "input_dtypes",
	[KEY_OUTPUT_TYPES] = "output_dtypes",
	[KEY_STATE] = "state",
	[KEY_STARTED] = "time_discovered_started_ns",
	[KEY_COMPLETED] = "time_discovered_completed_ns",
	[KEY_IS_P2P] = "is_p2p",
	[KEY_TIMEOUT] = "timeout_ms",
	[KEY_DURATION] = "duration_ms",
	[KEY_RETIRED] = "retired",
	[KEY_FRAMES] = "frames",
};

/* ---- values -------------------------------------------------------------------------------- */

uint32_t tsi_dump_text(struct dump_reader *r, struct str text)
{
	uint32_t id = 0;

	if (r->failure == TSCOPE_OK)
		r->failure = tsi_intern_add(&r->dump->texts, text, &id, r->err);
	return r->failure == TSCOPE_OK ? id : 0;
}

bool tsi_dump_int(const struct plain *plain, struct plain_value value, int64_t *number)
{
	double real;

	if (tsi_plain_to_int64(plain, value, number))
		return true;
	if (tsi_plain_kind(value) == PLAIN_TEXT)
		return tsi_str_to_int64(tsi_plain_text(plain, value), number);
	if (!tsi_plain_to_real(plain, value, &real) || !(real > -9e18 && real < 9e18))
		return false;
	*number = (int64_t)real;
	return true;
}

/* 0 where it is none, or no time since 1970. */
static int64_t read_time(const struct dump_reader *r, enum key key)
{
	int64_t time_ns;

	return tsi_dump_int(r->plain, r->values[key], &time_ns) && time_ns > 0 ? time_ns : 0;
}

/* Milliseconds as ns; 0 where it is none. */
static int64_t read_ms(const struct dump_reader *r, enum key key)
{
	double ms;

	if (!tsi_plain_to_real(r->plain, r->values[key], &ms) || !(ms > 0 && ms < 9e12))
		return 0;
	return (int64_t)(ms * 1e6);
}

void tsi_dump_put(struct key_map *map, uint64_t key, uint32_t value, struct dump_reader *r)
{
	if (r->failure == TSCOPE_OK)
		r->failure = tsi_key_map_put(map, key, value, r->err);
}

/* ---- shapes -------------------------------------------------------------------------------- */

struct shape {
	char text[SIZES_CHARS];
	size_t length;
	int64_t count; /* elements of all tensors */
};

static void append(struct shape *shape, const char *text, size_t length)
{
	if (shape->length + length >= sizeof(shape->text))
		return;
	memcpy(shape->text + shape->length, text, length);
	shape->length += length;
}

static void append_number(struct shape *shape, int64_t number)
{
	char digits[24];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	append(shape, digits + at, sizeof(digits) - at);
}

static void append_tensor(struct shape *shape, const struct plain *plain, struct plain_value sizes)
{
	size_t dimensions = tsi_plain_length(plain, sizes);
	int64_t count = 1, size;

	append(shape, shape->length ? " [" : "[", shape->length ? 2 : 1);
	for (size_t i = 0; i < dimensions; i++) {
		if (!tsi_dump_int(plain, tsi_plain_item(plain, sizes, i), &size) || size < 0)
			size = 0;
		if (tsi_ckd_mul(&count, count, size))
			count = INT64_MAX;
		append(shape, ",", i > 0);
		append_number(shape, size);
	}
	append(shape, "]", 1);
	tsi_sum(&shape->count, count);
}

static struct shape shape_of(const struct dump_reader *r, struct plain_value list)
{
	struct shape shape = { .length = 0 };
	size_t count = tsi_plain_length(r->plain, list);

	for (size_t i = 0; i < count; i++)
		append_tensor(&shape, r->plain, tsi_plain_item(r->plain, list, i));
	return shape;
}

/* "Float", or "Float,Half" of several; each once. */
static void append_types(struct shape *shape, const struct plain *plain, struct plain_value list)
{
	size_t count = tsi_plain_length(plain, list);
	uint32_t last = 0;

	for (size_t i = 0; i < count; i++) {
		struct plain_value type = tsi_plain_item(plain, list, i);
		struct str text = tsi_plain_text(plain, type);

		if (type.word == last)
			continue;
		append(shape, ",", last != 0);
		append(shape, text.data ? text.data : "", text.length);
		last = type.word;
	}
}

static uint32_t types_of(struct dump_reader *r)
{
	struct plain_value in = r->values[KEY_INPUT_TYPES], out = r->values[KEY_OUTPUT_TYPES];
	struct shape types = { .length = 0 }, outputs = { .length = 0 };

	append_types(&types, r->plain, in);
	append_types(&outputs, r->plain, out);
	struct str a = { types.text, types.length }, b = { outputs.text, outputs.length };
	if (a.length && b.length && !tsi_str_equal(a, b)) {
		append(&types, "->", 2);
		append(&types, b.data, b.length);
		a.length = types.length;
	}
	return tsi_dump_text(r, a.length ? a : b);
}

/* ---- entries ------------------------------------------------------------------------------- */

/* Adds the shapes of one more entry of a coalesced call. */
static uint32_t join_shapes(struct dump_reader *r, uint32_t before, const struct shape *more,
			    uint32_t tensor_count)
{
	struct shape joined = { .length = 0 };
	struct str text = tsi_intern_text(&r->dump->texts, before);

	if (tensor_count > JOINED_ENTRIES || more->length == 0)
		return before;
	append(&joined, text.data, text.length);
	append(&joined, " ", joined.length > 0);
	append(&joined, more->text, more->length);
	return tsi_dump_text(r, (struct str){ joined.text, joined.length });
}

static void add_shapes(struct dump_reader *r, struct dump_call *call)
{
	struct shape in = shape_of(r, r->values[KEY_INPUTS]);
	struct shape out = shape_of(r, r->values[KEY_OUTPUTS]);
	size_t ins = tsi_plain_length(r->plain, r->values[KEY_INPUTS]);
	size_t outs = tsi_plain_length(r->plain, r->values[KEY_OUTPUTS]);

	tsi_sum(&call->input_count, in.count);
	tsi_sum(&call->output_count, out.count);
	call->tensor_count += (uint32_t)(ins > outs ? ins : outs);
	call->has_inputs |= ins > 0;
	call->has_outputs |= outs > 0;
	call->inputs = join_shapes(r, call->inputs, &in, call->tensor_count);
	call->outputs = join_shapes(r, call->outputs, &out, call->tensor_count);
	if (call->types == 0)
		call->types = types_of(r);
}

static bool is_true(struct plain_value value)
{
	bool truth = false;

	return tsi_plain_to_bool(value, &truth) && truth;
}

/*
 * Gloo records no event for the start or end of a call: the entry retires when it is done. With
 * other backends it also retires when it has timed out.
 */
static enum call_state state_of(const struct dump_reader *r, const struct call_name *name)
{
	struct str state = tsi_plain_text(r->plain, r->values[KEY_STATE]);

	if (tsi_str_is(state, "completed") || read_time(r, KEY_COMPLETED) ||
	    (name->is_gloo && is_true(r->values[KEY_RETIRED])))
		return CALL_COMPLETED;
	if (tsi_str_is(state, "started") || read_time(r, KEY_STARTED))
		return CALL_STARTED;
	return CALL_SCHEDULED;
}

static void keep_latest(int64_t *latest_ns, int64_t time_ns)
{
	if (time_ns > *latest_ns)
		*latest_ns = time_ns;
}

/* State and times of one more entry: of a coalesced call those of its end count. */
static void add_state(struct dump_reader *r, struct dump_call *call, const struct call_name *name)
{
	enum call_state state = state_of(r, name);

	if (name->is_coalesced) {
		call->state = (uint8_t)state;
		call->has_end = true;
	} else if (!call->has_end && state > call->state) {
		call->state = (uint8_t)state;
	}
	keep_latest(&call->started_ns, read_time(r, KEY_STARTED));
	keep_latest(&call->completed_ns, read_time(r, KEY_COMPLETED));
	keep_latest(&call->timeout_ns, read_ms(r, KEY_TIMEOUT));
	keep_latest(&call->duration_ns, read_ms(r, KEY_DURATION));
	keep_latest(&r->dump->last_ns, call->created_ns);
	keep_latest(&r->dump->last_ns, call->started_ns);
	keep_latest(&r->dump->last_ns, call->completed_ns);
}

static void add_message(struct dump_reader *r, const struct dump_call *call,
			const struct call_name *name)
{
	struct dump *dump = r->dump;
	struct plain_value sizes = r->values[name->is_send ? KEY_INPUTS : KEY_OUTPUTS];
	struct dump_message *message =
		tsi_arena_push(&dump->arena, &dump->messages, &dump->message_count,
			       &dump->message_capacity, sizeof(*message));

	if (!message)
		return;
	message->call = (uint32_t)(call - dump->calls);
	message->peer = name->is_send ? name->to : name->from;
	message->is_send = name->is_send;
	/* Some writers record the tensor on one side whichever way it goes. */
	message->count = shape_of(r, sizes).count;
	if (tsi_plain_length(r->plain, sizes) == 0)
		message->count =
			shape_of(r, r->values[name->is_send ? KEY_OUTPUTS : KEY_INPUTS]).count;
}

/* A new call, or the one before of the group that this entry belongs to. */
static struct dump_call *call_of(struct dump_reader *r, struct dump_group *group, bool is_p2p,
				 int64_t sequence)
{
	struct dump *dump = r->dump;
	uint32_t last = group->last_call[is_p2p];

	/* Messages of a call stand side by side: nothing else may have come between. */
	if (last && dump->calls[last - 1].sequence == sequence &&
	    (!is_p2p || last == dump->call_count) && !dump->calls[last - 1].has_end)
		return &dump->calls[last - 1];
	struct dump_call *call = tsi_arena_push(&dump->arena, &dump->calls, &dump->call_count,
						&dump->call_capacity, sizeof(*call));
	if (!call)
		return NULL;
	call->first_message = (uint32_t)dump->message_count;
	group->last_call[is_p2p] = (uint32_t)dump->call_count;
	return call;
}

static void begin_call(struct dump_reader *r, struct dump_call *call, uint32_t group,
		       int64_t sequence, size_t entry)
{
	call->is_begun = true;
	call->group = group;
	call->sequence = sequence;
	call->entry = (uint32_t)entry;
	call->created_ns = read_time(r, KEY_CREATED);
	if (!tsi_dump_int(r->plain, r->values[KEY_RECORD], &call->record))
		call->record = (int64_t)entry;
}

static bool read_sequence(const struct dump_reader *r, bool is_p2p, int64_t *sequence)
{
	return tsi_dump_int(r->plain, r->values[is_p2p ? KEY_P2P_SEQUENCE : KEY_SEQUENCE],
			    sequence) ||
	       tsi_dump_int(r->plain, r->values[KEY_OLD_SEQUENCE], sequence);
}

static void read_entry(struct dump_reader *r, struct plain_value entry, size_t index)
{
	struct dump *dump = r->dump;
	int64_t sequence;

	(void)tsi_plain_pick(r->plain, &r->picks[0], entry, r->values);
	(void)tsi_plain_pick(r->plain, &r->picks[1], entry, r->values + FIRST_KEYS);
	struct plain_value name_value = r->values[KEY_NAME];
	if (tsi_plain_kind(name_value) != PLAIN_TEXT) {
		dump->dropped_count++;
		return;
	}
	struct call_name name = tsi_dump_name_of(r, name_value);
	bool is_p2p = name.is_send || name.is_recv || is_true(r->values[KEY_IS_P2P]);
	if (!read_sequence(r, is_p2p, &sequence)) {
		dump->dropped_count++;
		return;
	}
	uint32_t group = tsi_dump_group_of(r, name.backend);
	if (dump->group_count == 0)
		return; /* without memory */
	struct dump_call *call = call_of(r, &dump->groups[group], is_p2p, sequence);
	if (!call)
		return;
	if (!call->is_begun)
		begin_call(r, call, group, sequence, index);
	if (call->name == 0 || !name.is_coalesced)
		call->name = name.type;
	call->is_p2p = is_p2p;
	add_shapes(r, call);
	add_state(r, call, &name);
	if (name.is_send || name.is_recv) {
		call->message_count++;
		add_message(r, call, &name);
	}
	/* A complete operation needs no status, and gloo's counts messages with collectives. */
	if (!is_p2p && dump->calls[0].record > 0 && !name.is_gloo)
		tsi_dump_note_status(r, group);
}

/* ---- stacks -------------------------------------------------------------------------------- */

static uint32_t text_of(struct dump_reader *r, struct plain_value frame, const char *key)
{
	return tsi_dump_text(
		r, tsi_plain_text(r->plain, tsi_plain_find(r->plain, frame, tsi_str_of(key))));
}

static void keep_frames(struct dump_reader *r, struct dump_call *call, struct plain_value entries)
{
	struct dump *dump = r->dump;
	struct plain_value entry = tsi_plain_item(r->plain, entries, call->entry);
	struct plain_value frames = tsi_plain_get(r->plain, entry, r->keys[KEY_FRAMES]);
	size_t count = tsi_plain_length(r->plain, frames);

	if (call->frame_count || !tsi_plain_is_list(frames))
		return;
	call->first_frame = (uint32_t)dump->frame_count;
	for (size_t i = 0; i < count && i < MAX_FRAMES; i++) {
		struct plain_value frame = tsi_plain_item(r->plain, frames, i);
		struct dump_frame *kept =
			tsi_arena_push(&dump->arena, &dump->frames, &dump->frame_count,
				       &dump->frame_capacity, sizeof(*kept));

		if (!kept)
			return;
		kept->function = text_of(r, frame, "name");
		kept->file = text_of(r, frame, "filename");
		(void)tsi_dump_int(r->plain, tsi_plain_find(r->plain, frame, TSI_STR("line")),
				   &kept->line);
		call->frame_count++;
	}
}

enum { MAX_PENDING_STACKS = 64 };

/*
 * Keeps the stacks of calls that a verdict may name: the first pending ones, the last of each
 * group.
 */
static void keep_stacks(struct dump_reader *r, struct plain_value entries)
{
	struct dump *dump = r->dump;
	size_t pending = 0;

	for (size_t i = 0; i < dump->call_count && pending < MAX_PENDING_STACKS; i++) {
		if (!tsi_call_is_pending(&dump->calls[i]))
			continue;
		keep_frames(r, &dump->calls[i], entries);
		pending++;
	}
	for (size_t i = 0; i < dump->group_count; i++)
		for (int p2p = 0; p2p < 2; p2p++)
			if (dump->groups[i].last_call[p2p])
				keep_frames(r, &dump->calls[dump->groups[i].last_call[p2p] - 1],
					    entries);
}

/* ---- the whole ----------------------------------------------------------------------------- */

bool tsi_is_dump(const struct plain *plain)
{
	struct plain_value root = tsi_plain_root(plain);
	struct plain_value entries = tsi_plain_find(plain, root, TSI_STR("entries"));
	struct plain_value first = tsi_plain_item(plain, entries, 0);

	if (tsi_plain_kind(tsi_plain_find(plain, root, TSI_STR("pg_config"))) == PLAIN_DICT)
		return true;
	return tsi_plain_is_list(entries) &&
	       tsi_plain_kind(tsi_plain_find(plain, first, TSI_STR("profiling_name"))) ==
		       PLAIN_TEXT;
}

static const char *copy_text(struct dump_reader *r, const char *key)
{
	struct plain_value value =
		tsi_plain_find(r->plain, tsi_plain_root(r->plain), tsi_str_of(key));

	return tsi_arena_copy(&r->dump->arena, tsi_plain_text(r->plain, value));
}

static void read_entries(struct dump_reader *r)
{
	struct dump *dump = r->dump;
	struct plain_value root = tsi_plain_root(r->plain), rank;
	struct plain_value entries = tsi_plain_find(r->plain, root, TSI_STR("entries"));

	dump->rank = -1;
	rank = tsi_plain_find(r->plain, root, TSI_STR("rank"));
	if (!tsi_dump_int(r->plain, rank, &dump->rank) || dump->rank < 0)
		dump->rank = -1;
	dump->version = copy_text(r, "version");
	dump->host = copy_text(r, "host_name");
	if (dump->host && !*dump->host)
		dump->host = copy_text(r, "hostname");
	dump->entry_count = tsi_plain_is_list(entries) ? tsi_plain_length(r->plain, entries) : 0;
	if (dump->entry_count > DUMP_MAX_ENTRIES) {
		r->failure = tsi_fail(r->err, TSCOPE_E_LIMIT, "more than %d entries in a dump",
				      DUMP_MAX_ENTRIES);
		return;
	}
	for (size_t i = 0; i < dump->entry_count && r->failure == TSCOPE_OK; i++)
		read_entry(r, tsi_plain_item(r->plain, entries, i), i);
	keep_stacks(r, entries);
	tsi_dump_add_unused_groups(r);
	if (dump->call_count > 0) {
		dump->has_lost = dump->calls[0].record > 0;
		dump->first_ns = dump->calls[0].created_ns;
	}
}

enum tscope_status tsi_dump_read(struct dump *dump, const struct plain *plain,
				 struct tscope_error *err)
{
	struct dump_reader r = { .dump = dump, .plain = plain, .err = err };

	for (size_t i = 0; i < KEY_COUNT; i++)
		r.keys[i] = tsi_plain_name(plain, tsi_str_of(key_names[i]));
	r.picks[0] = (struct plain_pick){ .keys = r.keys, .count = FIRST_KEYS };
	r.picks[1] =
		(struct plain_pick){ .keys = r.keys + FIRST_KEYS, .count = KEY_COUNT - FIRST_KEYS };
	*dump = (struct dump){ .rank = -1, .version = "", .host = "" };
	r.failure = tsi_intern_init(&dump->texts, 1 << 24, err);
	if (r.failure == TSCOPE_OK)
		read_entries(&r);
	tsi_key_map_deinit(&r.groups);
	tsi_key_map_deinit(&r.names);
	tsi_key_map_deinit(&r.status);
	return r.failure != TSCOPE_OK ? r.failure : tsi_arena_status(&dump->arena, err);
}

void tsi_dump_deinit(struct dump *dump)
{
	tsi_intern_deinit(&dump->texts);
	tsi_arena_deinit(&dump->arena);
}
