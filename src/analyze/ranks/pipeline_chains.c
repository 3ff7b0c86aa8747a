/* SPDX-License-Identifier: MIT */
/* Finds pipelines in the sends and receives of a world, and counts what goes through them. */
#include "analyze/ranks/pipeline_chains.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "analyze/shared/quantile.h"

/* Beside a message some schedules send its shape, which is far smaller: that is not counted. */
enum { SHAPE_FRACTION = 16 };

/* A rank's place, by its sends and receives. */
struct place {
	uint32_t neighbours[2];       /* NO_ROW: none */
	bool is_odd;                  /* has more of them, or some that were not read */
	uint32_t source_votes, votes; /* steps that begin with a send, and all that have messages */
	uint32_t next;                /* whom it sends to first, in a step that begins so */
};

/* The messages of a rank in one step. */
struct step_messages {
	int64_t step;
	int64_t first_send_ns, first_receive_end_ns; /* INT64_MAX: none */
	uint32_t first_send_to;
};

struct finding {
	const struct world *world;
	struct arena *scratch;
	struct place *places; /* by rank */
	struct pipeline_chains *chains;
	uint32_t *path;  /* room for the ranks of a chain */
	int64_t *counts; /* room for the steps of a rank */
};

/* ---- messages ---- */

/* "cp" as a word of its own, or "context": rings of attention over parts of a sequence. */
static bool is_context_group(const char *name)
{
	size_t length = strlen(name);
	bool is_start = true;

	for (size_t i = 0; i < length; i++) {
		bool is_end = i + 2 >= length || !isalnum((unsigned char)name[i + 2]);

		if (strncasecmp(name + i, "context", strlen("context")) == 0 ||
		    (is_start && is_end && strncasecmp(name + i, "cp", strlen("cp")) == 0))
			return true;
		is_start = !isalnum((unsigned char)name[i]);
	}
	return false;
}

/* The index of the rank at the other end of an op's message; NO_ROW where there is no match. */
static uint32_t other_end(const struct world *world, uint32_t rank, size_t op)
{
	uint32_t index = world->match_of_op[rank][op];

	if (index == NO_ROW || world->matches[index].member_count != 2)
		return NO_ROW;
	const struct match_member *members = &world->members[world->matches[index].first_member];
	return members[0].rank == rank ? members[1].rank : members[0].rank;
}

/* Does the op belong to a pipeline, as far as is known? */
static bool is_message(const struct world *world, uint32_t rank, size_t op)
{
	const struct rank_op *candidate = &world->logs[rank].ops[op];
	uint32_t match = world->match_of_op[rank][op];
	const char *name = match != NO_ROW ? world->groups[world->matches[match].group].name : "";

	return candidate->kind == COLLECTIVE_SEND_RECV && !(name && is_context_group(name));
}

static void note_neighbour(struct place *place, uint32_t rank)
{
	for (size_t i = 0; i < TSI_COUNT_OF(place->neighbours); i++) {
		if (place->neighbours[i] == rank)
			return;
		if (place->neighbours[i] == NO_ROW) {
			place->neighbours[i] = rank;
			return;
		}
	}
	place->is_odd = true;
}

static void vote(struct place *place, const struct step_messages *messages)
{
	if (messages->step == NO_NUMBER)
		return;
	place->votes++;
	if (messages->first_send_ns >= messages->first_receive_end_ns)
		return;
	place->source_votes++;
	place->next = messages->first_send_to;
}

static void begin_step(struct step_messages *messages, int64_t step)
{
	*messages = (struct step_messages){ .step = step,
					    .first_send_ns = INT64_MAX,
					    .first_receive_end_ns = INT64_MAX };
}

static void note_message(struct step_messages *messages, const struct rank_op *op, uint32_t other)
{
	if (op->is_send && op->start_ns < messages->first_send_ns) {
		messages->first_send_ns = op->start_ns;
		messages->first_send_to = other;
	}
	if (!op->is_send && tsi_op_end(op) < messages->first_receive_end_ns)
		messages->first_receive_end_ns = tsi_op_end(op);
}

static void look_at_rank(struct finding *finding, uint32_t rank)
{
	const struct rank_log *log = &finding->world->logs[rank];
	struct place *place = &finding->places[rank];
	struct step_messages messages = { .step = NO_NUMBER };

	*place = (struct place){ .neighbours = { NO_ROW, NO_ROW }, .next = NO_ROW };
	for (size_t i = 0; i < log->op_count; i++) {
		const struct rank_op *op = &log->ops[i];
		uint32_t other = other_end(finding->world, rank, i);

		if (!is_message(finding->world, rank, i))
			continue;
		if (other == NO_ROW) {
			place->is_odd |=
				op->peer >= 0 && tsi_rank_index(finding->world, op->peer) == NO_ROW;
			continue;
		}
		finding->chains->has_messages = true;
		note_neighbour(place, other);
		if (op->step != messages.step) {
			vote(place, &messages);
			begin_step(&messages, op->step);
		}
		note_message(&messages, op, other);
	}
	vote(place, &messages);
}

/* ---- chains ---- */

static bool is_source(const struct place *place)
{
	return place->source_votes > place->votes / 2;
}

static bool is_end(const struct place *place)
{
	return place->neighbours[1] == NO_ROW;
}

