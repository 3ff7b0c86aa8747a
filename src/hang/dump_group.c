/* SPDX-License-Identifier: MIT */
/* Which operation and which group an entry of a dump is of. */
#include "hang/dump_read.h"

#include <stdio.h>
#include <string.h>

#include "base/sort.h"

enum { MAX_GROUP_RANKS = 1 << 20, MAX_UNUSED_GROUPS = 4096 };

/* ---- names --------------------------------------------------------------------------------- */

static int32_t take_place(struct str *text)
{
	int32_t number = -1;

	while (text->length && tsi_is_digit(*text->data)) {
		if (number < 100000000)
			number = (number < 0 ? 0 : number * 10) + (*text->data - '0');
		text->data++;
		text->length--;
	}
	return number;
}

/* "0->1" of a send, "1<-0" of a receive. */
static void read_peers(struct call_name *name, struct str peers)
{
	int32_t left = take_place(&peers);
	bool is_forward = tsi_str_starts(peers, "->");

	if (left < 0 || (!is_forward && !tsi_str_starts(peers, "<-")))
		return;
	peers = tsi_str_tail(peers, 2);
	int32_t right = take_place(&peers);
	name->from = is_forward ? left : right;
	name->to = is_forward ? right : left;
}

static struct call_name parse_name(struct dump_reader *r, struct str text)
{
	struct call_name name = { .from = -1, .to = -1 };
	const char *colon = text.length ? memchr(text.data, ':', text.length) : NULL;
	struct str rest = text, backend = { NULL, 0 };

	if (colon) {
		backend = (struct str){ text.data, (size_t)(colon - text.data) };
		rest = (struct str){ colon + 1, text.length - backend.length - 1 };
	}
	struct str type = tsi_str_take(&rest, ' ');
	name.is_send = tsi_str_is(type, "send");
	name.is_recv = tsi_str_is(type, "recv");
	name.is_coalesced = tsi_str_is(type, "coalesced");
	if (name.is_send || name.is_recv)
		read_peers(&name, tsi_str_trim(rest));
	name.is_gloo = tsi_str_is(backend, "gloo");
	name.backend = tsi_dump_text(r, backend);
	name.type = tsi_dump_text(r, type);
	return name;
}

struct call_name tsi_dump_name_of(struct dump_reader *r, struct plain_value value)
{
	uint32_t index = tsi_key_map_find(&r->names, value.word);

	if (index != UINT32_MAX)
		return r->call_names[index];
	struct call_name name = parse_name(r, tsi_plain_text(r->plain, value));
	struct call_name *kept =
		tsi_arena_push(&r->dump->arena, &r->call_names, &r->call_name_count,
			       &r->call_name_capacity, sizeof(*kept));
	if (!kept)
		return name;
	*kept = name;
	tsi_dump_put(&r->names, value.word, (uint32_t)r->call_name_count - 1, r);
	return name;
}

/* ---- groups -------------------------------------------------------------------------------- */

/* Ranks are a list, or a text that holds one: "[0, 1]". */
static size_t read_ranks(struct dump_reader *r, struct plain_value value, int64_t *ranks,
			 size_t room)
{
	struct str text = tsi_plain_text(r->plain, value);
	size_t count = 0, length = tsi_plain_length(r->plain, value);

	if (tsi_plain_is_list(value)) {
		for (size_t i = 0; i < length && count < room; i++)
			count += tsi_dump_int(r->plain, tsi_plain_item(r->plain, value, i),
					      &ranks[count]);
		return count;
	}
	while (text.length && count < room) {
		int32_t rank = take_place(&text);

		if (rank >= 0) {
			ranks[count++] = rank;
		} else {
			text.data++;
			text.length--;
		}
	}
	return count;
}

static void set_ranks(struct dump_reader *r, struct dump_group *group, struct plain_value value)
{
	size_t room = tsi_plain_is_list(value) ? tsi_plain_length(r->plain, value)
					       : tsi_plain_text(r->plain, value).length / 2 + 1;
	int64_t *ranks, *scratch;

	if (room > MAX_GROUP_RANKS)
		room = MAX_GROUP_RANKS;
	ranks = tsi_arena_new(&r->dump->arena, room, sizeof(*ranks));
	scratch = tsi_arena_new(&r->dump->arena, room, sizeof(*scratch));
	if (!ranks || !scratch)
		return;
	size_t count = read_ranks(r, value, ranks, room), kept = 0;
	tsi_sort_numbers(ranks, scratch, count);
	for (size_t i = 0; i < count; i++)
		if (ranks[i] >= 0 && (kept == 0 || ranks[i] != ranks[kept - 1]))
			ranks[kept++] = ranks[i];
	group->ranks = kept > 0 ? ranks : NULL;
	group->rank_count = kept;
}

