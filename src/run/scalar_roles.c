/* SPDX-License-Identifier: MIT */
/*
 * The roles of metrics by their names. There is no standard, but loggers have conventions: one
 * table holds them. Validation has names of its own, which are in no row.
 */
#include "run/scalars.h"

#include <string.h>

#include "base/attributes.h"
#include "base/error.h"

/* Names as words: in small letters, with one blank for all that is no letter or digit. */
enum { WORDS_MAX = 128 };

/*
 * The rows of a role in the order of preference: what is logged at each step before the mean of an
 * epoch. The first row that a name fits counts: its words are equal, * is one word or more.
 */
static const struct row {
	enum scalar_role role;
	const char *words;
} rows[] = {
	{ SCALAR_LOSS, "loss" },            /* pytscope, HF's console, many */
	{ SCALAR_LOSS, "train loss step" }, /* Lightning, where a metric is logged both ways */
	{ SCALAR_LOSS, "train step loss" },
	{ SCALAR_LOSS, "train batch loss" },
	{ SCALAR_LOSS, "batch loss" }, /* Keras, update_freq="batch" */
	{ SCALAR_LOSS, "train loss" }, /* Lightning, HF's "train/loss" */
	{ SCALAR_LOSS, "training loss" },
	{ SCALAR_LOSS, "loss train total" }, /* Composer */
	{ SCALAR_LOSS, "loss train" },
	{ SCALAR_LOSS, "loss step" },
	{ SCALAR_LOSS, "loss metrics global avg loss" }, /* torchtitan */
	{ SCALAR_LOSS, "reduced train loss" },           /* NeMo */
	{ SCALAR_LOSS, "lm loss" },                      /* Megatron, nanotron */
	{ SCALAR_LOSS, "train total loss" },
	{ SCALAR_LOSS, "total loss" },
	{ SCALAR_LOSS, "train loss epoch" },
	{ SCALAR_LOSS, "train epoch loss" },
	{ SCALAR_LOSS, "loss epoch" },
	{ SCALAR_LOSS, "epoch loss" }, /* Keras */
	{ SCALAR_GRAD_NORM, "grad norm" },
	{ SCALAR_GRAD_NORM, "grad norm step" },
	{ SCALAR_GRAD_NORM, "train grad norm" },
	{ SCALAR_GRAD_NORM, "train grad norm step" },
	{ SCALAR_GRAD_NORM, "gradient norm" },
	{ SCALAR_GRAD_NORM, "train gradient norm" },
	{ SCALAR_GRAD_NORM, "global grad norm" },
	{ SCALAR_GRAD_NORM, "train global grad norm" },
	{ SCALAR_GRAD_NORM, "l2 norm grad global" }, /* Composer */
	{ SCALAR_GRAD_NORM, "grad 2 0 norm total" }, /* Lightning's grad_norm() */
	{ SCALAR_GRAD_NORM, "actor grad norm" },     /* verl, as all with "actor" */
	{ SCALAR_GRAD_NORM, "grad norm epoch" },
	{ SCALAR_LEARNING_RATE, "learning rate" },
	{ SCALAR_LEARNING_RATE, "lr" },
	{ SCALAR_LEARNING_RATE, "train learning rate" }, /* HF */
	{ SCALAR_LEARNING_RATE, "train lr" },
	{ SCALAR_LEARNING_RATE, "lr *" }, /* Lightning's "lr-AdamW/pg1", Composer's */
	{ SCALAR_LEARNING_RATE, "learning rate *" },
	{ SCALAR_LEARNING_RATE, "train lr *" },
	{ SCALAR_LEARNING_RATE, "actor lr" },
	{ SCALAR_LEARNING_RATE, "epoch learning rate" }, /* Keras */
	{ SCALAR_LEARNING_RATE, "epoch lr" },
	{ SCALAR_MFU, "mfu" },                   /* fkat, torchtitan's "mfu(%)" */
	{ SCALAR_MFU, "throughput device mfu" }, /* Composer */
	{ SCALAR_MFU, "train device mfu" },      /* Lightning's ThroughputMonitor */
	{ SCALAR_MFU, "device mfu" },
	{ SCALAR_MFU, "train mfu" },
	{ SCALAR_MFU, "perf mfu actor" },
	{ SCALAR_MFU, "mfu from formula" },                 /* fkat, with a model's sizes */
	{ SCALAR_THROUGHPUT, "throughput tokens per sec" }, /* Composer */
	{ SCALAR_THROUGHPUT, "throughput tps" },            /* torchtitan's "throughput(tps)" */
	{ SCALAR_THROUGHPUT, "perf throughput" },
	{ SCALAR_THROUGHPUT, "tokens per second per gpu" }, /* torchtune */
	{ SCALAR_THROUGHPUT, "tokens per sec" },
	{ SCALAR_THROUGHPUT, "tokens per second" },
	{ SCALAR_THROUGHPUT, "train tokens per second" },
	{ SCALAR_THROUGHPUT, "throughput samples per sec" }, /* Composer */
	{ SCALAR_THROUGHPUT, "samples per sec" },
	{ SCALAR_THROUGHPUT, "samples per second" },
	{ SCALAR_THROUGHPUT, "train samples per second" },     /* HF, at the end */
	{ SCALAR_THROUGHPUT, "train device samples per sec" }, /* Lightning's ThroughputMonitor */
	{ SCALAR_THROUGHPUT, "throughput batches per sec" },   /* Composer */
	{ SCALAR_THROUGHPUT, "actual batches per sec" },       /* fkat */
	{ SCALAR_THROUGHPUT, "train device batches per sec" },
	{ SCALAR_THROUGHPUT, "batches per sec" },
	{ SCALAR_THROUGHPUT, "steps per sec" },
	{ SCALAR_THROUGHPUT, "steps per second" },
	{ SCALAR_THROUGHPUT, "train steps per second" },
	{ SCALAR_THROUGHPUT, "throughput" },
	{ SCALAR_THROUGHPUT, "throughput *" },
};