/* The neighbour of a rank that is not the one before it. */
static uint32_t after(const struct place *place, uint32_t before)
{
	return place->neighbours[place->neighbours[0] == before];
}

/*
 * The ranks from a first one on, in finding->path; 0 where they are no chain. A ring ends where
 * it began.
 */
static size_t walk(struct finding *finding, uint32_t first)
{
	const struct place *places = finding->places;
	uint32_t before = first, at = places[first].next;
	size_t count = 1;

	finding->path[0] = first;
	while (at != NO_ROW && at != first) {
		if (places[at].is_odd || is_source(&places[at]) ||
		    count == finding->world->rank_count)
			return 0;
		finding->path[count++] = at;
		uint32_t next = after(&places[at], before);
		before = at;
		at = next;
	}
	/* A chain begins at an end, a ring where its two ends meet. */
	return is_end(&places[first]) == (at == NO_ROW) ? count : 0;
}

/* Is it from this rank to that one? */
static bool is_sent_to(const struct world *world, uint32_t rank, size_t op, uint32_t to)
{
	return world->logs[rank].ops[op].is_send && is_message(world, rank, op) &&
	       other_end(world, rank, op) == to;
}

/* In bytes; 0 where no size is known. */
static int64_t largest_sent(const struct world *world, uint32_t from, uint32_t to)
{
	const struct rank_log *log = &world->logs[from];
	int64_t most = 0;

	for (size_t i = 0; i < log->op_count; i++)
		if (is_sent_to(world, from, i, to) && log->ops[i].bytes > most)
			most = log->ops[i].bytes;
	return most;
}

/* Messages from one rank to another in a step: the median. */
static int64_t count_sent(struct finding *finding, uint32_t from, uint32_t to)
{
	const struct rank_log *log = &finding->world->logs[from];
	int64_t most_bytes = largest_sent(finding->world, from, to), step = NO_NUMBER;
	size_t count = 0;

	for (size_t i = 0; i < log->op_count; i++) {
		const struct rank_op *op = &log->ops[i];

		if (op->step == NO_NUMBER || !is_sent_to(finding->world, from, i, to) ||
		    (op->bytes != NO_NUMBER && op->bytes < most_bytes / SHAPE_FRACTION))
			continue;
		if (op->step != step)
			finding->counts[count++] = 0;
		finding->counts[count - 1]++;
		step = op->step;
	}
	tsi_latch_sort_numbers(finding->scratch, finding->counts, count);
	return tsi_quantile_ns(finding->counts, count, 50);
}

/*
 * Forward, the first stage sends each microbatch on once for each virtual stage, and the last one
 * sends it back to the first between them. Of two stages both go the same way, and only one
 * virtual stage is thought of.
 */
static void count_microbatches(struct finding *finding, size_t stage_count, bool is_ring)
{
	struct pipeline_chains *chains = finding->chains;
	uint32_t first = finding->path[0], last = finding->path[stage_count - 1];
	int64_t on = count_sent(finding, first, finding->path[1]);
	int64_t back = is_ring ? count_sent(finding, last, first) : 0;

	if (on <= back || on % (on - back) != 0)
		return;
	chains->microbatch_count = on - back;
	chains->virtual_stage_count = on / (on - back);
}

/* Chains of different length are no copies of one pipeline: then there is none. */
static void find_chains(struct finding *finding)
{
	struct pipeline_chains *chains = finding->chains;

	for (uint32_t rank = 0; rank < finding->world->rank_count; rank++) {
		const struct place *place = &finding->places[rank];
		size_t count = is_source(place) && !place->is_odd ? walk(finding, rank) : 0;

		if (count < 2)
			continue;
		if (chains->stage_count == 0)
			count_microbatches(finding, count, !is_end(place));
		if (chains->stage_count != 0 && chains->stage_count != count) {
			chains->stage_count = 0;
			return;
		}
		chains->stage_count = count;
		for (size_t i = 0; i < count; i++)
			chains->stages[finding->path[i]] = (uint32_t)i;
	}
}

static void find_in(struct finding *finding)
{
	const struct world *world = finding->world;
	size_t most = 0;

	for (size_t i = 0; i < world->rank_count; i++)
		most = world->logs[i].op_count > most ? world->logs[i].op_count : most;
	finding->places =
		tsi_arena_new(finding->scratch, world->rank_count, sizeof(*finding->places));
	finding->path = tsi_arena_new(finding->scratch, world->rank_count, sizeof(*finding->path));
	finding->counts = tsi_arena_new(finding->scratch, most, sizeof(*finding->counts));
	if (!finding->counts)
		return;
	for (uint32_t rank = 0; rank < world->rank_count; rank++)
		look_at_rank(finding, rank);
	find_chains(finding);
}

void tsi_pipeline_chains_find(struct pipeline_chains *chains, const struct world *world,
			      struct arena *arena)
{
	struct arena scratch = { 0 };
	struct finding finding = { .world = world, .chains = chains, .scratch = &scratch };

	*chains = (struct pipeline_chains){ .rank_count = world->rank_count };
	chains->stages = tsi_latch_rows(arena, world->rank_count);
	if (chains->stages && world->match_of_op)
		find_in(&finding);
	tsi_latch_deinit(arena, &scratch);
}
