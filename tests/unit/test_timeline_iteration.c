/* SPDX-License-Identifier: MIT */
/* timeline/iteration.c: what the annotations of inference engines say. */
#include "timeline/iteration.h"

#include <inttypes.h>
#include <stdio.h>

#include "check.h"

static const struct {
	const char *name;
	/* engine, phase: prompts/their tokens, decodes/theirs, requests, keys, padded; - not said */
	const char *said;
} cases[] = {
	{ "execute_context_2(14721)_generation_0(0)", "vllm prefill 2/14721 0/0 2 - -" },
	{ "execute_context_0(0)_generation_64(64)", "vllm decode 0/0 64/64 64 - -" },
	{ "execute_context_0(0)_generation_32(128)", "vllm speculative 0/0 32/128 32 - -" },
	{ "execute_context_2(6144)_generation_3(3)", "vllm mixed 2/6144 3/3 5 - -" },
	{ "execute_context_0(0)_generation_0(0)", "vllm idle 0/0 0/0 0 - -" },
	{ "execute_64_context_0(sq0sk0sqsq0sqsk0)_generation_64(sq64sk131072sqsq64sqsk131072)",
	  "vllm decode 0/0 64/64 64 131072 -" },
	{ "execute_6147_context_2(sq6144sk7144sqsq20971520sqsk23019520)"
	  "_generation_3(sq3sk6144sqsq3sqsk6144)",
	  "vllm mixed 2/6144 3/3 5 13288 -" },
	{ "execute_context_1024_generation_0", "vllm prefill -/- -/- - - -" },
	{ "execute_context_0_generation_64", "vllm decode -/- -/- - - -" },
	{ "execute_context_8_generation_64", "vllm mixed -/- -/- - - -" },
	{ "execute_diffusion_1_256x256", "- diffusion -/- -/- - - -" },
	{ "execute_new_2_cached_0", "vllm prefill 2/- 0/- 2 - -" },
	{ "execute_new_2_cached_3", "vllm mixed 2/- 3/- 5 - -" },
	{ "execute_new_0_cached_3", "vllm decode 0/- 3/- 3 - -" },
	{ "step[EXTEND bs=2 toks=14721]", "sglang prefill 2/14721 -/- 2 - -" },
	{ "step[EXTEND bs=2 toks=14721 c_sq=14721 c_sqsq=108745533 c_sqsk=120007533 c_sk=16221]",
	  "sglang prefill 2/14721 -/- 2 16221 -" },
	{ "step[DECODE bs=64]", "sglang decode -/- 64/64 64 - -" },
	{ "step[DECODE bs=64 g_sq=128 g_sqsq=256 g_sqsk=262144 g_sk=131072]",
	  "sglang speculative -/- 64/128 64 131072 -" },
	{ "step[MIXED bs=2]", "sglang mixed -/- -/- 2 - -" },
	{ "step[MIXED bs=5 c=2 g=3 c_sq=6144 c_sk=7144 c_sqsq=20971520 c_sqsk=23019520 g_sq=3 "
	  "g_sk=6144 g_sqsq=3 g_sqsk=6144]",
	  "sglang mixed 2/6144 3/3 5 13288 -" },
	{ "step[MIXED bs=1 c=1 g=0 c_sq=3 c_sk=3 c_sqsq=9 c_sqsk=9 g_sq=0 g_sk=0]",
	  "sglang prefill 1/3 0/0 1 3 -" },
	{ "step[TARGET_VERIFY bs=8]", "sglang speculative -/- 8/- 8 - -" },
	{ "step[IDLE bs=0]", "sglang idle -/- -/- 0 - -" },
	{ "step[DLLM_EXTEND bs=3]", "sglang unknown -/- -/- 3 - -" },
	{ "prefill[bs=2 tok=14721 ctx=[7803, 6918]]", "atom prefill 2/14721 -/- 2 - -" },
	{ "prefill[bs=6 tok=17408 ctx=[4096, 4096, 4096]...+3 sqsq=59768832 sqsk=59768832 "
	  "sk=17408 tbo=1]",
	  "atom prefill 6/17408 -/- 6 17408 -" },
	{ "decode[bs=64 tok=64 d=64]", "atom decode -/- 64/64 64 - -" },
	{ "eager_decode[bs=32 tok=32]", "atom decode -/- 32/32 32 - -" },
	{ "decode[bs=117/128 tok=117 d=117]", "atom decode -/- 117/117 117 - 128" },
	{ "decode[bs=32 tok=128 d=32 spec=3 sqsq=512 sqsk=262144 sk=65536]",
	  "atom speculative -/- 32/128 32 65536 -" },
	{ "decode[bs=128 tok=384 p=2 d=126 sqsq=132612 sqsk=1114112 sk=258048 tbo=1]",
	  "atom mixed 2/258 126/126 128 258048 -" },
	{ "decode[bs=4 tok=16 p=0 d=4 spec=3]", "atom speculative -/- 4/16 4 - -" },
	{ "dummy_decode[bs=1/8 tok=1 d=1]", "atom idle -/- -/- 0 - -" },
	{ "dummy_eager_decode[bs=1 tok=1]", "atom idle -/- -/- 0 - -" },
	{ "dummy_prefill[bs=1 tok=8192 ctx=[8192]]", "atom idle -/- -/- 0 - -" },
	{ "[Executor] _forward_step 12: 1 ctx reqs, 2048 ctx tokens, 31 gen reqs",
	  "tensorrt_llm mixed 1/2048 31/- 32 - -" },
	{ "[Executor] _forward_step: 0 ctx reqs, 8 gen reqs", "tensorrt_llm decode 0/- 8/- 8 - -" },
	/* parts of an iteration, other annotations, damage */
	{ "step[DRAFT_EXTEND bs=8]", "" },
	{ "step[DRAFT_LOOP raw_bs=3 bs=4 topk=1]", "" },
	{ "draft[1/3 bs=4]", "" },
	{ "step[DECODE]", "" },
	{ "step[DECODE bs=x]", "" },
	{ "step[", "" },
	{ "execute_model", "" },
	{ "execute_context_2(14721", "" },
	{ "execute_context_2()_generation_0(0)", "" },
	{ "execute_context_99999999999(1)_generation_0(0)", "" },
	{ "decode[", "" },
	{ "decode[bs=", "" },
	{ "[Executor] _forward_step 12: 1 ctx reqs", "" },
	{ "ProfilerStep#3", "" },
	{ "", "" },
};

