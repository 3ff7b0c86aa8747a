/* SPDX-License-Identifier: MIT */
/*
 * Python functions by their names. VizTracer writes "function (file:line)", where the function
 * is qualified by its class from Python 3.11 on, and "module.function" or "Type.method" for those
 * in C; PyTorch's profiler writes "file(line): function" and "<built-in method item of Tensor
 * object at 0x7f…>". One row of the table adds one pattern; each name is asked for once.
 */
#include "model/trace/python_name.h"

#include "base/attributes.h"

static bool is_number(struct str text)
{
	int64_t number;

	return tsi_str_to_int64(text, &number);
}

static struct str behind(struct str text, size_t count)
{
	return (struct str){ text.data + count, text.length - count };
}

/* Index of the last such character, or -1. */
static ptrdiff_t find_last(struct str text, char c)
{
	ptrdiff_t at = (ptrdiff_t)text.length;

	while (--at >= 0 && text.data[at] != c)
		;
	return at;
}

/* "function (file:line)" */
static bool split_viztracer(struct str name, struct python_name *parts)
{
	ptrdiff_t open = tsi_str_find(name, TSI_STR(" ("));

	if (open <= 0 || name.data[name.length - 1] != ')')
		return false;
	struct str place = { name.data + open + 2, name.length - (size_t)open - 3 };
	ptrdiff_t colon = find_last(place, ':');
	if (colon <= 0 || !is_number(behind(place, (size_t)colon + 1)))
		return false;
	parts->function.length = (size_t)open;
	parts->file = (struct str){ place.data, (size_t)colon };
	return true;
}

/* "file(line): function" */
static bool split_kineto(struct str name, struct python_name *parts)
{
	ptrdiff_t end = tsi_str_find(name, TSI_STR("): "));

	if (end <= 0 || (size_t)end + 3 == name.length)
		return false;
	struct str place = { name.data, (size_t)end };
	ptrdiff_t open = find_last(place, '(');
	if (open <= 0 || !is_number(behind(place, (size_t)open + 1)))
		return false;
	parts->function = behind(name, (size_t)end + 3);
	parts->file = (struct str){ name.data, (size_t)open };
	return true;
}

struct python_name tsi_python_name(struct str name)
{
	struct python_name parts = { .function = name };

	if (!split_viztracer(name, &parts))
		(void)split_kineto(name, &parts);
	return parts;
}

struct python_pattern {
	/*
	 * A file by the last parts of its path, or with a slash at its end a package, which is
	 * looked for where packages are installed. NULL: a C function.
	 */
	const char *file;
	const char *function; /* "*" at its beginning or end: anything; NULL: every one */
	enum python_work work;
};

