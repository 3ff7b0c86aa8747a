/* SPDX-License-Identifier: MIT */
/* The FLOPs of a GPT from its sizes: each term by hand, and what is refused. */
#include <tscope/model.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/attributes.h"
#include "check.h"

/* One token of one layer: what is left of the formula is its terms. Scores are 1 of hidden. */
#define TINY "gpt:batch=1,seq=1,layers=1,hidden=8,heads=4,ffn=2"

/*
 * What TINY comes to, matrix by matrix: 2 FLOPs of each multiply-add, three times (forward, and
 * backward by weights and by inputs). Queries, keys, values and the output's projection are 8 × 8,
 * the two products with the scores of one token take 8 each, ffn is 8 × 2 and 2 × 8.
 */
#define TIMES (2.0 * 3)
#define PROJECTIONS (4 * 8 * 8)
#define SCORES (2 * 8 * 1)
#define DENSE (2 * 8 * 2)

TEST(every_term_by_hand)
{
	static const struct {
		const char *model;
		double flops;
	} cases[] = {
		{ TINY, TIMES * (PROJECTIONS + SCORES + DENSE) },
		/* All grow with the batch, the scores also with the sequence. */
		{ "gpt:batch=3,seq=1,layers=1,hidden=8,heads=4,ffn=2",
		  TIMES * 3 * (PROJECTIONS + SCORES + DENSE) },
		{ "gpt:batch=1,seq=5,layers=1,hidden=8,heads=4,ffn=2",
		  TIMES * 5 * (PROJECTIONS + SCORES * 5 + DENSE) },
		{ "gpt:batch=1,seq=1,layers=7,hidden=8,heads=4,ffn=2",
		  TIMES * 7 * (PROJECTIONS + SCORES + DENSE) },
		/* The number of heads alone changes nothing. */
		{ "gpt:batch=1,seq=1,layers=1,hidden=8,heads=2,ffn=2",
		  TIMES * (PROJECTIONS + SCORES + DENSE) },
		/* Keys and values of one head of the four: 8 × 2. */
		{ TINY ",groups=1", TIMES * (2 * 8 * 8 + 2 * 8 * 2 + SCORES + DENSE) },
		/* Heads of 6 instead of 2: 24 queries. */
		{ TINY ",head_dim=6", TIMES * (4 * 8 * 24 + 2 * 24 * 1 + DENSE) },
		{ TINY ",groups=2,head_dim=6",
		  TIMES * (2 * 8 * 24 + 2 * 8 * 12 + 2 * 24 * 1 + DENSE) },
		{ "gpt:batch=1,seq=1,layers=1,hidden=8,heads=4,ffn=32",
		  TIMES * (PROJECTIONS + SCORES + 2 * 8 * 32) },
		/* A third matrix of 8 × 2. */
		{ TINY ",swiglu=true", TIMES * (PROJECTIONS + SCORES + 3 * 8 * 2) },
		{ TINY ",swiglu=false", TIMES * (PROJECTIONS + SCORES + DENSE) },
		/* Each token goes through one expert of 8 × 16, or through three. */
		{ TINY ",moe_layers=1,moe_ffn=16", TIMES * (PROJECTIONS + SCORES + 2 * 8 * 16) },
		{ TINY ",moe_layers=1,moe_ffn=16,topk=3",
		  TIMES * (PROJECTIONS + SCORES + 3 * 2 * 8 * 16) },
		{ TINY ",moe_layers=1,moe_ffn=16,topk=3,swiglu",
		  TIMES * (PROJECTIONS + SCORES + 3 * 3 * 8 * 16) },
		/* One layer of four has experts. */
		{ "gpt:batch=1,seq=1,layers=4,hidden=8,heads=4,ffn=2,moe_layers=1,moe_ffn=16",
		  TIMES * (4 * (PROJECTIONS + SCORES) + 3 * DENSE + 2 * 8 * 16) },
		/* The logits once, however many layers. */
		{ TINY ",vocab=100", TIMES * (PROJECTIONS + SCORES + DENSE + 8 * 100) },
		{ "gpt:batch=3,seq=5,layers=2,hidden=8,heads=4,ffn=2,vocab=100",
		  TIMES * 3 * 5 * (2 * (PROJECTIONS + SCORES * 5 + DENSE) + 8 * 100) },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_model model;

		assert_int_equal(tscope_model_parse(&model, cases[i].model, NULL), TSCOPE_OK);
		if (fabs(model.flops / cases[i].flops - 1) > 1e-12)
			fail_msg("%s: %.17g instead of %.17g", cases[i].model, model.flops,
				 cases[i].flops);
		assert_true(model.hardware_flops == model.flops);
		assert_int_equal(model.device_count, 0);
	}
}

