/* SPDX-License-Identifier: MIT */
/*
 * model/memory/stack_site.h: which frame a stack is named after, with what depth and filter; what role
 * it tells of; how it is collapsed. Stacks are written innermost first, "file:line:name" a word,
 * with "~" for a blank.
 */
#include "model/memory/stack_site.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "decode/plain/plain_graph.h"
#include "fail_alloc.h"
#include "plain_text.h"

#define LIB "/usr/lib/python3/site-packages/"

/* ---- stacks of a test --------------------------------------------------------------------- */

/* Entry i of device 0 has the stack of row i. */
struct stacks {
	struct plain *plain;
	struct snapshot snapshot;
	struct arena arena; /* of its sites */
};

enum { MAX_STACK_TEXT = 64 * 1024 };

/* "a.py:1:f" as a dict; quotes, backslashes and the like are none of its business. */
static char *put_frame(char *at, char *word)
{
	size_t line = strcspn(word, ":"), name;

	for (char *c = word; *c; c++)
		*c = *c == '~' ? ' ' : *c;
	/* The line is the first number between colons: names hold colons, and drives. */
	while (word[line] && word[line + 1] != '-' && !tsi_is_digit(word[line + 1]))
		line += 1 + strcspn(word + line + 1, ":");
	assert_int_equal(word[line], ':');
	name = line + 1 + strcspn(word + line + 1, ":");
	assert_int_equal(word[name], ':');
	word[line++] = word[name++] = '\0';
	at += sprintf(at, "{filename: '");
	for (const char *c = word; *c; c++)
		at += sprintf(at, *c == '\\' ? "\\\\" : "%c", *c);
	return at + sprintf(at, "', line: %s, name: '%s'},", word + line, word + name);
}

static char *put_stack(char *at, const char *frames)
{
	char *copy = strdup(frames), *rest = NULL;

	assert_non_null(copy);
	at += sprintf(at, "{action: oom, size: 1, frames: [");
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		at = put_frame(at, word);
	free(copy);
	return at + sprintf(at, "]},");
}

static void stacks_of_text(struct stacks *stacks, const char *text)
{
	stacks->plain = plain_of(text);
	assert_int_equal(tsi_snapshot_init(&stacks->snapshot, stacks->plain, NULL), TSCOPE_OK);
}

static void stacks_init(struct stacks *stacks, const char *const *rows, size_t count)
{
	char *text = malloc(MAX_STACK_TEXT), *at = text;

	assert_non_null(text);
	at += sprintf(at, "{segments: [], device_traces: [[");
	for (size_t i = 0; i < count; i++)
		at = put_stack(at, rows[i]);
	sprintf(at, "]]}");
	stacks_of_text(stacks, text);
	free(text);
}

static void stacks_deinit(struct stacks *stacks)
{
	tsi_snapshot_deinit(&stacks->snapshot);
	tsi_plain_free(stacks->plain);
}

static struct plain_value stack_at(const struct stacks *stacks, size_t index)
{
	struct snapshot_entry entry;

	assert_int_equal(tsi_snapshot_entries(&stacks->snapshot, 0, index, &entry, 1), 1);
	return entry.stack;
}

static void sites_init(struct stack_sites *sites, struct stacks *stacks, unsigned depth,
		       struct str filter)
{
	stacks->arena = (struct arena){ 0 };
	tsi_stack_sites_init(sites, &stacks->snapshot, depth, filter, &stacks->arena);
	assert_false(stacks->arena.has_failed);
}

static void sites_deinit(struct stack_sites *sites)
{
	struct arena *arena = sites->arena;

	tsi_stack_sites_deinit(sites);
	tsi_arena_deinit(arena);
}

static void check_site(struct stack_sites *sites, struct plain_value stack, const char *expected)
{
	uint32_t site = tsi_stack_site(sites, stack);

	assert_string_equal(tsi_stack_site_text(sites, site).data, expected);
	assert_int_equal(tsi_stack_site(sites, stack), site);
}

/* The site of one stack. */
static void check_one_site(const char *frames, unsigned depth, const char *filter,
			   const char *expected)
{
	struct stacks stacks;
	struct stack_sites sites;

	stacks_init(&stacks, &frames, 1);
	sites_init(&sites, &stacks, depth, tsi_str_of(filter));
	check_site(&sites, stack_at(&stacks, 0), expected);
	sites_deinit(&sites);
	stacks_deinit(&stacks);
}

