/* SPDX-License-Identifier: MIT */
/* Sentences about why two runs differ, or do not. */
#include "diff/reproducibility_notes.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/print_text.h"
#include "base/real.h"

enum {
	MAX_NAMED = 8,    /* names that a sentence lists; the tables have all */
	NAME_CHARS = 60,  /* of each */
	LIST_CHARS = 640, /* room for these */
	NOTE_CHARS = 1024,
};

#define DETERMINISM_ADVICE                                                                         \
	"set all seeds, torch.use_deterministic_algorithms(True), "                                \
	"torch.backends.cudnn.deterministic = True, torch.backends.cudnn.benchmark = False and "   \
	"CUBLAS_WORKSPACE_CONFIG=:4096:8"

static bool has_same_ranks(const struct reproducibility *r)
{
	return r->rank_count[TSCOPE_SIDE_A] == r->rank_count[TSCOPE_SIDE_B];
}

bool tsi_is_reproducible(const struct reproducibility *r)
{
	return r->losses.relation == TRAJECTORY_EQUAL && r->config.count == 0 &&
	       r->environment.count == 0 && has_same_ranks(r);
}

/* The table of notes while it is filled. */
struct notes {
	struct fact_sheet *out;
	size_t table;
	const struct reproducibility *r;
	struct arena *scratch;
};

TSI_PRINTF(2, 3) static void add_note(const struct notes *notes, const char *format, ...)
{
	char text[NOTE_CHARS];
	va_list arguments;

	va_start(arguments, format);
	tsi_vprint_text(text, sizeof(text), format, arguments);
	va_end(arguments);
	*tsi_table_row(notes->out, notes->table) =
		tsi_text(tsi_sheet_copy(notes->out, tsi_str_of(text)));
}

static bool is_listed(const struct setting_pair *pair, bool only_relevant)
{
	return !only_relevant || tsi_setting_is_relevant(pair->name);
}

static bool has_relevant(const struct setting_pairs *pairs)
{
	for (size_t i = 0; i < pairs->count; i++)
		if (is_listed(&pairs->items[i], true))
			return true;
	return false;
}

/* "lr, batch and 3 more" */
static void list_names(char list[static LIST_CHARS], const struct setting_pairs *pairs,
		       bool only_relevant)
{
	size_t count = 0;

	list[0] = '\0';
	for (size_t i = 0; i < pairs->count; i++) {
		if (!is_listed(&pairs->items[i], only_relevant) || count++ >= MAX_NAMED)
			continue;
		tsi_join_text(list, LIST_CHARS, ", ", "%.*s", (int)NAME_CHARS,
			      pairs->items[i].name);
	}
	if (count > MAX_NAMED)
		tsi_append_text(list, LIST_CHARS, " and %zu more", count - MAX_NAMED);
}

/* "A", "B" or "A and B"; NULL: neither. */
static const char *sides(const bool is_side[TSCOPE_SIDE_COUNT])
{
	if (is_side[TSCOPE_SIDE_A] && is_side[TSCOPE_SIDE_B])
		return "A and B";
	if (is_side[TSCOPE_SIDE_A])
		return "A";
	return is_side[TSCOPE_SIDE_B] ? "B" : NULL;
}

/* The tolerance for equal losses: " up to 0.001 of the larger one". */
static const char *tolerance_of(const struct notes *notes)
{
	double tolerance = notes->r->loss_tolerance;
	char number[REAL_TEXT_MAX];

	if (!(tolerance > 0) || !isfinite(tolerance))
		return "";
	tsi_real_shortest(number, tolerance);
	return tsi_arena_print(notes->scratch, " up to %s of the larger one", number);
}

/* "40 losses", "losses of 4 ranks" */
static const char *losses_of(const struct notes *notes)
{
	size_t rank_count = notes->r->rank_count[TSCOPE_SIDE_A];

	if (rank_count > 1)
		return tsi_arena_print(notes->scratch, "losses of %zu ranks", rank_count);
	return tsi_arena_print(notes->scratch, "%zu losses", notes->r->losses.a_count);
}

