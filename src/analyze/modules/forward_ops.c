/* SPDX-License-Identifier: MIT */
/*
 * Which thread is meant by torch's number is not written: of the threads with forward operators it
 * is the one that has most of the sequence numbers, before the nodes that say them. Where two have
 * equally many, nothing is known.
 */
#include "analyze/modules/forward_ops.h"

#include "base/pair_set.h"

enum { MAX_THREADS = 16 };

struct forward_ops {
	const struct tscope_trace *trace;
	struct pair_set places;                    /* (track, sequence): struct place */
	uint32_t track_of[MAX_FORWARD_THREAD + 1]; /* by torch's number, or NO_ROW */
	uint32_t tracks[MAX_THREADS], track_count; /* with forward operators */
	struct pair_set firsts; /* (track, sequence): int64_t start of the first */
	int64_t votes[MAX_FORWARD_THREAD + 1][MAX_THREADS];
};

static uint32_t number_of(struct op_sequence sequence)
{
	return sequence.bits & ((1u << SEQUENCE_BITS) - 1);
}

static uint32_t thread_of(struct op_sequence sequence)
{
	return sequence.bits >> SEQUENCE_BITS;
}

/* Calls a function for each operator with a sequence number. */
static void walk_ops(struct forward_ops *ops, void (*take)(struct forward_ops *ops, uint32_t row,
							   struct op_sequence sequence))
{
	const struct tscope_trace *trace = ops->trace;
	const struct op_sequence *sequence = trace->op_sequences;

	for (uint32_t i = 0; i < trace->host_track_count; i++) {
		uint32_t row = trace->tracks[i].first, end = row + trace->tracks[i].count;
		for (; row < end; row++) {
			if (tsi_span_class(&trace->spans, row) != TSCOPE_SPAN_CPU_OP)
				continue;
			if (number_of(*sequence))
				take(ops, row, *sequence);
			sequence++;
		}
	}
}

static void note_track(struct forward_ops *ops, uint32_t row, struct op_sequence sequence)
{
	uint32_t track = tsi_trace_track_of(ops->trace, row);

	(void)sequence;
	if (!tsi_cpu_op(ops->trace, row)->is_forward || ops->track_count > MAX_THREADS)
		return;
	if (ops->track_count && ops->tracks[ops->track_count - 1] == track)
		return; /* rows come by track */
	if (ops->track_count < MAX_THREADS)
		ops->tracks[ops->track_count] = track;
	ops->track_count++;
}

static void note_first(struct forward_ops *ops, uint32_t row, struct op_sequence sequence)
{
	uint32_t track = tsi_trace_track_of(ops->trace, row);
	size_t known_count = ops->firsts.count;

	if (!tsi_cpu_op(ops->trace, row)->is_forward)
		return;
	uint32_t number = tsi_pair_set_add(&ops->firsts, track, number_of(sequence));
	if (number != UINT32_MAX && number >= known_count)
		((int64_t *)ops->firsts.items)[number] = tsi_start_ns(&ops->trace->spans, row);
}

static void vote(struct forward_ops *ops, uint32_t row, struct op_sequence sequence)
{
	if (!tsi_cpu_op(ops->trace, row)->is_backward || !ops->firsts.slot_count)
		return;
	for (uint32_t i = 0; i < ops->track_count; i++) {
		struct pair pair = { ops->tracks[i], number_of(sequence) };
		uint32_t number = *tsi_pair_set_slot(&ops->firsts, pair);
		if (number && ((const int64_t *)ops->firsts.items)[number - 1] <
				      tsi_start_ns(&ops->trace->spans, row))
			ops->votes[thread_of(sequence)][i]++;
	}
}

static uint32_t elect(const struct forward_ops *ops, const int64_t *votes)
{
	uint32_t best = NO_ROW;
	int64_t most = 0;

	for (uint32_t i = 0; i < ops->track_count; i++) {
		if (votes[i] == most)
			best = NO_ROW;
		if (votes[i] <= most)
			continue;
		most = votes[i];
		best = ops->tracks[i];
	}
	return best;
}

struct forward_ops *tsi_forward_ops_new(const struct tscope_trace *trace, struct arena *arena)
{
	struct forward_ops *ops = tsi_arena_new(arena, 1, sizeof(*ops));

	if (!ops)
		return NULL;
	ops->trace = trace;
	ops->places = (struct pair_set){ .arena = arena, .item_bytes = sizeof(struct place) };
	ops->firsts = (struct pair_set){ .arena = arena, .item_bytes = sizeof(int64_t) };
	walk_ops(ops, note_track);
	if (ops->track_count > 1 && ops->track_count <= MAX_THREADS) {
		walk_ops(ops, note_first);
		if (arena->has_failed)
			return NULL;
		walk_ops(ops, vote);
	}
	for (uint32_t i = 0; i <= MAX_FORWARD_THREAD; i++) {
		ops->track_of[i] = NO_ROW;
		if (ops->track_count == 1)
			ops->track_of[i] = ops->tracks[0];
		else if (ops->track_count <= MAX_THREADS && i < MAX_FORWARD_THREAD)
			ops->track_of[i] = elect(ops, ops->votes[i]);
	}
	return ops;
}

void tsi_forward_ops_add(struct forward_ops *ops, uint32_t row, struct op_sequence sequence,
			 struct place place)
{
	uint32_t track = tsi_trace_track_of(ops->trace, row);

	if (!number_of(sequence))
		return;
	uint32_t number = tsi_pair_set_add(&ops->places, track, number_of(sequence));
	if (number != UINT32_MAX)
		((struct place *)ops->places.items)[number] = place;
}

bool tsi_forward_ops_find(const struct forward_ops *ops, uint32_t row, struct op_sequence sequence,
			  struct place *place)
{
	uint32_t track = ops->track_of[thread_of(sequence)];

	(void)row;
	if (!number_of(sequence) || track == NO_ROW || !ops->places.slot_count)
		return false;
	uint32_t number =
		*tsi_pair_set_slot(&ops->places, (struct pair){ track, number_of(sequence) });
	if (!number)
		return false;
	*place = ((const struct place *)ops->places.items)[number - 1];
	return true;
}