/* Forward is a third of the layers' work and is done once more; the logits are kept. */
TEST(recomputation_is_of_the_hardware_alone)
{
	struct tscope_model model;

	assert_int_equal(tscope_model_parse(&model, TINY ",vocab=100,recompute", NULL), TSCOPE_OK);
	assert_true(fabs(model.flops - TIMES * (PROJECTIONS + SCORES + DENSE + 8 * 100)) < 1e-9);
	assert_true(fabs(model.hardware_flops -
			 (2.0 * 4 * (PROJECTIONS + SCORES + DENSE) + TIMES * 8 * 100)) < 1e-9);
	assert_int_equal(tscope_model_parse(&model, TINY ",recompute=0", NULL), TSCOPE_OK);
	assert_true(model.hardware_flops == model.flops);
}

/*
 * Llama-2 7B has 6 738 415 616 parameters, of which the 32000 × 4096 of the embedding and 65 × 4096
 * of the norms take no product, and 4 Mi tokens a step in sequences of 4096. Attention without
 * a mask adds 12 × 4096 × 4096 to each token and layer.
 */
TEST(llama_is_as_its_parameters_say)
{
	const double parameters = 6738415616.0 - (32000.0 + 65) * 4096;
	const double tokens = 1024.0 * 4096;
	const double expected = tokens * (6 * parameters + 32 * 12.0 * 4096 * 4096);
	struct tscope_model model;

	assert_int_equal(tscope_model_parse(&model,
					    "gpt:batch=1024,seq=4096,layers=32,hidden=4096,"
					    "heads=32,ffn=11008,swiglu,vocab=32000,devices=512",
					    NULL),
			 TSCOPE_OK);
	assert_true(fabs(model.flops / expected - 1) < 1e-12);
	/* What everybody takes for it, 6 times the parameters and tokens, leaves out the scores. */
	assert_true(fabs(model.flops / (6 * 6738415616.0 * tokens) - 1.14) < 0.01);
	assert_int_equal(model.device_count, 512);
}

