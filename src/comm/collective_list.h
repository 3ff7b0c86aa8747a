/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_COMM_COLLECTIVE_LIST_H
#define TSCOPE_COMM_COLLECTIVE_LIST_H

#include "base/arena.h"
#include "model/trace/trace.h"

/* One run of a collective: a kernel or, for backends without kernels, a span of the host. */
struct collective_run {
	uint8_t kind; /* enum collective_kind */
	bool on_host;
	bool is_further; /* one more kernel of a collective that is in the list already */
	bool is_send;    /* of COLLECTIVE_SEND_RECV: the record says so */
	uint32_t row;    /* its span */
	/* Its record: index in collectives (of several the last), or NO_ROW. */
	uint32_t record;
	/* Without a record: row of the span that its backend wrote on the host, or NO_ROW. */
	uint32_t annotation;
	struct str dtype;                 /* "": not said */
	uint32_t group_name, group_desc;  /* ids, 0: not said */
	int64_t group_size;               /* or NO_NUMBER */
	int64_t bytes;                    /* S of collective_kind.h, or NO_NUMBER */
	int64_t received_bytes;           /* what the rank gets out; or NO_NUMBER */
	double bus_bytes;                 /* S × bus factor, or NAN */
	const char *algorithm, *protocol; /* static, "": not said */
	int64_t dur_ns;
	/* Not of further ones: from the begin of its first kernel to the end of its last. */
	int64_t first_start_ns, last_end_ns;
};

struct collective_list {
	struct arena arena;
	struct collective_run *runs;
	size_t count, capacity;
};

void tsi_collective_list_deinit(struct collective_list *list);

/*
 * All collectives of a trace; false: out of memory. The list must be zeroed, and is to be deinited
 * also then.
 *
 * Host spans count where nothing runs on the device: those that backends
 * without kernels write ("gloo:all_reduce") always, the metadata records of
 * other backends only in a trace without communication kernels.
 */
TSI_MUST_CHECK
bool tsi_collective_list_fill(struct collective_list *list, const struct tscope_trace *trace);

#endif
