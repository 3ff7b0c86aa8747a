/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_HANG_VERDICT_H
#define TSCOPE_HANG_VERDICT_H

#include "base/attributes.h"
#include "hang/hang.h"

/*
 * Why the job stands still. Each rank waits in its first call that is not complete; that call waits
 * for members who have not made it, and these wait in calls of their own: the end of such a chain
 * is to blame, or a chain that closes. Calls that the dumps do not show are nobody's fault.
 */
#define HANG_KINDS(X)                                                                              \
	X(HANG_NONE, "none")                                                                       \
	X(HANG_IN_FLIGHT, "in_flight")                                                             \
	X(HANG_UNDECIDED, "undecided")                                                             \
	X(HANG_MISSING_CALL, "missing_call")                                                       \
	X(HANG_OTHER_COLLECTIVE, "other_collective")                                               \
	X(HANG_SIZE, "size")                                                                       \
	X(HANG_DTYPE, "dtype")                                                                     \
	X(HANG_COUNT, "count")                                                                     \
	X(HANG_ROOT, "root")                                                                       \
	X(HANG_SPLIT, "split")                                                                     \
	X(HANG_PEER, "peer")                                                                       \
	X(HANG_ORDER, "order")                                                                     \
	X(HANG_LATE, "late")                                                                       \
	X(HANG_NOT_STARTED, "not_started")                                                         \
	X(HANG_UNFINISHED, "unfinished")                                                           \
	X(HANG_NO_DUMP, "no_dump")

enum hang_kind { HANG_KINDS(TSI_NAMED_ID) };

const char *tsi_hang_kind_name(enum hang_kind kind);

/* The first call of a rank that is not complete. */
struct wait_op;

/* A rank that keeps a call from completing. */
struct blocker {
	uint32_t dump;
	bool is_absent; /* it has not made the call; else it has, behind another that waits */
};

/* A call that ranks wait in: of a collective all alike, of point-to-point one rank's. */
struct wait_op {
	uint32_t group, dump;         /* of the first rank in it */
	const struct dump_call *call; /* that rank's */
	uint32_t caller_count;        /* ranks whose first pending call it is */
	uint32_t peer_call_count;     /* of a collective: members who have made it */
	int64_t since_ns, latest_ns;  /* first and last of those who wait called it; 0: unknown */
	struct blocker *blockers;
	uint32_t blocker_count, missing_count, unknown_count; /* members without dump, or record */
	enum hang_kind kind; /* HANG_NONE: it waits for other ops */
	int64_t *culprits;   /* ranks */
	uint32_t culprit_count;
	bool is_tie;        /* each of them may be it */
	const char *detail; /* what differs, or NULL */
	uint32_t root;      /* the op that it waits for in the end */
	uint64_t weight;    /* ranks that wait for it in the end */
};

struct hang_verdict {
	enum hang_kind kind;
	const struct wait_op *op; /* NULL: nothing waits */
	struct wait_op *ops;
	uint32_t op_count;
	uint32_t *op_of; /* of each dump: its op, or NO_DUMP */
	const struct dump_call **heads;
	int64_t behind_count; /* collectives of the group that the culprit lags; 0: none */
	int64_t late_ns;      /* HANG_LATE: after the others */
	uint32_t *cycle;      /* HANG_ORDER: ops, each waiting for the next */
	uint32_t cycle_count;
	uint32_t candidate_count; /* ranks of circles that were held against all others */
	int64_t age_ns; /* from the last call to when the dumps were written; -1: unknown */
};

/* In the arena, whose status says whether memory sufficed. */
void tsi_hang_judge(struct hang_verdict *verdict, const struct hang_model *model,
		    struct arena *arena);

/* verdict_root.c: finds the op that is to blame, once each is judged by itself. */
void tsi_hang_choose(struct hang_verdict *verdict, const struct hang_model *model,
		     struct arena *arena);

/* verdict_compare.c: does what the callers of a collective say differ? Sets kind and culprits. */
void tsi_hang_compare(struct wait_op *op, const struct hang_model *model, struct arena *arena);

/*
 * Checks messages that match and differ in size, or that go to a wrong peer: one that another rank
 * waits in vain for. verdict NULL: only whether any does matters.
 */
struct message_end {
	const struct dump_call *call; /* the other side's; NULL: it has not called */
	const struct dump_message *message;
	uint32_t dump; /* of the peer; NO_DUMP */
};
struct message_end tsi_hang_other_end(const struct hang_model *model, uint32_t dump,
				      const struct dump_message *message);
void tsi_hang_compare_messages(struct wait_op *op, const struct hang_model *model,
			       const struct hang_verdict *verdict, struct arena *arena);

/*
 * verdict_history.c: what the rank called after calls like those before index `behind`, the latest
 * first; how many. 0: there were none like these.
 */
enum { HANG_MAX_EXPECTED = 8 };
size_t tsi_hang_expect(const struct dump *dump, size_t behind,
		       const struct dump_call *expected[HANG_MAX_EXPECTED]);
bool tsi_hang_is_alike(const struct dump *dump, const struct dump_call *a,
		       const struct dump_call *b);

/*
 * verdict_signs.c: of ranks that wait for each other, what speaks against one, the surest first. Of
 * two alike nothing does.
 */
typedef bool (*hang_sign)(struct hang_verdict *verdict, const struct hang_model *model,
			  uint32_t dump);
enum { HANG_SIGN_COUNT = 3 };
extern const hang_sign tsi_hang_signs[HANG_SIGN_COUNT];

/* verdict_host.c: hosts of a call that all ranks made and that stands still. */
struct hang_hosts {
	const char *stuck;     /* the only one of the ranks on which it stands still; or NULL */
	const char *shared[2]; /* the one or two that all calls which stand still have; or NULL */
	size_t count;          /* of its ranks; 0: a dump does not name its own */
};
struct hang_hosts tsi_hang_hosts(const struct hang_verdict *verdict, const struct hang_model *model,
				 struct arena *scratch);

/* Adds a rank that is to blame. */
void tsi_hang_blame(struct wait_op *op, struct arena *arena, int64_t rank);
bool tsi_hang_is_blamed(const struct wait_op *op, int64_t rank);

enum { HANG_MAX_MESSAGES = 64 }; /* of a call that are looked at */

#endif