static void note_reproducible(const struct notes *notes)
{
	if (!sides(notes->r->knows_job))
		add_note(notes,
			 "Reproducible as far as is known: all %s are equal%s; "
			 "neither side says its environment and configuration "
			 "(run.json).",
			 losses_of(notes), tolerance_of(notes));
	else
		add_note(notes,
			 "Reproducible: environment, configuration and all %s are "
			 "equal%s.",
			 losses_of(notes), tolerance_of(notes));
}

/* One side's run.json is not there, or says nothing: that is all that differs. */
static void note_one_knows(const struct notes *notes)
{
	bool a_knows = notes->r->knows_job[TSCOPE_SIDE_A];

	add_note(notes,
		 "Only %s says its environment and configuration (run.json): whether "
		 "those of %s were the same is not known.",
		 a_knows ? "A" : "B", a_knows ? "B" : "A");
}

static void note_config(const struct notes *notes)
{
	char names[LIST_CHARS];

	list_names(names, &notes->r->config, false);
	if (notes->r->losses.relation == TRAJECTORY_EQUAL)
		add_note(notes, "The configuration differs (%s), yet all losses are equal.", names);
	else
		add_note(notes,
			 "The configuration differs (%s): another outcome is to be expected, "
			 "and no sign of nondeterminism.",
			 names);
}

static void note_environment(const struct notes *notes)
{
	char names[LIST_CHARS];

	list_names(names, &notes->r->environment, true);
	if (notes->r->losses.relation == TRAJECTORY_EQUAL)
		add_note(notes,
			 "The environment differs in what can change numerics (%s), "
			 "yet all losses are equal.",
			 names);
	else
		add_note(notes,
			 "The environment differs in what can change numerics (%s): runs that "
			 "are otherwise the same may then have other losses.",
			 names);
}

static void note_ranks(const struct notes *notes)
{
	const struct reproducibility *r = notes->r;
	const char *outcome = ": another outcome is to be expected, and no sign of nondeterminism";

	if (r->losses.relation == TRAJECTORY_UNKNOWN)
		outcome = ""; /* no outcome is known */
	else if (r->losses.relation == TRAJECTORY_EQUAL)
		outcome = ", yet all losses are equal";
	add_note(notes, "The number of ranks differs (%zu in A, %zu in B)%s.",
		 r->rank_count[TSCOPE_SIDE_A], r->rank_count[TSCOPE_SIDE_B], outcome);
}

static void note_nondeterminism(const struct notes *notes)
{
	if (!sides(notes->r->knows_job))
		add_note(notes,
			 "NONDETERMINISM, unless environment or configuration changed "
			 "(neither side says them in a run.json): the losses differ. "
			 "To make runs repeat each other bit by bit, %s.",
			 DETERMINISM_ADVICE);
	else
		add_note(notes,
			 "NONDETERMINISM: the configuration and what can change numerics in "
			 "the environment are the same, yet the losses differ. To make runs "
			 "repeat each other bit by bit, %s.",
			 DETERMINISM_ADVICE);
}

/* Why the outcomes differ: the first reason that applies. */
static void note_reason(const struct notes *notes)
{
	const struct reproducibility *r = notes->r;

	if (r->knows_job[TSCOPE_SIDE_A] != r->knows_job[TSCOPE_SIDE_B])
		note_one_knows(notes);
	else if (r->config.count > 0)
		note_config(notes);
	else if (has_relevant(&r->environment))
		note_environment(notes);
	else if (!has_same_ranks(r))
		note_ranks(notes);
	else if (r->losses.relation == TRAJECTORY_DIFFERS)
		note_nondeterminism(notes);
}

