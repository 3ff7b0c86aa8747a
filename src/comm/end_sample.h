/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_COMM_END_SAMPLE_H
#define TSCOPE_COMM_END_SAMPLE_H

#include "comm/rank_log.h"

/*
 * Are these the same collectives on two ranks? If they are, the difference of their ends is that
 * of the clocks, which hardly changes from one to the next, and none ends before the other began.
 *
 *	struct end_sample sample = { 0 };
 *	for each pair, in order: tsi_end_sample_add(&sample, a, b);
 *	struct end_agreement agreement = tsi_end_agreement(&sample);
 */
enum {
	END_SAMPLE_ROOM = 128,
	CLEARLY_WORSE = 4, /* how many times worse ends agree where they are not the same */
};

/* The second clock − the first one, as a pair of ops shows it. */
struct end_place {
	int64_t end_ns;           /* on the first clock */
	int64_t difference;       /* if both ended together */
	int64_t earliest, latest; /* if neither ended before the other began */
};

struct end_sample {
	int64_t changes[END_SAMPLE_ROOM];   /* of the difference, beyond what clocks drift */
	int64_t durations[END_SAMPLE_ROOM]; /* the shorter one */
	size_t count, contradiction_count;
	struct end_place last;
	bool has_last;
};

struct end_agreement {
	size_t count;        /* 0: nothing is known */
	int64_t spread_ns;   /* median change */
	int64_t transfer_ns; /* median of the shorter durations */
	bool is_possible; /* false: ops of one would have ended before those of the other began */
};

/* Takes the first that end together on both; those after END_SAMPLE_ROOM are not needed. */
void tsi_end_sample_add(struct end_sample *sample, const struct rank_op *a,
			const struct rank_op *b);

/* True once the verdict is final: already impossible, or the sample is full. */
bool tsi_end_sample_is_decided(const struct end_sample *sample);

struct end_agreement tsi_end_agreement(struct end_sample *sample);

/* Ends that differ by more than the whole transfer takes are no common ends. */
static inline bool tsi_do_end_together(const struct end_agreement *ends)
{
	return ends->is_possible && ends->spread_ns / CLEARLY_WORSE <= ends->transfer_ns;
}

#endif
