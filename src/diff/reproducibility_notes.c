/* SPDX-License-Identifier: MIT */
/* What it means that two runs are not the same, or are: sentences. */
#include "diff/reproducibility_notes.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/real.h"

enum {
	MAX_NAMED = 8,         /* names that a sentence lists; the tables have all */
	NAME_CHARS = 60,       /* of each */
	LIST_CHARS = 640,      /* room for these */
	TOLERANCE_CHARS = 100, /* " up to 0.001 of the larger one" */
	WHERE_CHARS = 100,
	RANK_CHARS = 40,
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

/* The notes while they are made. */
struct notes {
	const struct analysis_scope *scope;
	const struct reproducibility *r;
	const char **texts;
	size_t count;
	struct tscope_error *err;
};

TSI_PRINTF(2, 3) static enum tscope_status add_note(struct notes *notes, const char *format, ...)
{
	char text[NOTE_CHARS];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return tsi_keep_text(notes->scope, tsi_str_of(text), &notes->texts[notes->count++],
			     notes->err);
}

/* "lr, batch and 3 more" */
static void list_names(char list[static LIST_CHARS], const struct setting_changes *changes)
{
	size_t length = 0;

	list[0] = '\0';
	for (size_t i = 0; i < changes->count && i < MAX_NAMED; i++) {
		snprintf(list + length, LIST_CHARS - length, "%s%.*s", i > 0 ? ", " : "",
			 (int)NAME_CHARS, changes->names[i]);
		tsi_str_drop_partial(list);
		length = strlen(list);
	}
	if (changes->count > MAX_NAMED)
		snprintf(list + length, LIST_CHARS - length, " and %zu more",
			 changes->count - MAX_NAMED);
}

/* "A", "B" or "A and B"; NULL: neither. */
static const char *sides(const bool of_side[TSCOPE_SIDE_COUNT])
{
	if (of_side[TSCOPE_SIDE_A] && of_side[TSCOPE_SIDE_B])
		return "A and B";
	if (of_side[TSCOPE_SIDE_A])
		return "A";
	return of_side[TSCOPE_SIDE_B] ? "B" : NULL;
}

/* What equal means, where it does not mean equal. */
static void tell_tolerance(char text[static TOLERANCE_CHARS], const struct reproducibility *r)
{
	char number[REAL_TEXT_MAX];

	text[0] = '\0';
	if (!(r->loss_tolerance > 0) || !isfinite(r->loss_tolerance))
		return;
	tsi_real_shortest(number, r->loss_tolerance);
	snprintf(text, TOLERANCE_CHARS, " up to %s of the larger one", number);
}

/* "40 losses", "losses of 4 ranks" */
static void tell_losses(char text[static RANK_CHARS], const struct reproducibility *r)
{
	size_t rank_count = r->rank_count[TSCOPE_SIDE_A];

	if (rank_count > 1)
		snprintf(text, RANK_CHARS, "losses of %zu ranks", rank_count);
	else
		snprintf(text, RANK_CHARS, "%zu losses", r->losses.a_count);
}

static enum tscope_status note_reproducible(struct notes *notes)
{
	char losses[RANK_CHARS], tolerance[TOLERANCE_CHARS];
	const struct reproducibility *r = notes->r;

	tell_losses(losses, r);
	tell_tolerance(tolerance, r);
	if (!sides(r->knows_job))
		return add_note(notes,
				"Reproducible as far as is known: all %s are equal%s; "
				"neither side says its environment and configuration "
				"(run.json).",
				losses, tolerance);
	return add_note(notes,
			"Reproducible: environment, configuration and all %s are "
			"equal%s.",
			losses, tolerance);
}

/* One side's run.json is not there, or says nothing: that is all that differs. */
static enum tscope_status note_one_knows(struct notes *notes)
{
	bool a_knows = notes->r->knows_job[TSCOPE_SIDE_A];

	return add_note(notes,
			"Only %s says its environment and configuration (run.json): whether "
			"those of %s were the same is not known.",
			a_knows ? "A" : "B", a_knows ? "B" : "A");
}

static enum tscope_status note_config(struct notes *notes)
{
	char names[LIST_CHARS];

	list_names(names, &notes->r->config);
	if (notes->r->losses.relation == TRAJECTORY_EQUAL)
		return add_note(notes, "The configuration differs (%s), yet all losses are equal.",
				names);
	return add_note(notes,
			"The configuration differs (%s): another outcome is to be expected, "
			"and no sign of nondeterminism.",
			names);
}

static enum tscope_status note_environment(struct notes *notes)
{
	char names[LIST_CHARS];

	list_names(names, &notes->r->relevant);
	if (notes->r->losses.relation == TRAJECTORY_EQUAL)
		return add_note(notes,
				"The environment differs in what can change numerics (%s), "
				"yet all losses are equal.",
				names);
	return add_note(notes,
			"The environment differs in what can change numerics (%s): runs that "
			"are otherwise the same may then have other losses.",
			names);
}

static enum tscope_status note_ranks(struct notes *notes)
{
	const struct reproducibility *r = notes->r;
	const char *outcome = ": another outcome is to be expected, and no sign of nondeterminism";