/* Switches that make runs differ, whether or not these two do. */
static void note_switches(const struct notes *notes)
{
	const struct reproducibility *r = notes->r;
	bool lacks_seed[TSCOPE_SIDE_COUNT];

	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++)
		lacks_seed[i] = r->knows_environment[i] && !r->has_hash_seed[i];
	if (sides(r->has_cudnn_benchmark))
		add_note(notes,
			 "cudnn.benchmark is on in %s: it picks algorithms by how fast they "
			 "were, so that losses differ from run to run; set "
			 "torch.backends.cudnn.benchmark = False.",
			 sides(r->has_cudnn_benchmark));
	if (sides(lacks_seed))
		add_note(notes,
			 "PYTHONHASHSEED is not set in %s: set it, so that sets and whatever "
			 "goes by hashes have the same order in each run.",
			 sides(lacks_seed));
}

/* " of rank 3"; "" for the lowest. */
static const char *rank_of(const struct notes *notes)
{
	if (notes->r->rank < 0)
		return "";
	return tsi_arena_print(notes->scratch, " of rank %" PRId64, notes->r->rank);
}

/* "step 12", "step 12 in A and 13 in B", or "index 10" where the step is not known. */
static const char *place_of(const struct notes *notes)
{
	const struct trajectories *t = &notes->r->losses;
	int64_t step;

	if (t->a.has_step && t->b.has_step && t->a.step != t->b.step)
		return tsi_arena_print(notes->scratch, "step %" PRId64 " of A and %" PRId64 " of B",
				       t->a.step, t->b.step);
	if (tsi_divergence_step(t, &step))
		return tsi_arena_print(notes->scratch, "step %" PRId64, step);
	return tsi_arena_print(notes->scratch, "index %zu", t->divergence);
}

static void put_loss(char text[static REAL_TEXT_MAX], double loss)
{
	if (isfinite(loss))
		tsi_real_shortest(text, loss);
	else
		snprintf(text, REAL_TEXT_MAX, "%s",
			 isnan(loss) ? "NaN"
			 : loss < 0  ? "-Infinity"
				     : "Infinity");
}

static void note_difference(const struct notes *notes)
{
	char a[REAL_TEXT_MAX], b[REAL_TEXT_MAX];

	put_loss(a, notes->r->losses.a.loss);
	put_loss(b, notes->r->losses.b.loss);
	add_note(notes, "The losses%s first differ at %s: %s in A, %s in B.", rank_of(notes),
		 place_of(notes), a, b);
}

/* Where the losses diverge, or why that is unknown. */
static void note_divergence(const struct notes *notes)
{
	const struct trajectories *t = &notes->r->losses;

	switch (t->relation) {
	case TRAJECTORY_EQUAL:
		break;
	case TRAJECTORY_DIFFERS:
		note_difference(notes);
		break;
	case TRAJECTORY_PREFIX:
		add_note(notes, "The losses%s are equal%s as far as both go: A has %zu, B %zu.",
			 rank_of(notes), tolerance_of(notes), t->a_count, t->b_count);
		break;
	case TRAJECTORY_ONE_SIDE:
		add_note(notes,
			 "Only %s recorded losses%s: whether the outcome is the same "
			 "is not known.",
			 t->a_count > 0 ? "A" : "B", rank_of(notes));
		break;
	case TRAJECTORY_UNKNOWN:
		/* Nobody expects losses in traces. */
		if (sides(notes->r->knows_job))
			add_note(notes, "Neither side recorded a loss: whether the outcome "
					"is the same is not known.");
		break;
	}
}

void tsi_put_reproducibility_notes(struct fact_sheet *out, size_t table,
				   const struct reproducibility *r)
{
	struct notes notes = { out, table, r, tsi_sheet_scratch(out) };

	if (tsi_is_reproducible(r)) {
		note_reproducible(&notes);
		return;
	}
	note_reason(&notes);
	note_switches(&notes);
	note_divergence(&notes);
}
