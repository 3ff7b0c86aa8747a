/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_HANG_DUMP_READ_H
#define TSCOPE_HANG_DUMP_READ_H

#include "base/key_map.h"
#include "hang/dump.h"

/* Shared by dump.c and dump_group.c: the reading of one dump. */
enum key {
	KEY_RECORD,
	KEY_PG_ID,
	KEY_GROUP,
	KEY_SEQUENCE,
	KEY_P2P_SEQUENCE,
	KEY_OLD_SEQUENCE,
	KEY_NAME,
	KEY_CREATED,
	KEY_INPUTS,
	KEY_OUTPUTS,
	KEY_INPUT_TYPES,
	KEY_OUTPUT_TYPES,
	KEY_STATE,
	KEY_STARTED,
	KEY_COMPLETED,
	KEY_IS_P2P,
	FIRST_KEYS, /* a pick has no more */
	KEY_TIMEOUT = FIRST_KEYS,
	KEY_DURATION,
	KEY_RETIRED,
	KEY_FRAMES,
	KEY_COUNT,
};

/* The parts of "nccl:send 0->1". */
struct call_name {
	uint32_t backend, type;
	int32_t from, to; /* point-to-point; else -1 */
	bool is_send, is_recv, is_coalesced, is_gloo;
};

struct dump_reader {
	struct dump *dump;
	const struct plain *plain;
	struct plain_value keys[KEY_COUNT];
	struct plain_pick picks[2];
	struct plain_value values[KEY_COUNT];
	struct key_map groups; /* (word of the name, backend) */
	struct key_map names;  /* word of profiling_name */
	struct call_name *call_names;
	size_t call_name_count, call_name_capacity;
	struct key_map status; /* pg_id: group + 1, until its status is read */
	struct tscope_error *err;
	enum tscope_status failure;
};

/* The id of a text; 0 once the reading has failed. */
uint32_t tsi_dump_text(struct dump_reader *r, struct str text);

/* JSON dumps write numbers as texts in places. */
bool tsi_dump_int(const struct plain *plain, struct plain_value value, int64_t *number);

void tsi_dump_put(struct key_map *map, uint64_t key, uint32_t value, struct dump_reader *r);

/* dump_group.c: the parts of a name; the group of the entry in r->values, and of a name. */
struct call_name tsi_dump_name_of(struct dump_reader *r, struct plain_value value);
uint32_t tsi_dump_group_of(struct dump_reader *r, uint32_t backend);

/* How far the entry's group is, as pg_status has it. */
void tsi_dump_note_status(struct dump_reader *r, uint32_t group);

/* Adds groups without entries: they list ranks. */
void tsi_dump_add_unused_groups(struct dump_reader *r);

#endif
