/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_HANG_HANG_H
#define TSCOPE_HANG_HANG_H

#include "hang/dump.h"

/* The dumps of all ranks joined: groups with their members, each with its calls in order. */
struct hang_member {
	int64_t rank;
	uint32_t dump; /* index; NO_DUMP */
	/* Calls of this group in the dump, by index. */
	uint32_t *collectives, *messages;
	uint32_t collective_count, message_call_count;
	int64_t last_enqueued, last_completed; /* of collectives; -1: none, or not known */
};

#define NO_DUMP UINT32_MAX

struct hang_group {
	uint32_t name, description, backend; /* texts */
	struct hang_member *members;         /* ascending ranks */
	uint32_t member_count;
	bool knows_ranks; /* else its members are those that called anything */
	bool is_used;     /* some rank called something */
};

struct hang_model {
	struct arena arena;
	struct intern texts; /* those of all dumps */
	struct dump *dumps;  /* by rank */
	size_t dump_count;
	struct hang_group *groups;
	size_t group_count, group_capacity;
	int64_t *world; /* every rank that any group names, ascending */
	size_t world_count;
	int64_t last_ns; /* the last time that any dump says */
};

/*
 * Takes over the dumps, which are in ascending order of ranks and have one each; their texts,
 * groups and calls are renumbered. May be deinited on failure: TSCOPE_E_NOMEM, TSCOPE_E_LIMIT.
 */
TSI_MUST_CHECK
enum tscope_status tsi_hang_join(struct hang_model *model, struct dump *dumps, size_t count,
				 struct tscope_error *err);
void tsi_hang_deinit(struct hang_model *model);

static inline const char *tsi_hang_text(const struct hang_model *model, uint32_t id)
{
	return tsi_intern_text(&model->texts, id).data;
}

/* The member that a rank is, or NULL. */
struct hang_member *tsi_hang_member(const struct hang_group *group, int64_t rank);

static inline struct dump_call *tsi_call_at(const struct hang_model *model,
					    const struct hang_member *member, uint32_t index)
{
	return &model->dumps[member->dump].calls[member->collectives[index]];
}
/* The index of a rank's dump, or SIZE_MAX. */
size_t tsi_hang_dump_of(const struct hang_model *model, int64_t rank);

/* A call with what it is ranked by. */
struct ranked_call {
	int64_t key;
	uint32_t dump;
	const struct dump_call *call;
};

/* The completed calls that took longest, those made last; largest key first, and how many. */
size_t tsi_hang_slowest(const struct hang_model *model, struct ranked_call *rows, size_t room);
size_t tsi_hang_latest(const struct hang_model *model, struct ranked_call *rows, size_t room);

/* Its call of a collective, or NULL: it has none with this number in its dump. */
struct dump_call *tsi_hang_call(const struct hang_model *model, const struct hang_member *member,
				int64_t sequence);

/* "all_reduce #1841 of group 2 (tp, ranks 4-7)"; "send 3->4 of …". In the arena. */
const char *tsi_hang_call_name(const struct hang_model *model, struct arena *arena,
			       const struct dump *dump, const struct dump_call *call);
/* "2 (tp, ranks 4-7)" */
const char *tsi_hang_group_name(const struct hang_model *model, struct arena *arena,
				uint32_t group);
/* "train.py:212 forward": the innermost frame that is not torch's; "" without frames. */
const char *tsi_hang_site(const struct hang_model *model, struct arena *arena,
			  const struct dump *dump, const struct dump_call *call);
/* Is it code of torch or Python itself? */
bool tsi_hang_is_library(struct str file);

#endif