/* Configures the group of this name from pg_config. */
static void configure(struct dump_reader *r, struct dump_group *group, struct str name)
{
	const struct plain *plain = r->plain;
	struct plain_value config =
		tsi_plain_find(plain, tsi_plain_root(plain), TSI_STR("pg_config"));
	struct plain_value group_value = tsi_plain_find(plain, config, name);
	struct plain_value description = tsi_plain_find(plain, group_value, TSI_STR("desc"));

	set_ranks(r, group, tsi_plain_find(plain, group_value, TSI_STR("ranks")));
	if (group->description == 0)
		group->description = tsi_dump_text(r, tsi_plain_text(plain, description));
}

/* The group of an entry: process_group is (name, description); before 2.0 there is only pg_id. */
uint32_t tsi_dump_group_of(struct dump_reader *r, uint32_t backend)
{
	const struct plain *plain = r->plain;
	struct plain_value name = tsi_plain_item(plain, r->values[KEY_GROUP], 0);
	bool is_named = tsi_plain_kind(name) == PLAIN_TEXT;
	struct plain_value id = is_named ? name : r->values[KEY_PG_ID];
	uint64_t key = (uint64_t)id.word << 32 | backend;
	uint32_t index = tsi_key_map_find(&r->groups, key);
	int64_t number = 0;
	char digits[24];

	if (index != UINT32_MAX)
		return index;
	struct dump_group *group =
		tsi_arena_push(&r->dump->arena, &r->dump->groups, &r->dump->group_count,
			       &r->dump->group_capacity, sizeof(*group));
	if (!group)
		return 0;
	struct str text = tsi_plain_text(plain, name);
	if (!is_named) {
		(void)tsi_dump_int(plain, id, &number);
		text = (struct str){ digits, (size_t)snprintf(digits, sizeof(digits), "%lld",
							      (long long)number) };
	}
	group->name = tsi_dump_text(r, text);
	group->backend = backend;
	group->last_enqueued = group->last_completed = -1;
	struct plain_value description = tsi_plain_item(plain, r->values[KEY_GROUP], 1);
	group->description = tsi_dump_text(r, tsi_plain_text(plain, description));
	configure(r, group, text);
	tsi_dump_put(&r->groups, key, (uint32_t)r->dump->group_count - 1, r);
	return (uint32_t)r->dump->group_count - 1;
}

/* pg_status counts on where entries fell out of the buffer. */
static void read_status(struct dump_reader *r, struct dump_group *group, int64_t id)
{
	const struct plain *plain = r->plain;
	struct plain_value all = tsi_plain_find(plain, tsi_plain_root(plain), TSI_STR("pg_status"));
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%lld", (long long)id);
	struct plain_value status =
		tsi_plain_find(plain, all, (struct str){ digits, (size_t)length });

	(void)tsi_dump_int(plain,
			   tsi_plain_find(plain, status, TSI_STR("last_enqueued_collective")),
			   &group->last_enqueued);
	(void)tsi_dump_int(plain,
			   tsi_plain_find(plain, status, TSI_STR("last_completed_collective")),
			   &group->last_completed);
}

void tsi_dump_note_status(struct dump_reader *r, uint32_t group)
{
	int64_t id;

	if (!tsi_dump_int(r->plain, r->values[KEY_PG_ID], &id) ||
	    tsi_key_map_find(&r->status, (uint64_t)id) != UINT32_MAX)
		return;
	tsi_dump_put(&r->status, (uint64_t)id, group, r);
	read_status(r, &r->dump->groups[group], id);
}

void tsi_dump_add_unused_groups(struct dump_reader *r)
{
	const struct plain *plain = r->plain;
	struct plain_value config =
		tsi_plain_find(plain, tsi_plain_root(plain), TSI_STR("pg_config"));

	memset(r->values, 0, sizeof(r->values));
	for (size_t i = 0; i < tsi_plain_length(plain, config); i++) {
		struct str name = tsi_plain_text(plain, tsi_plain_key(plain, config, i));
		uint32_t id = tsi_dump_text(r, name);
		bool is_used = false;

		for (size_t k = 0; k < r->dump->group_count; k++)
			is_used |= r->dump->groups[k].name == id;
		if (is_used || i >= MAX_UNUSED_GROUPS)
			continue;
		struct dump_group *group =
			tsi_arena_push(&r->dump->arena, &r->dump->groups, &r->dump->group_count,
				       &r->dump->group_capacity, sizeof(*group));
		if (!group)
			return;
		group->name = id;
		group->last_enqueued = group->last_completed = -1;
		configure(r, group, name);
	}
}
