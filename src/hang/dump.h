/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_HANG_DUMP_H
#define TSCOPE_HANG_DUMP_H

#include "base/arena.h"
#include "base/intern.h"
#include "decode/plain/plain.h"

/*
 * One rank's dump of PyTorch's flight recorder: the last communication calls of its process, a
 * ring buffer. Versions 1.x to 2.x, as pickle or JSON, look the same here.
 *
 * Several entries of one sequence number (a coalesced group, which ends in an entry "coalesced"
 * that alone has the state) are one call.
 */
enum { DUMP_MAX_ENTRIES = 1 << 24 };

enum call_state { CALL_SCHEDULED, CALL_STARTED, CALL_COMPLETED };

/* Times are Unix time in ns, 0: not known. Texts are ids of dump->texts, later of all dumps'. */
struct dump_call {
	int64_t sequence; /* of its kind (collective or point-to-point) in its group */
	int64_t record;   /* running number in the process */
	int64_t created_ns, started_ns, completed_ns, duration_ns, timeout_ns;
	int64_t input_count, output_count; /* elements of all tensors, saturated */
	uint32_t group;                    /* of dump->groups, later of all dumps' */
	uint32_t name, inputs, outputs, types;
	uint32_t tensor_count;  /* of the larger side */
	uint32_t first_message; /* point-to-point: its sends and receives */
	uint32_t message_count;
	uint32_t entry;       /* the index of its first entry */
	uint32_t first_frame; /* of dump->frames; kept for calls that may be shown */
	uint16_t frame_count;
	uint8_t state; /* enum call_state */
	bool is_p2p, has_inputs, has_outputs, has_end, is_begun;
};

struct dump_message {
	int64_t count; /* elements */
	uint32_t call;
	int32_t peer; /* its place in the group; -1: not said */
	bool is_send;
};

/* Innermost first, as recorded. */
struct dump_frame {
	uint32_t function, file;
	int64_t line;
};

struct dump_group {
	uint32_t name, description, backend;
	int64_t *ranks; /* ascending; NULL: the dump does not say */
	size_t rank_count;
	int64_t last_enqueued, last_completed; /* sequence of collectives; -1: not said */
	uint32_t last_call[2];                 /* while it is read: collective, p2p; + 1 */
};

struct dump {
	struct arena arena;
	struct intern texts; /* ends when dumps are joined */
	int64_t rank;        /* -1: it does not say */
	const char *version, *host;
	struct dump_call *calls; /* as recorded */
	size_t call_count, call_capacity;
	struct dump_message *messages;
	size_t message_count, message_capacity;
	struct dump_frame *frames;
	size_t frame_count, frame_capacity;
	struct dump_group *groups;
	size_t group_count, group_capacity;
	size_t entry_count, dropped_count;
	bool has_lost;             /* the beginning was overwritten */
	int64_t first_ns, last_ns; /* of its first call; the last time that it says */
	int64_t written_ns;        /* set by who opens it: when the file was, or 0 */
};

/* Is it a dump? */
bool tsi_is_dump(const struct plain *plain);

/* Reads what tsi_is_dump(); may be deinited on failure: TSCOPE_E_LIMIT, TSCOPE_E_NOMEM. */
TSI_MUST_CHECK
enum tscope_status tsi_dump_read(struct dump *dump, const struct plain *plain,
				 struct tscope_error *err);
void tsi_dump_deinit(struct dump *dump);

static inline bool tsi_call_is_pending(const struct dump_call *call)
{
	return call->state != CALL_COMPLETED;
}

#endif
