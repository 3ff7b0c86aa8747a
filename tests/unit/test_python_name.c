/* SPDX-License-Identifier: MIT */
/* model/trace/python_name.c: functions of Python by the names that profilers write. */
#include "model/trace/python_name.h"

#include "base/attributes.h"
#include "check.h"

TEST(test_parts)
{
	static const struct {
		const char *name, *function, *file;
	} cases[] = {
		{ "fib (/tmp/vt.py:3)", "fib", "/tmp/vt.py" },
		{ "<module> (a.py:1)", "<module>", "a.py" },
		{ "Runner.run (C:\\Python\\Lib\\asyncio\\runners.py:86)", "Runner.run",
		  "C:\\Python\\Lib\\asyncio\\runners.py" },
		{ "f (C:\\Program Files (x86)\\a.py:7)", "f", "C:\\Program Files (x86)\\a.py" },
		{ "my event (/tmp/vt.py:7)", "my event", "/tmp/vt.py" },
		{ "train.py(12): main", "main", "train.py" },
		{ "torch/nn/modules/module.py(1747): _call_impl", "_call_impl",
		  "torch/nn/modules/module.py" },
		/* in C, and what only looks like a place */
		{ "time.sleep", "time.sleep", "" },
		{ "<built-in method item of Tensor object at 0x7f00>",
		  "<built-in method item of Tensor object at 0x7f00>", "" },
		{ "f (x)", "f (x)", "" },
		{ "f (a.py:x)", "f (a.py:x)", "" },
		{ "f (:3)", "f (:3)", "" },
		{ "f (a.py:3", "f (a.py:3", "" },
		{ " (a.py:3)", " (a.py:3)", "" },
		{ "a.py(3): ", "a.py(3): ", "" },
		{ "(3): f", "(3): f", "" },
		{ "a.py(x): f", "a.py(x): f", "" },
		{ " (", " (", "" },
		{ ")", ")", "" },
		{ "", "", "" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct python_name parts = tsi_python_name(tsi_str_of(cases[i].name));

		if (!tsi_str_equal(parts.function, tsi_str_of(cases[i].function)) ||
		    !tsi_str_equal(parts.file, tsi_str_of(cases[i].file)))
			fail_msg("%s: %.*s in %.*s", cases[i].name, TSI_QUOTE(parts.function),
				 TSI_QUOTE(parts.file));
	}
}

#define SITE "/usr/lib/python3.12/site-packages/"
#define LOADER SITE "torch/utils/data/dataloader.py:701)"

TEST(test_work)
{
	static const struct {
		const char *name;
		enum python_work work;
	} cases[] = {
		{ "", PYTHON_OTHER },
		{ "main (/job/train.py:1)", PYTHON_OTHER },
		{ "_BaseDataLoaderIter.__next__ (" LOADER, PYTHON_DATA },
		{ "__next__ (" LOADER, PYTHON_DATA },
		{ "torch/utils/data/dataloader.py(701): __next__", PYTHON_DATA },
		{ "__next__ (C:\\Lib\\site-packages\\torch\\utils\\data\\dataloader.py:5)",
		  PYTHON_DATA },
		{ "__next__ (/home/me/pytorch/torch/utils/data/dataloader.py:5)", PYTHON_DATA },
		{ "DataLoader.__len__ (" LOADER, PYTHON_OTHER },
		{ "/env/lib/python3.11/site-packages/nvidia/dali/plugin/pytorch/__init__.py(212): "
		  "__next__",
		  PYTHON_DATA },
		{ "/env/lib/python3.11/site-packages/ffcv/loader/epoch_iterator.py(90): __next__",
		  PYTHON_DATA },
		{ "megatron/energon/savable_loader.py(300): __iter__", PYTHON_DATA },
		{ "/job/ffcv/loader.py(9): __next__", PYTHON_OTHER },
		{ "__next__ (/job/dataloader.py:5)", PYTHON_OTHER },
		{ "__next__ (/job/xtorch/utils/data/dataloader.py:5)", PYTHON_OTHER },
		{ "Logger.info (/usr/lib/python3.12/logging/__init__.py:1500)", PYTHON_LOGGING },
		{ "Run.log (" SITE "wandb/sdk/wandb_run.py:1700)", PYTHON_LOGGING },
		{ "wandb/sdk/wandb_run.py(1700): log", PYTHON_LOGGING },
		/* a package is one where packages are installed, not wherever a folder is called so */
		{ "train (/home/me/wandb/train.py:3)", PYTHON_OTHER },
		{ "run (/home/me/mlflow/run.py:3)", PYTHON_OTHER },
		{ "builtins.print", PYTHON_LOGGING },
		{ "print (/job/a.py:3)", PYTHON_OTHER },
		/* around a loader: the time is the loader's */
		{ "tqdm.__iter__ (" SITE "tqdm/std.py:1160)", PYTHON_OTHER },
		{ "tqdm.update (" SITE "tqdm/std.py:1200)", PYTHON_LOGGING },
		{ "save (" SITE "torch/serialization.py:850)", PYTHON_CHECKPOINT },
		{ "load (" SITE "torch/serialization.py:1100)", PYTHON_OTHER },
		{ "Trainer._save_checkpoint (/job/trainer.py:9)", PYTHON_CHECKPOINT },
		{ "async_save (" SITE "torch/distributed/checkpoint/state_dict_saver.py:9)",
		  PYTHON_CHECKPOINT },
		{ "synchronize (" SITE "torch/cuda/__init__.py:1000)", PYTHON_SYNC },
		{ "Tensor.item", PYTHON_SYNC },
		{ "<built-in method item of Tensor object at 0x7f00>", PYTHON_SYNC },
		{ "dict.items", PYTHON_OTHER },
		{ "all_reduce (" SITE "torch/distributed/distributed_c10d.py:2800)", PYTHON_COMM },
		{ "_compile (" SITE "torch/_dynamo/convert_frame.py:700)", PYTHON_COMPILE },
		{ "gc.collect", PYTHON_GC },
		{ "Module._call_impl (" SITE "torch/nn/modules/module.py:1747)", PYTHON_FORWARD },
		{ "Net.forward (/job/net.py:3)", PYTHON_FORWARD },
		{ "Tensor.backward (" SITE "torch/_tensor.py:593)", PYTHON_BACKWARD },
		{ "Optimizer.profile_hook_step.<locals>.wrapper (" SITE
		  "torch/optim/optimizer.py:480)",
		  PYTHON_OPTIMIZER_STEP },
		{ "SGD.step (" SITE "torch/optim/sgd.py:100)", PYTHON_OPTIMIZER },
		{ "LRScheduler.step (" SITE "torch/optim/lr_scheduler.py:150)", PYTHON_OPTIMIZER },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		enum python_work work = tsi_classify_python(tsi_str_of(cases[i].name));

		if (work != cases[i].work)
			fail_msg("%s: %d", cases[i].name, work);
	}
}

TEST(test_user_frames)
{
	static const struct {
		const char *name;
		bool is_user;
	} cases[] = {
		{ "train.py(7): main", true },
		{ "/job/src/model.py(12): forward", true },
		{ "transformers/trainer.py(9): train", true },
		{ "torch_utils.py(9): f", true },
		{ "torch/nn/modules/module.py(12): _call_impl", false },
		{ SITE "transformers/trainer.py(9): train", false },
		{ "/usr/lib/python3.12/contextlib.py(81): inner", false },
		{ "contextlib.py(81): inner", false },
		{ "<frozen runpy>(88): _run_code", false },
		{ "<built-in function next>", false },
		{ "main (/job/train.py:1)", true },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		if (tsi_is_user_frame(tsi_str_of(cases[i].name)) != cases[i].is_user)
			fail_msg("%s", cases[i].name);
}