/* The first that fits counts. */
static const struct python_pattern patterns[] = {
	/* Bars that are drawn around a loader: their iterators run the loader within. */
	{ "tqdm/", "*__iter__", PYTHON_OTHER },
	{ "rich/progress.py", "*track", PYTHON_OTHER },
	{ "rich/progress.py", "*__iter__", PYTHON_OTHER },

	{ "torch/utils/data/dataloader.py", "*__next__", PYTHON_DATA },
	{ "torch/utils/data/dataloader.py", "*__iter__", PYTHON_DATA },
	{ "torch/utils/data/dataloader.py", "*_next_data", PYTHON_DATA },
	{ "torch/utils/data/dataloader.py", "*_get_data", PYTHON_DATA },
	{ "torch/utils/data/datapipes/", "*__next__", PYTHON_DATA },
	{ "torchdata/", "*__next__", PYTHON_DATA },
	{ "datasets/", "*__iter__", PYTHON_DATA }, /* Hugging Face */
	{ "accelerate/data_loader.py", "*__iter__", PYTHON_DATA },
	{ "loops/fetchers.py", "*__next__", PYTHON_DATA }, /* Lightning */
	{ "utilities/combined_loader.py", "*__next__", PYTHON_DATA },
	{ "litdata/", "*__next__", PYTHON_DATA },
	{ "litdata/", "*__iter__", PYTHON_DATA },
	{ "streaming/", "*__iter__", PYTHON_DATA }, /* MosaicML */
	{ "webdataset/", "*__iter__", PYTHON_DATA },
	{ "tensorflow/python/data/ops/iterator_ops.py", "*__next__", PYTHON_DATA },

	{ "logging/__init__.py", NULL, PYTHON_LOGGING },
	{ "loguru/", NULL, PYTHON_LOGGING },
	{ "wandb/", NULL, PYTHON_LOGGING },
	{ "mlflow/", NULL, PYTHON_LOGGING },
	{ "comet_ml/", NULL, PYTHON_LOGGING },
	{ "neptune/", NULL, PYTHON_LOGGING },
	{ "clearml/", NULL, PYTHON_LOGGING },
	{ "aim/", NULL, PYTHON_LOGGING },
	{ "tensorboardX/", NULL, PYTHON_LOGGING },
	{ "tensorboard/", NULL, PYTHON_LOGGING },
	{ "torch/utils/tensorboard/", NULL, PYTHON_LOGGING },
	{ "tqdm/", NULL, PYTHON_LOGGING },
	{ "rich/", NULL, PYTHON_LOGGING },
	{ "lightning/pytorch/loggers/", NULL, PYTHON_LOGGING },
	{ "pytorch_lightning/loggers/", NULL, PYTHON_LOGGING },
	{ "composer/loggers/", NULL, PYTHON_LOGGING },
	{ "transformers/integrations/integration_utils.py", "*on_log", PYTHON_LOGGING },
	{ NULL, "builtins.print", PYTHON_LOGGING },
	{ NULL, "<built-in function print>", PYTHON_LOGGING },

	{ "torch/serialization.py", "save", PYTHON_CHECKPOINT },
	{ "torch/serialization.py", "_save", PYTHON_CHECKPOINT },
	{ "torch/serialization.py", "_legacy_save", PYTHON_CHECKPOINT },
	{ "torch/distributed/checkpoint/", NULL, PYTHON_CHECKPOINT },
	{ "safetensors/torch.py", "save*", PYTHON_CHECKPOINT },
	{ "callbacks/model_checkpoint.py", NULL, PYTHON_CHECKPOINT }, /* Lightning */
	{ "composer/callbacks/checkpoint_saver.py", NULL, PYTHON_CHECKPOINT },
	{ "", "*save_checkpoint*", PYTHON_CHECKPOINT },
	{ "", "*save_pretrained", PYTHON_CHECKPOINT },

	{ "torch/cuda/__init__.py", "synchronize", PYTHON_SYNC },
	{ "torch/cuda/streams.py", "*synchronize", PYTHON_SYNC },
	{ NULL, "torch._C._cuda_synchronize", PYTHON_SYNC },
	{ NULL, "Tensor.item", PYTHON_SYNC },
	{ NULL, "Tensor.tolist", PYTHON_SYNC },
	{ NULL, "Tensor.cpu", PYTHON_SYNC },
	{ NULL, "Tensor.nonzero", PYTHON_SYNC },
	{ NULL, "Parameter.item", PYTHON_SYNC },
	{ NULL, "Parameter.cpu", PYTHON_SYNC },
	{ NULL, "<built-in method item of *", PYTHON_SYNC },
	{ NULL, "<built-in method tolist of Tensor*", PYTHON_SYNC },
	{ NULL, "<built-in method cpu of Tensor*", PYTHON_SYNC },
	{ NULL, "<built-in function _cuda_synchronize>", PYTHON_SYNC },

	{ "torch/distributed/distributed_c10d.py", NULL, PYTHON_COMM },

	{ "torch/_dynamo/convert_frame.py", NULL, PYTHON_COMPILE },
	{ "torch/_inductor/compile_fx.py", NULL, PYTHON_COMPILE },
	{ "triton/compiler/", NULL, PYTHON_COMPILE },

	{ NULL, "gc.collect", PYTHON_GC },
	{ NULL, "<built-in function collect>", PYTHON_GC },

	{ "torch/nn/modules/module.py", "*_call_impl", PYTHON_FORWARD },
	{ "", "*.forward", PYTHON_FORWARD },
	{ "", "*.training_step", PYTHON_FORWARD },
	{ "torch/_tensor.py", "*backward", PYTHON_BACKWARD },
	{ "torch/autograd/__init__.py", "backward", PYTHON_BACKWARD },
	{ "torch/optim/optimizer.py", "*wrapper", PYTHON_OPTIMIZER_STEP },
	{ "torch/optim/optimizer.py", "*zero_grad", PYTHON_OPTIMIZER },
	{ "torch/optim/lr_scheduler.py", NULL, PYTHON_OPTIMIZER },
	{ "torch/optim/", "*step", PYTHON_OPTIMIZER },
};