static void put(char *text, size_t size, const char *before, int64_t number)
{
	size_t used = 0;

	while (text[used])
		used++;
	if (number == NOT_SAID)
		snprintf(text + used, size - used, "%s-", before);
	else
		snprintf(text + used, size - used, "%s%" PRId64, before, number);
}

TEST(test_annotations)
{
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct iteration it;
		char said[128] = "";

		if (tsi_parse_iteration(tsi_str_of(cases[i].name), &it)) {
			snprintf(said, sizeof(said), "%s %s", it.engine ? it.engine : "-",
				 tsi_iteration_phase_name(it.phase));
			put(said, sizeof(said), " ", it.prompt_requests);
			put(said, sizeof(said), "/", it.prompt_tokens);
			put(said, sizeof(said), " ", it.decode_requests);
			put(said, sizeof(said), "/", it.decode_tokens);
			put(said, sizeof(said), " ", it.requests);
			put(said, sizeof(said), " ", it.kv_tokens);
			put(said, sizeof(said), " ", it.padded_requests);
		}
		if (strcmp(said, cases[i].said) != 0)
			fail_msg("%s: %s, expected %s", cases[i].name, said, cases[i].said);
	}
}

/* Prefill and decode together; SGLang's by phase, ATOM's as one number. */
TEST(test_attention_pairs)
{
	static const struct {
		const char *name;
		int64_t tokens, pairs;
	} said[] = {
		{ "execute_64_context_0(sq0sk0sqsq0sqsk0)_generation_64(sq64sk900sqsq64sqsk901)",
		  64, 901 },
		{ "execute_5_context_1(sq4sk4sqsq16sqsk17)_generation_1(sq1sk90sqsq1sqsk91)", 5,
		  108 },
		{ "execute_context_1(4)_generation_1(1)", 5, NOT_SAID },
		{ "step[MIXED bs=2 c=1 g=1 c_sq=4 c_sqsk=17 g_sq=1 g_sqsk=91]", 5, 108 },
		{ "step[DECODE bs=64]", 64, NOT_SAID },
		{ "decode[bs=32 tok=128 d=32 spec=3 sqsq=512 sqsk=262144 sk=65536]", 128, 262144 },
	};
	struct iteration it;

	for (size_t i = 0; i < TSI_COUNT_OF(said); i++) {
		assert_true(tsi_parse_iteration(tsi_str_of(said[i].name), &it));
		assert_int_equal(tsi_iteration_tokens(&it), said[i].tokens);
		assert_int_equal(it.attention_pairs, said[i].pairs);
	}
}

TEST(test_captures)
{
	int64_t batch = 0;

	assert_true(tsi_is_capture_mark(TSI_STR("capture_32_FULL"), &batch));
	assert_int_equal(batch, 32);
	assert_true(tsi_is_capture_mark(TSI_STR("capture_1_prefill"), &batch));
	assert_int_equal(batch, 1);
	assert_false(tsi_is_capture_mark(TSI_STR("capture_32_"), &batch));
	assert_false(tsi_is_capture_mark(TSI_STR("capture__FULL"), &batch));
	assert_false(tsi_is_capture_mark(TSI_STR("capture_12_34"), &batch));
	assert_false(tsi_is_capture_mark(TSI_STR("capture"), &batch));
}