/* Where one of these is in a name the metric is another one. */
static const char *const other_words[] = {
	"val", "valid", "validation", "eval",  "evaluation", "test",
	"dev", "decay", "momentum",   "flops", "peak",
};

static const char *const role_names[] = { SCALAR_ROLES(TSI_NAMED_TEXT) };

_Static_assert((int)SCALAR_OTHER == (int)TSCOPE_SCALAR_ROLE_COUNT,
	       "a name for each role can be said");

const char *tsi_scalar_role_name(enum scalar_role role)
{
	return role_names[role];
}

/* ---- words ---- */

/* false: the name is too long to be one that we know. */
static bool split_words(char words[WORDS_MAX], struct str name)
{
	size_t length = 0;

	for (size_t i = 0; i < name.length; i++) {
		char c = tsi_to_lower(name.data[i]);
		bool is_part = tsi_is_letter(c) || tsi_is_digit(c);

		if (!is_part && (length == 0 || words[length - 1] == ' '))
			continue;
		if (length == WORDS_MAX - 1)
			return false;
		words[length++] = is_part ? c : ' ';
	}
	if (length > 0 && words[length - 1] == ' ')
		length--;
	words[length] = '\0';
	return true;
}

static bool has_word(const char *words, const char *wanted)
{
	size_t length = strlen(wanted);

	for (const char *at = words; *at != '\0'; at += strspn(at, " ")) {
		size_t word_length = strcspn(at, " ");

		if (word_length == length && strncmp(at, wanted, length) == 0)
			return true;
		at += word_length;
	}
	return false;
}

static bool fits(const char *words, const char *row)
{
	size_t length = strlen(row) - 1;

	if (row[length] == '*')
		return strncmp(words, row, length) == 0 && words[length] != '\0';
	return strcmp(words, row) == 0;
}

enum scalar_role tsi_scalar_role(struct str name, unsigned *rank)
{
	char words[WORDS_MAX];

	*rank = 0;
	if (!split_words(words, name))
		return SCALAR_OTHER;
	for (size_t i = 0; i < TSI_COUNT_OF(other_words); i++)
		if (has_word(words, other_words[i]))
			return SCALAR_OTHER;
	for (unsigned i = 0; i < TSI_COUNT_OF(rows); i++) {
		if (rows[i].role != rows[*rank].role)
			*rank = i;
		if (!fits(words, rows[i].words))
			continue;
		*rank = i - *rank;
		return rows[i].role;
	}
	*rank = 0;
	return SCALAR_OTHER;
}

bool tsi_scalar_is_percent(struct str name)
{
	char words[WORDS_MAX];

	return (name.length > 0 && memchr(name.data, '%', name.length)) ||
	       (split_words(words, name) && (has_word(words, "percent") || has_word(words, "pct")));
}

bool tsi_scalar_counts_samples(struct str name)
{
	char words[WORDS_MAX];
	struct str text;

	if (!split_words(words, name))
		return false;
	text = tsi_str_of(words);
	return tsi_str_starts(text, "train samples ")
		       ? !tsi_str_starts(text, "train samples per")
		       : tsi_str_find(text, TSI_STR(" vs samples")) >= 0;
}

/* ---- what a series holds ---- */

const struct step_scalar *tsi_scalar_of_role(const struct step_series *steps, enum scalar_role role)
{
	for (size_t i = 0; i < steps->scalar_name_count; i++)
		if (steps->scalar_names[i].role == role)
			return &steps->scalar_names[i];
	return NULL;
}

bool tsi_scalar_of_record(const struct step_record *record, enum scalar_role role, double *value)
{
	if (role == SCALAR_LOSS && (record->has & STEP_HAS_LOSS)) {
		*value = record->loss;
		return true;
	}
	if (role == SCALAR_GRAD_NORM && (record->has & STEP_HAS_GRAD_NORM)) {
		*value = record->grad_norm;
		return true;
	}
	return false;
}

/* ---- --scalar ---- */

enum tscope_status tscope_scalar_names_add(struct tscope_scalar_names *names, const char *text,
					   struct tscope_error *err)
{
	size_t length = strcspn(text, "=");

	for (size_t i = 0; i < TSCOPE_SCALAR_ROLE_COUNT; i++) {
		if (strlen(role_names[i]) != length || strncmp(text, role_names[i], length) != 0)
			continue;
		if (text[length] == '\0' || text[length + 1] == '\0')
			return tsi_fail(err, TSCOPE_E_FORMAT, "lacks the metric: %s=NAME",
					role_names[i]);
		names->names[i] = text + length + 1;
		return TSCOPE_OK;
	}
	return tsi_fail(err, TSCOPE_E_FORMAT,
			"'%.*s' is no ROLE=NAME; roles are loss, grad_norm, learning_rate, "
			"throughput and mfu",
			TSI_QUOTE(tsi_str_of(text)));
}