static char slash_of(char c)
{
	return (char)(c == '\\' ? '/' : c);
}

/* Is the wanted text in the path at this place? "\" is "/". */
static bool is_at(struct str path, size_t at, struct str wanted)
{
	for (size_t i = 0; i < wanted.length; i++)
		if (at + i >= path.length || slash_of(path.data[at + i]) != wanted.data[i])
			return false;
	return true;
}

static bool is_part_start(struct str path, size_t at)
{
	return at == 0 || slash_of(path.data[at - 1]) == '/';
}

/* Are packages installed in the folder of which the name ends here: "…/site-packages/"? */
static bool is_package_root(struct str path, size_t end)
{
	static const struct str roots[] = { { "site-packages/", 14 }, { "dist-packages/", 14 } };

	for (size_t i = 0; i < TSI_COUNT_OF(roots); i++)
		if (end >= roots[i].length && is_at(path, end - roots[i].length, roots[i]))
			return true;
	return end == 0;
}

static bool is_in_package(struct str path, struct str package)
{
	bool has_one_part = memchr(package.data, '/', package.length - 1) == NULL;

	for (size_t at = 0; at + package.length < path.length; at++)
		if (is_part_start(path, at) && is_at(path, at, package) &&
		    (!has_one_part || is_package_root(path, at)))
			return true;
	return false;
}

/* Files and packages of Python and of what runs a user's code, where their folder is cut off. */
static const char *const library_files[] = {
	"torch/",     "torchvision/", "torchgen/",   "triton/",       "tqdm/",
	"numpy/",     "asyncio/",     "concurrent/", "contextlib.py", "functools.py",
	"importlib/", "inspect.py",   "logging/",    "queue.py",      "multiprocessing/",
	"runpy.py",   "selectors.py", "socket.py",   "subprocess.py", "threading.py",
	"typing.py",  "warnings.py",
};

bool tsi_is_user_frame(struct str name)
{
	static const struct str installed[] = {
		{ "site-packages", 13 },
		{ "dist-packages", 13 },
		{ "/lib/python3", 12 },
		{ "torchinductor_", 14 },
	};
	struct str file = tsi_python_name(name).file;

	if (!file.length || file.data[0] == '<')
		return false;
	for (size_t i = 0; i < TSI_COUNT_OF(installed); i++)
		if (tsi_str_find(file, installed[i]) >= 0)
			return false;
	for (size_t i = 0; i < TSI_COUNT_OF(library_files); i++) {
		struct str library = tsi_str_of(library_files[i]);
		bool is_package = library.data[library.length - 1] == '/';
		if (is_package ? is_at(file, 0, library) : tsi_str_equal(file, library))
			return false;
	}
	return true;
}

static bool matches_file(struct str path, const char *wanted)
{
	if (!wanted)
		return path.length == 0;
	struct str end = tsi_str_of(wanted);
	if (end.length == 0)
		return true;
	if (end.data[end.length - 1] == '/')
		return is_in_package(path, end);
	return path.length >= end.length && is_at(path, path.length - end.length, end) &&
	       is_part_start(path, path.length - end.length);
}

static bool ends_with(struct str text, struct str end)
{
	return text.length >= end.length &&
	       tsi_str_equal(behind(text, text.length - end.length), end);
}

static bool matches_function(struct str function, const char *wanted)
{
	if (!wanted)
		return true;
	struct str text = tsi_str_of(wanted);
	bool is_open_start = text.data[0] == '*', is_open_end = text.data[text.length - 1] == '*';
	text.data += is_open_start;
	text.length -= (size_t)is_open_start + is_open_end;
	if (is_open_start && is_open_end)
		return tsi_str_find(function, text) >= 0;
	if (is_open_start)
		return ends_with(function, text);
	return is_open_end ? tsi_str_has_prefix(function, text) : tsi_str_equal(function, text);
}

enum python_work tsi_classify_python(struct str name)
{
	struct python_name parts = tsi_python_name(name);

	for (size_t i = 0; i < TSI_COUNT_OF(patterns); i++)
		if (matches_function(parts.function, patterns[i].function) &&
		    matches_file(parts.file, patterns[i].file))
			return patterns[i].work;
	return PYTHON_OTHER;
}
