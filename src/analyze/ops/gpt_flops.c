/* SPDX-License-Identifier: MIT */
/*
 * The FLOPs of a training step from the sizes of the model, without a trace:
 * "gpt:layers=32,hidden=4096,…". The formula is the one that Megatron-LM and fkat
 * publish for GPT models, which counts matrix products only:
 *
 *	c·B·s·L·h²·[(1 + g/a + s/h)·(kv·a/h) + d·(f/h)·m + e·(f_moe/h)·k·m] + 6·B·s·h·V
 *
 * The names of its terms are those of the keys below.
 */
#include "base/error.h"
#include "base/nearest.h"

#include <tscope/model.h>

#define MOST_FLOPS 1e30 /* no job comes near */

enum { MAX_SIZE = 1000000000, MAX_NAMES = 3 };

enum key {
	BATCH,
	SEQ,
	LAYERS,
	HIDDEN,
	HEADS,
	FFN,
	GROUPS,
	HEAD_DIM,
	VOCAB,
	SWIGLU,
	MOE_LAYERS,
	MOE_FFN,
	TOPK,
	RECOMPUTE,
	DEVICES,
	KEY_COUNT,
};

/* Our name first, then those of the configurations of Megatron-LM and fkat. */
static const struct key_row {
	const char *names[MAX_NAMES];
	bool is_needed, is_flag;
} keys[KEY_COUNT] = {
	[BATCH] = { .names = { "batch", "global_batch_size" }, .is_needed = true }, /* B */
	[SEQ] = { .names = { "seq", "encoder_seq_length", "seq_length" },
		  .is_needed = true },                                                /* s */
	[LAYERS] = { .names = { "layers", "num_layers" }, .is_needed = true },        /* L */
	[HIDDEN] = { .names = { "hidden", "hidden_size" }, .is_needed = true },       /* h */
	[HEADS] = { .names = { "heads", "num_attention_heads" }, .is_needed = true }, /* a */
	[FFN] = { .names = { "ffn", "ffn_hidden_size" }, .is_needed = true },         /* f */
	[GROUPS] = { .names = { "groups", "num_query_groups" } },                     /* g */
	[HEAD_DIM] = { .names = { "head_dim", "kv_channels" } },                      /* kv */
	[VOCAB] = { .names = { "vocab", "padded_vocab_size", "vocab_size" } },        /* V */
	[SWIGLU] = { .names = { "swiglu" }, .is_flag = true },                        /* m */
	[MOE_LAYERS] = { .names = { "moe_layers", "num_moe_layers" } },               /* e·L */
	[MOE_FFN] = { .names = { "moe_ffn", "moe_ffn_hidden_size" } },                /* f_moe */
	[TOPK] = { .names = { "topk", "moe_router_topk" } },                          /* k */
	[RECOMPUTE] = { .names = { "recompute", "consider_activation_recompute" },
			.is_flag = true }, /* c */
	[DEVICES] = { .names = { "devices" } },
};

/* A model, read: 0 where a key was not given. */
struct sizes {
	double of[KEY_COUNT];
};

/* ---- the formula ---- */

static void put_defaults(struct sizes *sizes)
{
	double *of = sizes->of;

	if (of[GROUPS] == 0)
		of[GROUPS] = of[HEADS];
	if (of[HEAD_DIM] == 0)
		of[HEAD_DIM] = of[HIDDEN] / of[HEADS];
	if (of[TOPK] == 0)
		of[TOPK] = 1;
}

/*
 * expansion: 12, for two FLOPs of a multiply-add, three products (forward, and
 * two of backward), and layers that come in pairs; 16 where forward is computed twice.
 */
static double gpt_flops(const struct sizes *sizes, double expansion)
{
	const double *of = sizes->of;
	double tokens = of[BATCH] * of[SEQ];
	double gate = of[SWIGLU] > 0 ? 1.5 : 1; /* three matrices instead of two */
	double moe_ratio = of[MOE_LAYERS] / of[LAYERS];
	double attention = (1 + of[GROUPS] / of[HEADS] + of[SEQ] / of[HIDDEN]) *
			   (of[HEAD_DIM] * of[HEADS] / of[HIDDEN]);
	double dense = of[FFN] / of[HIDDEN] * gate;
	double moe = of[MOE_FFN] / of[HIDDEN] * of[TOPK] * gate;
	double layer = attention + (1 - moe_ratio) * dense + moe_ratio * moe;

	return expansion * tokens * of[LAYERS] * of[HIDDEN] * of[HIDDEN] * layer +
	       6 * tokens * of[HIDDEN] * of[VOCAB];
}

/* ---- the text ---- */

static enum tscope_status fail_key(struct str name, struct tscope_error *err)
{
	struct nearest nearest = { .word = name };

	for (size_t key = 0; key < KEY_COUNT; key++)
		for (size_t i = 0; i < MAX_NAMES && keys[key].names[i]; i++)
			tsi_nearest_consider(&nearest, keys[key].names[i]);
	if (nearest.name)
		return tsi_fail(err, TSCOPE_E_FORMAT, "unknown key %.*s; did you mean %s?",
				TSI_QUOTE(name), nearest.name);
	return tsi_fail(err, TSCOPE_E_FORMAT, "unknown key '%.*s'; tscope-report(1) lists them",
			TSI_QUOTE(name));
}

/* The key with this name, or KEY_COUNT. */
static size_t find_key(struct str name)
{
	size_t key = 0;

	for (; key < KEY_COUNT; key++)
		for (size_t i = 0; i < MAX_NAMES && keys[key].names[i]; i++)
			if (tsi_str_equal(name, tsi_str_of(keys[key].names[i])))
				return key;
	return key;
}