TEST(long_names_are_the_same)
{
	static const char *const pairs[][2] = {
		{ "gpt:batch=2,seq=3,layers=4,hidden=8,heads=4,ffn=2,groups=2,head_dim=6,vocab=9,"
		  "swiglu,moe_layers=2,moe_ffn=7,topk=3,recompute",
		  "gpt:consider_activation_recompute=true, moe_router_topk=3,moe_ffn_hidden_size=7,"
		  "num_moe_layers=2,swiglu=1,padded_vocab_size=9,kv_channels=6,num_query_groups=2,"
		  "ffn_hidden_size=2,num_attention_heads=4,hidden_size=8,num_layers=4,"
		  "encoder_seq_length = 3 ,global_batch_size=2" },
		{ TINY ",vocab=9", "gpt:batch=1,seq_length=1,layers=1,hidden=8,heads=4,ffn=2,"
				   "vocab_size=9" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(pairs); i++) {
		struct tscope_model ours, theirs;

		assert_int_equal(tscope_model_parse(&ours, pairs[i][0], NULL), TSCOPE_OK);
		assert_int_equal(tscope_model_parse(&theirs, pairs[i][1], NULL), TSCOPE_OK);
		assert_true(ours.flops == theirs.flops);
		assert_true(ours.hardware_flops == theirs.hardware_flops);
	}
}

/* Numbers at both ends stay numbers. */
/* Each size may be, but not all of them together: nothing overflows on the way. */
TEST(the_largest_model_is_refused)
{
	struct tscope_model model;
	struct tscope_error err;

	assert_int_equal(tscope_model_parse(&model,
					    "gpt:batch=1000000000,seq=1000000000,"
					    "layers=1000000000,hidden=1,heads=1000000000,"
					    "ffn=1000000000,head_dim=1000000000,vocab=1000000000,"
					    "moe_layers=1000000000,moe_ffn=1000000000,"
					    "topk=1000000000,swiglu,recompute,devices=1000000000",
					    &err),
			 TSCOPE_E_FORMAT);
	assert_non_null(strstr(err.message, "FLOPs per step are beyond belief"));
	assert_int_equal(tscope_model_parse(&model,
					    "gpt:batch=1,seq=1,layers=1,hidden=1,heads=1,ffn=1,"
					    "devices=1000000000",
					    &err),
			 TSCOPE_OK);
	assert_int_equal(model.device_count, 1000000000);
}

TEST(the_others_are_refused_with_the_reason)
{
	static const struct {
		const char *model, *message;
	} cases[] = {
		{ "", "unknown kind of model ''; there is gpt" },
		{ "llama:layers=3", "unknown kind of model 'llama'; there is gpt" },
		{ "GPT:layers=3", "unknown kind of model 'GPT'; there is gpt" },
		{ "gpt", "the model's sizes are missing, as in gpt:layers=32,hidden=4096" },
		{ "gpt:", "unknown key ''; tscope-report(1) lists them" },
		{ "gpt:layers=3,", "unknown key ''; tscope-report(1) lists them" },
		{ "gpt:layer=3", "unknown key layer; did you mean layers?" },
		{ "gpt:num_query_group=3",
		  "unknown key num_query_group; did you mean num_query_groups?" },
		{ "gpt:experts_of_the_rank=3",
		  "unknown key 'experts_of_the_rank'; tscope-report(1) lists them" },
		{ TINY ",layers=1", "layers: layers is given already" },
		{ TINY ",num_layers=1", "num_layers: layers is given already" },
		{ TINY ",swiglu,swiglu=0", "swiglu: swiglu is given already" },
		{ "gpt:layers", "layers is a whole number from 1 to 1000000000, not ''" },
		{ "gpt:layers=", "layers is a whole number from 1 to 1000000000, not ''" },
		{ "gpt:layers=x", "layers is a whole number from 1 to 1000000000, not 'x'" },
		{ "gpt:layers=3=4", "layers is a whole number from 1 to 1000000000, not '3=4'" },
		{ "gpt:num_layers=1.5",
		  "num_layers is a whole number from 1 to 1000000000, not '1.5'" },
		{ "gpt:layers=0", "layers is a whole number from 1 to 1000000000, not '0'" },
		{ "gpt:layers=-3", "layers is a whole number from 1 to 1000000000, not '-3'" },
		{ "gpt:layers=1000000001",
		  "layers is a whole number from 1 to 1000000000, not '1000000001'" },
		{ "gpt:layers=99999999999999999999",
		  "layers is a whole number from 1 to 1000000000, not '99999999999999999999'" },
		{ "gpt:layers=inf", "layers is a whole number from 1 to 1000000000, not 'inf'" },
		{ "gpt:layers=1e9999",
		  "layers is a whole number from 1 to 1000000000, not '1e9999'" },
		{ "gpt:swiglu=yes", "swiglu is true or false, not 'yes'" },
		{ "gpt:recompute=", "recompute is true or false, not ''" },
		{ "gpt:seq=1,layers=1,hidden=8,heads=4,ffn=2",
		  "a gpt needs batch (global_batch_size)" },
		{ "gpt:batch=1,layers=1,hidden=8,heads=4,ffn=2",
		  "a gpt needs seq (encoder_seq_length)" },
		{ "gpt:batch=1,seq=1,hidden=8,heads=4,ffn=2", "a gpt needs layers (num_layers)" },
		{ "gpt:batch=1,seq=1,layers=1,heads=4,ffn=2", "a gpt needs hidden (hidden_size)" },
		{ "gpt:batch=1,seq=1,layers=1,hidden=8,ffn=2",
		  "a gpt needs heads (num_attention_heads)" },
		{ "gpt:batch=1,seq=1,layers=1,hidden=8,heads=4",
		  "a gpt needs ffn (ffn_hidden_size)" },
		{ TINY ",groups=5", "5 groups are more than 4 heads" },
		{ TINY ",moe_layers=2,moe_ffn=8", "2 moe_layers are more than 1 layers" },
		{ TINY ",moe_layers=1", "moe_layers need moe_ffn" },
		{ TINY ",moe_ffn=8", "moe_ffn needs moe_layers" },
		{ TINY ",topk=2", "topk needs moe_layers" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_model model = { .flops = 5, .hardware_flops = 6, .device_count = 7 };
		struct tscope_error err = { 0 };

		assert_int_equal(tscope_model_parse(&model, cases[i].model, &err), TSCOPE_E_FORMAT);
		assert_string_equal(err.message, cases[i].message);
		assert_true(model.flops == 5 && model.hardware_flops == 6 &&
			    model.device_count == 7);
	}
}

/* Longer than any buffer within. */
TEST(a_long_model_is_refused)
{
	char text[2000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(tscope_model_parse(&(struct tscope_model){ 0 }, text, NULL),
			 TSCOPE_E_FORMAT);
	memcpy(text, "gpt:", 4);
	assert_int_equal(tscope_model_parse(&(struct tscope_model){ 0 }, text, NULL),
			 TSCOPE_E_FORMAT);
	memcpy(text, "gpt:layers=", 11);
	assert_int_equal(tscope_model_parse(&(struct tscope_model){ 0 }, text, NULL),
			 TSCOPE_E_FORMAT);
	memset(text + 4, ',', sizeof(text) - 5);
	assert_int_equal(tscope_model_parse(&(struct tscope_model){ 0 }, text, NULL),
			 TSCOPE_E_FORMAT);
}