	if (r->losses.relation == TRAJECTORY_UNKNOWN)
		outcome = ""; /* nobody speaks of an outcome */
	else if (r->losses.relation == TRAJECTORY_EQUAL)
		outcome = ", yet all losses are equal";
	return add_note(notes, "The number of ranks differs (%zu in A, %zu in B)%s.",
			r->rank_count[TSCOPE_SIDE_A], r->rank_count[TSCOPE_SIDE_B], outcome);
}

static enum tscope_status note_nondeterminism(struct notes *notes)
{
	if (!sides(notes->r->knows_job))
		return add_note(notes,
				"NONDETERMINISM, unless environment or configuration changed "
				"(neither side says them in a run.json): the losses differ. "
				"To make runs repeat each other bit by bit, %s.",
				DETERMINISM_ADVICE);
	return add_note(notes,
			"NONDETERMINISM: the configuration and what can change numerics in "
			"the environment are the same, yet the losses differ. To make runs "
			"repeat each other bit by bit, %s.",
			DETERMINISM_ADVICE);
}

/* Why the outcomes differ: the first reason that applies. */
static enum tscope_status note_reason(struct notes *notes)
{
	const struct reproducibility *r = notes->r;
	bool one_knows = r->knows_job[TSCOPE_SIDE_A] != r->knows_job[TSCOPE_SIDE_B];

	if (one_knows)
		return note_one_knows(notes);
	if (r->config.count > 0)
		return note_config(notes);
	if (r->relevant.count > 0)
		return note_environment(notes);
	if (!has_same_ranks(r))
		return note_ranks(notes);
	if (r->losses.relation == TRAJECTORY_DIFFERS)
		return note_nondeterminism(notes);
	return TSCOPE_OK;
}

/* Switches that make runs differ, whether or not these two do. */
static enum tscope_status note_switches(struct notes *notes)
{
	const struct reproducibility *r = notes->r;
	bool lacks_seed[TSCOPE_SIDE_COUNT];
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++)
		lacks_seed[i] = r->knows_environment[i] && !r->has_hash_seed[i];
	if (sides(r->has_cudnn_benchmark))
		status = add_note(
			notes,
			"cudnn.benchmark is on in %s: it picks algorithms by how fast they "
			"were, so that losses differ from run to run; set "
			"torch.backends.cudnn.benchmark = False.",
			sides(r->has_cudnn_benchmark));
	if (status == TSCOPE_OK && sides(lacks_seed))
		status = add_note(
			notes,
			"PYTHONHASHSEED is not set in %s: set it, so that sets and whatever "
			"goes by hashes have the same order in each run.",
			sides(lacks_seed));
	return status;
}

/* " of rank 3", where it is not the lowest. */
static void tell_rank(char text[static RANK_CHARS], const struct reproducibility *r)
{
	text[0] = '\0';
	if (r->rank >= 0)
		snprintf(text, RANK_CHARS, " of rank %" PRId64, r->rank);
}

/* "step 12", "step 12 in A and 13 in B", or "index 10" where the step is not known. */
static void tell_where(char where[static WHERE_CHARS], const struct trajectories *t)
{
	int64_t step;

	if (t->a.has_step && t->b.has_step && t->a.step != t->b.step)
		snprintf(where, WHERE_CHARS, "step %" PRId64 " of A and %" PRId64 " of B",
			 t->a.step, t->b.step);
	else if (tsi_divergence_step(t, &step))
		snprintf(where, WHERE_CHARS, "step %" PRId64, step);
	else
		snprintf(where, WHERE_CHARS, "index %zu", t->divergence);
}

static void tell_loss(char text[static REAL_TEXT_MAX], double loss)
{
	if (isfinite(loss))
		tsi_real_shortest(text, loss);
	else
		snprintf(text, REAL_TEXT_MAX, "%s",
			 isnan(loss) ? "NaN"
			 : loss < 0  ? "-Infinity"
				     : "Infinity");
}

static enum tscope_status note_difference(struct notes *notes)
{
	const struct trajectories *t = &notes->r->losses;
	char rank[RANK_CHARS], where[WHERE_CHARS], a[REAL_TEXT_MAX], b[REAL_TEXT_MAX];

	tell_rank(rank, notes->r);
	tell_where(where, t);
	tell_loss(a, t->a.loss);
	tell_loss(b, t->b.loss);
	return add_note(notes, "The losses%s first differ at %s: %s in A, %s in B.", rank, where, a,
			b);
}

/* Where the losses part, or why that is not known. */
static enum tscope_status note_divergence(struct notes *notes)
{
	const struct trajectories *t = &notes->r->losses;
	char rank[RANK_CHARS], tolerance[TOLERANCE_CHARS];

	tell_rank(rank, notes->r);
	tell_tolerance(tolerance, notes->r);
	switch (t->relation) {
	case TRAJECTORY_EQUAL:
		break;
	case TRAJECTORY_DIFFERS:
		return note_difference(notes);
	case TRAJECTORY_PREFIX:
		return add_note(notes,
				"The losses%s are equal%s as far as both go: A has %zu, B %zu.",
				rank, tolerance, t->a_count, t->b_count);
	case TRAJECTORY_ONE_SIDE:
		return add_note(notes,
				"Only %s recorded losses%s: whether the outcome is the same "
				"is not known.",
				t->a_count > 0 ? "A" : "B", rank);
	case TRAJECTORY_UNKNOWN:
		/* Of traces nobody expects losses. */
		if (sides(notes->r->knows_job))
			return add_note(notes, "Neither side recorded a loss: whether the outcome "
					       "is the same is not known.");
		break;
	}
	return TSCOPE_OK;
}

enum tscope_status tsi_reproducibility_notes(const struct analysis_scope *scope,
					     const struct reproducibility *r,
					     const char *texts[MAX_REPRODUCIBILITY_NOTES],
					     size_t *count, struct tscope_error *err)
{
	struct notes notes = { .scope = scope, .r = r, .texts = texts, .err = err };
	enum tscope_status status;

	if (tsi_is_reproducible(r)) {
		status = note_reproducible(&notes);
	} else {
		status = note_reason(&notes);
		if (status == TSCOPE_OK)
			status = note_switches(&notes);
		if (status == TSCOPE_OK)
			status = note_divergence(&notes);
	}
	*count = notes.count;
	return status;
}
