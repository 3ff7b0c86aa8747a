/* SPDX-License-Identifier: MIT */
/* model/trace/module_path.c: modules by what annotations and args call them. */
#include "model/trace/module_path.h"

#include <stdio.h>

#include "base/attributes.h"
#include "check.h"

TEST(marks)
{
	static const struct {
		const char *name;
		enum mark_kind kind;
		enum module_edge edge;
		const char *path;
	} cases[] = {
		{ "FSDP::pre_forward (layers.3)", MARK_FSDP_MODULE, EDGE_BEGIN, "layers.3" },
		{ "FSDP::post_forward (layers.3)", MARK_FSDP_MODULE, EDGE_END, "layers.3" },
		{ "FSDP::pre_backward (0)", MARK_FSDP_MODULE, EDGE_HOOK, "0" },
		{ "FSDP::all_gather (tok_embeddings)", MARK_FSDP_MODULE, EDGE_HOOK,
		  "tok_embeddings" },
		/* the root has no name */
		{ "FSDP::pre_forward", MARK_NONE, EDGE_NONE, "" },
		{ "FSDP::pre_forward (a, b)", MARK_NONE, EDGE_NONE, "" },
		{ "FSDP::pre_forward ()", MARK_NONE, EDGE_NONE, "" },
		{ " (a)", MARK_NONE, EDGE_NONE, "" },
		{ "FullyShardedDataParallel.forward", MARK_FSDP_UNIT, EDGE_NONE, "" },
		{ "FullyShardedDataParallel._pre_forward", MARK_NONE, EDGE_NONE, "" },
		/* a user's: only what lists number is surely a module */
		{ "model.layers.17.self_attn", MARK_PATH, EDGE_NONE, "model.layers.17.self_attn" },
		{ "layers.3", MARK_PATH, EDGE_NONE, "layers.3" },
		{ "forward", MARK_NONE, EDGE_NONE, "" },
		{ "train.step", MARK_NONE, EDGE_NONE, "" },
		{ "3.1", MARK_NONE, EDGE_NONE, "" },
		{ "layers..3", MARK_NONE, EDGE_NONE, "" },
		{ "layers.3.", MARK_NONE, EDGE_NONE, "" },
		{ "epoch 1.5", MARK_NONE, EDGE_NONE, "" },
		{ "Optimizer.step#SGD.step", MARK_NONE, EDGE_NONE, "" },
		{ "ProfilerStep#3", MARK_NONE, EDGE_NONE, "" },
		{ "", MARK_NONE, EDGE_NONE, "" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct module_mark mark = tsi_module_mark(tsi_str_of(cases[i].name));
		if (mark.kind != cases[i].kind || mark.edge != cases[i].edge ||
		    !tsi_str_equal(mark.path, tsi_str_of(cases[i].path)))
			fail_msg("%s: kind %d, edge %d, path %.*s", cases[i].name, mark.kind,
				 mark.edge, (int)mark.path.length, mark.path.data);
	}
}

/* The names of a path, each with a slash behind it. */
static void check_names(const char *text, bool (*next)(struct str *, struct str *),
			const char *expected)
{
	struct str path = tsi_str_of(text), name;
	char names[256] = "";
	size_t length = 0;

	while (next(&path, &name))
		length += (size_t)snprintf(names + length, sizeof(names) - length, "%.*s/",
					   (int)name.length, name.data);
	assert_string_equal(names, expected);
}

TEST(paths)
{
	check_names("layers.3.wq", tsi_path_next, "layers/3/wq/");
	check_names("", tsi_path_next, "");
	/* As PyTorch's own change says it. */
	check_names("TOP(ResNet)::forward.SELF(ResNet)::_forward_impl.layer1(Sequential)::forward."
		    "0(BasicBlock)::forward.conv1(Conv2d)::forward.SELF(Conv2d)::_conv_forward",
		    tsi_hierarchy_next, "ResNet/layer1/0/conv1/");
	check_names("TOP(C)::forward.A0(A)::forward.::relu", tsi_hierarchy_next, "C/A0/");
	check_names("TOP()::forward", tsi_hierarchy_next, "");
	check_names("(A)::f.A)::f.A(::f.", tsi_hierarchy_next, "");
	assert_true(tsi_is_module_number(TSI_STR("17")));
	assert_false(tsi_is_module_number(TSI_STR("")));
	assert_false(tsi_is_module_number(TSI_STR("1a")));
}

TEST(call_stacks)
{
	static const struct {
		const char *stack, *frame;
	} cases[] = {
		{ "/usr/lib/python3.7/site-packages/torch/optim/optimizer.py(216): zero_grad;"
		  "train.py(49): <module>",
		  "train.py(49): <module>" },
		{ "model.py(7): forward;train.py(49): <module>", "model.py(7): forward" },
		{ "torch/nn/modules/conv.py(9): forward", "" },
		{ ";;", "" },
		{ "", "" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct str frame = tsi_user_frame(tsi_str_of(cases[i].stack));
		assert_true(tsi_str_equal(frame, tsi_str_of(cases[i].frame)));
	}
}

TEST(tracebacks)
{
	static const struct {
		const char *traceback, *frame;
	} cases[] = {
		{ "  File \"/job/net.py\", line 7, in forward\n    y = f(x)\n",
		  "/job/net.py(7): forward" },
		/* the innermost that is the user's */
		{ "File \"/job/t.py\", line 3, in main\n  net(x)\nFile \"/job/net.py\", line 7, in "
		  "forward",
		  "/job/net.py(7): forward" },
		{ "  File \"/job/net.py\", line 7, in forward\n    y = f(x)\n    ^^^^\n"
		  "  File \"/x/site-packages/torch/nn/f.py\", line 2, in f\n    pass\n",
		  "/job/net.py(7): forward" },
		{ "  File \"/x/site-packages/torch/nn/f.py\", line 2, in f\n", "" },
		/* code that looks like it */
		{ "    print('File \"a.py\", line 1, in b')\n", "" },
		{ "  File \"/job/net.py\", line 7\n", "" },
		{ "  File \"/job/net.py\"\n", "" },
		{ "  File \"", "" },
		{ "model.py:7 in forward", "" },
		{ "\n\n", "" },
		{ "", "" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char frame[256];
		size_t length = tsi_traceback_frame(tsi_str_of(cases[i].traceback), frame);
		struct str found = { frame, length };
		if (!tsi_str_equal(found, tsi_str_of(cases[i].frame)))
			fail_msg("%s: \"%.*s\"", cases[i].traceback, (int)length, frame);
	}
}