static enum tscope_status parse_flag(double *value, struct str name, struct str text,
				     struct tscope_error *err)
{
	bool is_set = tsi_str_is(text, "true") || tsi_str_is(text, "1");

	if (!is_set && !tsi_str_is(text, "false") && !tsi_str_is(text, "0"))
		return tsi_fail(err, TSCOPE_E_FORMAT, "%.*s is true or false, not '%.*s'",
				TSI_QUOTE(name), TSI_QUOTE(text));
	*value = is_set;
	return TSCOPE_OK;
}

static enum tscope_status parse_size(double *value, struct str name, struct str text,
				     struct tscope_error *err)
{
	int64_t number;

	if (!tsi_str_to_int64(text, &number) || number < 1 || number > MAX_SIZE)
		return tsi_fail(err, TSCOPE_E_FORMAT,
				"%.*s is a whole number from 1 to %d, not '%.*s'", TSI_QUOTE(name),
				MAX_SIZE, TSI_QUOTE(text));
	*value = (double)number;
	return TSCOPE_OK;
}

/* "layers=32", "swiglu"; is_given: of each key, whether it came before. */
static enum tscope_status parse_pair(struct sizes *sizes, bool is_given[KEY_COUNT], struct str pair,
				     struct tscope_error *err)
{
	ptrdiff_t equals = tsi_str_find(pair, TSI_STR("="));
	struct str name = pair, value = TSI_STR("");

	if (equals >= 0) {
		name.length = (size_t)equals;
		value = (struct str){ pair.data + equals + 1, pair.length - name.length - 1 };
	}
	name = tsi_str_trim(name);
	value = tsi_str_trim(value);
	size_t key = find_key(name);
	if (key == KEY_COUNT)
		return fail_key(name, err);
	if (is_given[key])
		return tsi_fail(err, TSCOPE_E_FORMAT, "%.*s: %s is given already", TSI_QUOTE(name),
				keys[key].names[0]);
	is_given[key] = true;
	if (!keys[key].is_flag)
		return parse_size(&sizes->of[key], name, value, err);
	return parse_flag(&sizes->of[key], name, equals >= 0 ? value : TSI_STR("true"), err);
}

static enum tscope_status parse_pairs(struct sizes *sizes, struct str text,
				      struct tscope_error *err)
{
	bool is_given[KEY_COUNT] = { false };
	ptrdiff_t comma = 0;

	while (comma >= 0) {
		comma = tsi_str_find(text, TSI_STR(","));
		struct str pair = { text.data, comma >= 0 ? (size_t)comma : text.length };

		if (parse_pair(sizes, is_given, pair, err) != TSCOPE_OK)
			return TSCOPE_E_FORMAT;
		if (comma >= 0)
			text = (struct str){ text.data + comma + 1, text.length - pair.length - 1 };
	}
	return TSCOPE_OK;
}

/* Sizes that are each possible, and not together. */
static enum tscope_status check(const struct sizes *sizes, struct tscope_error *err)
{
	const double *of = sizes->of;

	for (size_t key = 0; key < KEY_COUNT; key++)
		if (keys[key].is_needed && of[key] == 0)
			return tsi_fail(err, TSCOPE_E_FORMAT, "a gpt needs %s (%s)",
					keys[key].names[0], keys[key].names[1]);
	if (of[GROUPS] > of[HEADS])
		return tsi_fail(err, TSCOPE_E_FORMAT, "%.0f groups are more than %.0f heads",
				of[GROUPS], of[HEADS]);
	if (of[MOE_LAYERS] > of[LAYERS])
		return tsi_fail(err, TSCOPE_E_FORMAT, "%.0f moe_layers are more than %.0f layers",
				of[MOE_LAYERS], of[LAYERS]);
	if (of[MOE_LAYERS] > 0 && of[MOE_FFN] == 0)
		return tsi_fail(err, TSCOPE_E_FORMAT, "moe_layers need moe_ffn");
	if (of[MOE_LAYERS] == 0 && (of[MOE_FFN] > 0 || of[TOPK] > 0))
		return tsi_fail(err, TSCOPE_E_FORMAT, "%s needs moe_layers",
				of[MOE_FFN] > 0 ? "moe_ffn" : "topk");
	return TSCOPE_OK;
}

enum tscope_status tscope_model_parse(struct tscope_model *ret, const char *text,
				      struct tscope_error *err)
{
	struct str whole = tsi_str_of(text);
	ptrdiff_t colon = tsi_str_find(whole, TSI_STR(":"));
	struct str kind = { text, colon >= 0 ? (size_t)colon : whole.length };
	struct sizes sizes = { { 0 } };

	if (!tsi_str_is(kind, "gpt"))
		return tsi_fail(err, TSCOPE_E_FORMAT, "unknown kind of model '%.*s'; there is gpt",
				TSI_QUOTE(kind));
	if (colon < 0)
		return tsi_fail(err, TSCOPE_E_FORMAT,
				"the model's sizes are missing, as in gpt:layers=32,hidden=4096");
	if (parse_pairs(&sizes, tsi_str_of(text + colon + 1), err) != TSCOPE_OK ||
	    check(&sizes, err) != TSCOPE_OK)
		return TSCOPE_E_FORMAT;
	put_defaults(&sizes);
	double flops = gpt_flops(&sizes, 12);
	if (flops > MOST_FLOPS)
		return tsi_fail(err, TSCOPE_E_FORMAT, "%.3g FLOPs per step are beyond belief",
				flops);
	ret->flops = flops;
	ret->hardware_flops = gpt_flops(&sizes, sizes.of[RECOMPUTE] > 0 ? 16 : 12);
	ret->device_count = (unsigned)sizes.of[DEVICES];
	return TSCOPE_OK;
}