/* ---- sites ---------------------------------------------------------------------------------- */

TEST(test_sites)
{
	static const struct {
		const char *frames, *site;
	} cases[] = {
		{ "", "" },
		{ "a.py:1:f b.py:2:g", "a.py:1:f" },
		/* Folded: torch and what belongs to it. */
		{ LIB "torch/nn/functional.py:1:f a.py:2:g", "a.py:2:g" },
		{ "/x/dist-packages/torch/a.py:1:f a.py:2:g", "a.py:2:g" },
		{ LIB "functorch/a.py:1:f a.py:2:g", "a.py:2:g" },
		{ LIB "torchgen/a.py:1:f a.py:2:g", "a.py:2:g" },
		{ LIB "triton/a.py:1:f a.py:2:g", "a.py:2:g" },
		{ LIB "einops/_backends.py:1:einsum a.py:2:g", "a.py:2:g" },
		{ LIB "flash_attn/flash_attn_interface.py:1:_flash_attn_forward a.py:2:g",
		  "a.py:2:g" },
		{ LIB "flash_attn/modules/mha.py:1:forward a.py:2:g",
		  LIB "flash_attn/modules/mha.py:1:forward" },
		{ LIB "accelerate/utils/operations.py:1:send_to_device a.py:2:g", "a.py:2:g" },
		{ LIB "transformers/modeling_utils.py:1:to a.py:2:g", "a.py:2:g" },
		{ LIB "transformers/activations.py:1:forward a.py:2:g", "a.py:2:g" },
		{ LIB "transformers/models/gpt2/modeling_gpt2.py:1:forward a.py:2:g",
		  LIB "transformers/models/gpt2/modeling_gpt2.py:1:forward" },
		{ "mine.py:1:to a.py:2:g", "mine.py:1:to" },
		{ "/home/u/pytorch/torch/a.py:1:f a.py:2:g", "a.py:2:g" },
		{ "torch/a.py:1:f a.py:2:g", "a.py:2:g" },
		{ "/tmp/torchinductor_u/a.py:1:f a.py:2:g", "a.py:2:g" },
		{ "<frozen~runpy>:1:f a.py:2:g", "a.py:2:g" },
		{ "<string>:1:f a.py:2:g", "a.py:2:g" },
		{ "<eval_with_key>.7:1:f <eval_with_key>.7>:1:f a.py:2:g", "a.py:2:g" },
		{ "C:\\py\\site-packages\\torch\\a.py:1:f C:\\a.py:2:g", "C:\\a.py:2:g" },
		/* Not folded. */
		{ LIB "transformers/a.py:1:f a.py:2:g", LIB "transformers/a.py:1:f" },
		{ LIB "torchvision/a.py:1:f a.py:2:g", LIB "torchvision/a.py:1:f" },
		{ "/home/u/torch/a.py:1:f a.py:2:g", "/home/u/torch/a.py:1:f" },
		{ "my-packages/torch.py:1:f a.py:2:g", "my-packages/torch.py:1:f" },
		{ "<stdin>:1:<module> a.py:2:g", "<stdin>:1:<module>" },
		{ "<ipython-input-3-abc>:1:f a.py:2:g", "<ipython-input-3-abc>:1:f" },
		{ "x<string>:1:f a.py:2:g", "a.py:2:g" },
		{ "x<string>.py:1:f a.py:2:g", "x<string>.py:1:f" },
		/* Only what is folded: the innermost frame of Python. */
		{ "??:0:at::_ops::add " LIB "torch/a.py:1:f " LIB "torch/b.py:2:g",
		  LIB "torch/a.py:1:f" },
		/* No Python at all. */
		{ "??:0:at::_ops::add ??:0:torch::autograd::AccumulateGrad::apply "
		  "??:0:MulBackward0",
		  "??:0:torch::autograd::AccumulateGrad::apply" },
		{ "??:0:x ??:0:at::_ops::add ??:0:at::_ops::mul", "??:0:at::_ops::add" },
		{ "??:0:torch::unwind::unwind() ??:0:torch::CapturedTraceback::gather(bool)"
		  " ??:0:gather_with_cpp ??:0:c10::CUDACachingAllocator::malloc "
		  "??:0:in~at::_ops::add"
		  " ??:0:main",
		  "??:0:in at::_ops::add" },
		{ "??:0:torch::unwind::unwind() ??:7:gather_with_cpp",
		  "??:0:torch::unwind::unwind()" },
		{ "a.pyc:-3:f", "a.pyc:-3:f" },
		{ "a.pyc:1:f a.py:2:g", "a.py:2:g" },
		/* A frame of Python is one, whatever its name. */
		{ LIB "torch/a.py:1:f ??:0:MulBackward0", LIB "torch/a.py:1:f" },
		{ ":0:", ":0:" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_one_site(cases[i].frames, 1, "", cases[i].site);
}

TEST(test_depth)
{
	static const struct {
		const char *frames;
		unsigned depth;
		const char *site;
	} cases[] = {
		{ "a.py:1:f b.py:2:g c.py:3:h", 0, "a.py:1:f" },
		{ "a.py:1:f b.py:2:g c.py:3:h", 2, "a.py:1:f < b.py:2:g" },
		{ "a.py:1:f b.py:2:g c.py:3:h", 9, "a.py:1:f < b.py:2:g < c.py:3:h" },
		{ "a.py:1:f torch/b.py:2:g c.py:3:h", 2, "a.py:1:f < c.py:3:h" },
		{ "torch/a.py:1:f torch/b.py:2:g", 2, "torch/a.py:1:f < torch/b.py:2:g" },
		{ "torch/a.py:1:f b.py:2:g", 2, "b.py:2:g" },
		{ "??:0:XBackward ??:1:YBackward", 2, "??:0:XBackward" },
		{ "??:0:main ??:1:start", 2, "??:0:main" },
		{ "", 2, "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_one_site(cases[i].frames, cases[i].depth, "", cases[i].site);
}

TEST(test_filter)
{
	static const struct {
		const char *frames, *filter, *site;
	} cases[] = {
		{ "a.py:1:f b.py:2:g", "b.py", "a.py:1:f" },
		{ "a.py:1:f b.py:2:go_on", "go", "a.py:1:f" },
		{ "a.py:1:f torch/optim.py:2:g", "torch/o", "a.py:1:f" },
		{ "a.py:1:f b.py:2:g", "c.py", "(other)" },
		{ "a.py:1:f b.py:2:g", "2", "(other)" },
		{ "", "c.py", "(other)" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_one_site(cases[i].frames, 1, cases[i].filter, cases[i].site);
}

/* More frames than are copied at a time, and the one that counts is the last. */
TEST(test_deep_stack)
{
	char frames[16 * 1024] = "";

	for (int i = 0; i < 500; i++)
		strcat(frames, "torch/x.py:1:f ");
	strcat(frames, "a.py:2:g");
	check_one_site(frames, 1, "", "a.py:2:g");
	check_one_site(frames, 1, "a.py", "a.py:2:g");
}

/* Depth ends at 64, a piece at 2000 bytes, which is not within a character. */
TEST(test_limits)
{
	enum { CUT = 2000, LONG = 3000 };
	char *frames = calloc(2, 16 * 1024), *expected = calloc(2, 16 * 1024), *at = expected;

	assert_true(frames && expected);
	for (int i = 0; i < 70; i++)
		strcat(frames, "a.py:1:f ");
	for (int i = 0; i < 64; i++)
		at += sprintf(at, "%sa.py:1:f", i ? " < " : "");
	check_one_site(frames, 1000000, "", expected);

	strcpy(frames, "a.py:1:x");
	for (int i = 0; i < LONG / 2; i++)
		strcat(frames, "\xc3\xa4");
	/* 1 byte and 999 characters of 2: another byte would be half a character. */
	strcpy(expected, frames);
	expected[strlen("a.py:1:") + CUT - 1] = '\0';
	check_one_site(frames, 1, "", expected);
	free(frames);
	free(expected);
}

/* Things in the place of stacks, frames, files and names; stacks within themselves. */
TEST(test_odd_stacks)
{
	static const char *const sites_of[] = {
		"",
		":0:",
		":0:",
		":0:",
		":0:x",
		"a.py:0:",
		"b.py:1:collections.defaultdict",
		":0:",
		"a.py:1:f",
		"a.py:-9223372036854775808:",
		"",
	};
	struct stacks stacks;
	struct stack_sites sites;

	stacks_of_text(&stacks,
		       "{segments: [], device_traces: [["
		       "{action: oom, size: 1},"
		       "{action: oom, size: 1, frames: [7]},"
		       "{action: oom, size: 1, frames: @s=[@s]},"
		       "{action: oom, size: 1, frames: [{}, []]},"
		       "{action: oom, size: 1, frames: [{filename: 7, line: x, name: x}]},"
		       "{action: oom, size: 1, frames: [{filename: 'a.py', name: []}]},"
		       "{action: oom, size: 1, frames: [{filename: 'b.py', line: 1,"
		       " name: 'collections.defaultdict'}]},"
		       "{action: oom, size: 1, frames: [none]},"
		       "{action: oom, size: 1, frames: (@s, {filename: 'a.py', line: 1, name: f})},"
		       "{action: oom, size: 1, frames: [{filename: 'a.py',"
		       " line: -9223372036854775808, name: ''}]},"
		       "{action: oom, size: 1, frames: {a: 1}}]]}");
	sites_init(&sites, &stacks, 1, TSI_STR(""));
	for (size_t i = 0; i < sizeof(sites_of) / sizeof(sites_of[0]); i++) {
		check_site(&sites, stack_at(&stacks, i), sites_of[i]);
		assert_int_equal(tsi_stack_role(&sites, stack_at(&stacks, i)),
				 *sites_of[i] ? STACK_OTHER : STACK_UNKNOWN);
	}
	sites_deinit(&sites);
	stacks_deinit(&stacks);
}

/* Different stacks with the same innermost frame have one site. */
TEST(test_ids)
{
	static const char *const rows[] = { "a.py:1:f", "a.py:1:f b.py:2:g", "b.py:2:g", "" };
	static const uint32_t expected[] = { 1, 1, 2, 0 };
	struct stacks stacks;
	struct stack_sites sites;

	stacks_init(&stacks, rows, 4);
	sites_init(&sites, &stacks, 1, TSI_STR(""));
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(tsi_stack_site(&sites, stack_at(&stacks, i)), expected[i]);
	}
	sites_deinit(&sites);
	stacks_deinit(&stacks);
}

/* Two lists that hold their frames in the same memory, as those of a pickle do. */
TEST(test_shared_frames)
{
	static const char *const rows[] = { "a.py:1:f", "b.py:2:g", "", "", "" };
	struct stacks stacks;
	struct stack_sites sites;

	stacks_init(&stacks, rows, 5);
	for (size_t i = 0; i < 2; i++)
		assert_true(tsi_graph_share_items(stacks.plain, stack_at(&stacks, 2 + i).word,
						  stack_at(&stacks, i).word));
	sites_init(&sites, &stacks, 1, TSI_STR(""));
	check_site(&sites, stack_at(&stacks, 2), "a.py:1:f");
	check_site(&sites, stack_at(&stacks, 1), "b.py:2:g");
	check_site(&sites, stack_at(&stacks, 4), "");
	check_site(&sites, stack_at(&stacks, 0), "a.py:1:f");
	check_site(&sites, stack_at(&stacks, 3), "b.py:2:g");
	sites_deinit(&sites);
	stacks_deinit(&stacks);
}

/* ---- roles ---------------------------------------------------------------------------------- */

#define CALL " " LIB "torch/nn/modules/module.py:1:_call_impl "
#define BACKWARD " " LIB "torch/autograd/__init__.py:1:backward "
#define STEP " " LIB "torch/optim/optimizer.py:1:wrapper "

TEST(test_roles)
{
	static const struct {
		const char *frames, *role;
	} cases[] = {
		{ "", "unknown" },
		{ "a.py:1:f", "other" },
		{ "m.py:1:forward" CALL "a.py:1:f", "forward" },
		{ "x.py:1:einsum m.py:1:forward a.py:1:f", "forward" },
		{ "x.cpp:1:forward a.py:1:f", "other" },
		{ LIB "torch/optim/adamw.py:1:_init_group" STEP "a.py:1:f", "optimizer" },
		{ "torch\\optim\\sgd.py:1:step a.py:1:f", "optimizer" },
		{ "my/optim/sgd.py:1:step a.py:1:f", "other" },
		{ "??:0:torch::autograd::AccumulateGrad::apply", "backward" },
		{ "??:0:MulBackward0::apply a.py:1:f", "backward" },
		{ "??:0:x ??:0:torch::autograd::Engine::thread_main(s)", "backward" },
		{ LIB "torch/_tensor.py:1:backward" BACKWARD "a.py:1:f", "backward" },
		{ LIB "torch/autograd/graph.py:1:_engine_run_backward a.py:1:f", "backward" },
		{ LIB "torch/autograd/function.py:1:apply a.py:1:f", "other" },
		/* Of a function of the user's, of one that torch compiled. */
		{ "a.py:1:backward " LIB "torch/autograd/function.py:1:apply", "backward" },
		{ "/tmp/torchinductor_u/ab/c.py:1:call " LIB
		  "torch/_functorch/_aot_autograd/runtime_wrappers.py:1:backward " LIB
		  "torch/autograd/function.py:1:apply",
		  "backward" },
		{ "a.cpp:1:backward b.py:1:f", "other" },
		/* Recomputed for backward; a step within backward; both within a closure. */
		{ "m.py:1:forward" CALL BACKWARD "a.py:1:f", "backward" },
		{ LIB "torch/optim/sgd.py:1:step" BACKWARD "a.py:1:f", "optimizer" },
		{ BACKWARD "a.py:1:closure" STEP "a.py:1:f", "backward" },
		{ "m.py:1:forward" CALL "a.py:1:closure" STEP "a.py:1:f", "forward" },
		{ LIB "torch/nn/modules/module.py:1:convert " LIB
		      "torch/nn/modules/module.py:1:_apply a.py:1:f",
		  "parameter" },
		{ LIB "torch/nn/modules/module.py:1:to a.py:1:f", "parameter" },
		{ LIB "torch/nn/modules/module.py:1:cuda a.py:1:f", "parameter" },
		{ LIB "torch/nn/modules/linear.py:1:__init__ a.py:1:f", "parameter" },
		{ LIB "torch/nn/modules/linear.py:1:forward" CALL "a.py:1:f", "forward" },
		{ LIB "torch/nn/init.py:1:normal_ a.py:1:f", "parameter" },
		{ "a.py:1:reset_parameters a.py:1:f", "parameter" },
		{ LIB "safetensors/torch.py:1:load_file a.py:1:f", "parameter" },
		{ LIB "torch/serialization.py:1:_load a.py:1:f", "parameter" },
		{ LIB "transformers/modeling_utils.py:1:load_state_dict a.py:1:f", "parameter" },
		{ LIB "vllm/linear.py:1:create_weights a.py:1:f", "parameter" },
		{ "/x/megatron/core/distributed/param_and_grad_buffer.py:1:__init__ a.py:1:f",
		  "parameter" },
		{ "/x/megatron/core/optimizer/distrib_optimizer.py:1:__init__ a.py:1:f",
		  "optimizer" },
		{ LIB "apex/optimizers/fused_adam.py:1:step a.py:1:f", "optimizer" },
		{ "a.py:1:__init__ a.py:1:f", "other" },
		{ "a.py:1:to a.py:1:f", "other" },
		{ LIB "torch/optim/optimizer.py:1:load_state_dict a.py:1:f", "optimizer" },
		{ LIB "vllm/worker/cache_engine.py:1:_allocate_kv_cache a.py:1:f", "kv_cache" },
		{ LIB "sglang/srt/mem_cache/memory_pool.py:1:__init__ a.py:1:f", "kv_cache" },
		{ LIB "transformers/cache_utils.py:1:update m.py:1:forward" CALL "a.py:1:f",
		  "kv_cache" },
		{ LIB "torch/nn/modules/module.py:1:to m.py:1:forward" CALL "a.py:1:f",
		  "parameter" },
		{ LIB "torch/nn/parallel/distributed.py:1:_ddp_init_helper a.py:1:f",
		  "communication" },
		{ "??:0:c10d::Reducer::initialize_buckets() a.py:1:f", "communication" },
		{ LIB "torch/distributed/fsdp/_flat_param.py:1:_alloc_padded_unsharded_flat_param "
		      "m.py:1:forward" CALL "a.py:1:f",
		  "communication" },
		{ LIB "transformers/modeling_utils.py:1:_load_state_dict_into_meta_model " LIB
		      "transformers/modeling_utils.py:1:from_pretrained a.py:1:f",
		  "parameter" },
		{ LIB
		  "vllm/model_executor/layers/quantization/fp8.py:1:process_weights_after_loading",
		  "parameter" },
		{ LIB "lmdeploy/pytorch/engine/cache_engine.py:1:allocate a.py:1:f", "kv_cache" },
		/* DeepSpeed's ZeRO-3 */
		{ LIB "deepspeed/runtime/zero/partition_parameters.py:1:all_gather_coalesced " LIB
		      "deepspeed/runtime/zero/partitioned_param_coordinator.py:1:fetch_sub_module "
		      "m.py:1:forward" CALL "a.py:1:f",
		  "communication" },
		{ LIB "deepspeed/runtime/zero/partition_parameters.py:1:_partition_param " LIB
		      "deepspeed/runtime/zero/partition_parameters.py:1:wrapper a.py:1:f",
		  "parameter" },
		{ LIB "deepspeed/runtime/zero/stage3.py:1:_create_fp32_partitions " LIB
		      "deepspeed/runtime/zero/stage3.py:1:__init__ a.py:1:f",
		  "optimizer" },
		{ LIB "torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py:1:foreach_reduce "
		      "??:0:torch::autograd::Engine::thread_main(s)",
		  "communication" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stacks stacks;
		struct stack_sites sites;
		stacks_init(&stacks, &cases[i].frames, 1);
		sites_init(&sites, &stacks, 1, TSI_STR("none"));
		for (int again = 0; again < 2; again++) {
			const char *role =
				tsi_stack_role_name(tsi_stack_role(&sites, stack_at(&stacks, 0)));
			if (strcmp(role, cases[i].role) != 0)
				fail_msg("%s: %s", cases[i].frames, role);
		}
		sites_deinit(&sites);
		stacks_deinit(&stacks);
	}
}

/* A model that runs some layers under activation checkpointing, and one that does not. */
TEST(test_checkpointing)
{
	static const struct {
		const char *frames;
		bool has_checkpoint;
	} cases[] = {
		{ "m.py:1:forward" CALL LIB "torch/utils/checkpoint.py:1:checkpoint a.py:1:f",
		  true },
		{ "m.py:1:forward" CALL LIB "torch/utils/checkpoint.py:1:recompute_fn" BACKWARD
		  "a.py:1:f",
		  true },
		{ "m.py:1:forward" CALL "/m/megatron/core/tensor_parallel/random.py:1:checkpoint",
		  true },
		{ "m.py:1:forward" CALL LIB
		  "unsloth_zoo/gradient_checkpointing.py:1:forward a.py:1:f",
		  true },
		{ "m.py:1:forward" CALL "m/utils/checkpoint.py:1:save a.py:1:f", false },
		{ "m.py:1:forward" CALL BACKWARD "a.py:1:f", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stacks stacks;
		struct stack_sites sites;
		stacks_init(&stacks, &cases[i].frames, 1);
		sites_init(&sites, &stacks, 1, TSI_STR(""));
		(void)tsi_stack_role(&sites, stack_at(&stacks, 0));
		if (sites.has_checkpoint != cases[i].has_checkpoint)
			fail_msg("%s", cases[i].frames);
		sites_deinit(&sites);
		stacks_deinit(&stacks);
	}
}

/* ---- collapsed stacks ------------------------------------------------------------------------ */

static void check_collapsed(const struct stacks *stacks, size_t index, const char *expected)
{
	struct arena arena = { 0 };
	struct text_room room = { .arena = &arena };
	struct str text = tsi_stack_collapse(&room, &stacks->snapshot, stack_at(stacks, index));

	assert_string_equal(text.data, expected);
	assert_int_equal(text.length, strlen(expected));
	tsi_arena_deinit(&arena);
}

TEST(test_collapse)
{
	struct stacks stacks;

	stacks_of_text(&stacks, "{segments: [], device_traces: [["
				"{action: oom, size: 1},"
				"{action: oom, size: 1, frames: ["
				" {filename: '/x/y/a.py', line: 1, name: f},"
				" {filename: 'C:\\\\x\\\\b.py', line: 2, name: 'g;h'},"
				" {filename: '<a;b>', line: 3, name: 'i\\n\\x00\\x7f j\\xc3\\xa4'},"
				" {filename: '/x/', line: 0, name: ''}]},"
				"{action: oom, size: 1, frames: [7]}]]}");
	check_collapsed(&stacks, 0, "");
	check_collapsed(&stacks, 1, ":0:;<a:b>:3:i    j\xc3\xa4;b.py:2:g:h;a.py:1:f");
	check_collapsed(&stacks, 2, ":0:");
	stacks_deinit(&stacks);
}

/* Of 5000 frames the innermost 4096. */
TEST(test_collapse_deep)
{
	enum { DEPTH = 5000, KEPT = 4096 };
	char *text = calloc(DEPTH + 10, 16), *at = text;
	size_t length = strlen("a.py:1:f;");
	struct arena arena = { 0 };
	struct text_room room = { .arena = &arena };
	struct stacks stacks;

	assert_non_null(text);
	at += sprintf(at, "{segments: [], device_traces: [[{action: oom, size: 1, frames: ["
			  "@f={filename: 'a.py', line: 1, name: f}");
	for (int i = 1; i < DEPTH; i++)
		at += sprintf(at, ",@f");
	sprintf(at, "]}]]}");
	stacks_of_text(&stacks, text);
	assert_int_equal(tsi_stack_collapse(&room, &stacks.snapshot, stack_at(&stacks, 0)).length,
			 KEPT * length - 1);
	tsi_arena_deinit(&arena);
	stacks_deinit(&stacks);
	free(text);
}

/* What names all sites may take is limited; those that are known stay. */
TEST(test_many_sites)
{
	static const char *const rows[] = { "a.py:1:f", "b.py:2:g", "b.py:2:g z.py:3:h" };
	struct stack_sites sites;
	struct stacks stacks;
	uint32_t known, other, again;

	stacks_init(&stacks, rows, 3);
	sites_init(&sites, &stacks, 1, TSI_STR(""));
	known = tsi_stack_site(&sites, stack_at(&stacks, 1));
	assert_int_equal(sites.text_bytes, strlen("b.py:2:g"));
	sites.text_bytes = 64 << 20;
	other = tsi_stack_site(&sites, stack_at(&stacks, 0));
	assert_string_equal(tsi_stack_site_text(&sites, other).data, "(other)");
	again = tsi_stack_site(&sites, stack_at(&stacks, 2));
	assert_int_equal(again, known);
	sites_deinit(&sites);
	stacks_deinit(&stacks);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static enum tscope_status use_all(const struct stacks *stacks, struct tscope_error *err)
{
	struct stack_sites sites;
	struct arena arena = { 0 };
	struct text_room room = { .arena = &arena };

	tsi_stack_sites_init(&sites, &stacks->snapshot, 3, TSI_STR("b"), &arena);
	for (size_t i = 0; i < 2 && !arena.has_failed; i++)
		tsi_stack_site(&sites, stack_at(stacks, i));
	tsi_stack_collapse(&room, &stacks->snapshot, stack_at(stacks, 0));
	enum tscope_status status = tsi_arena_status(&arena, err);
	tsi_stack_sites_deinit(&sites);
	tsi_arena_deinit(&arena);
	return status;
}

TEST(test_out_of_memory)
{
	static const char *const rows[] = { "a.py:1:f b.py:2:g c.py:3:h", "d.py:1:f" };
	struct stacks stacks;

	stacks_init(&stacks, rows, 2);
	struct alloc_sweep sweep = { .at_least = 5 };
	while (alloc_sweep_next(&sweep))
		alloc_sweep_try(&sweep, use_all(&stacks, &sweep.err));
	stacks_deinit(&stacks);
}
