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
	if (!name.length || name.data[name.length - 1] != ')')
		return false;
	ptrdiff_t open = tsi_str_find(name, TSI_STR(" ("));
	if (open <= 0)
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

/* Of tables: a text with its length, and that which is not there. */
#define TEXT(literal)                                                                              \
	{                                                                                          \
		literal, sizeof(literal) - 1                                                       \
	}
#define NONE                                                                                       \
	{                                                                                          \
		NULL, 0                                                                            \
	}

struct python_pattern {
	/*
	 * A file by the last parts of its path, or with a slash at its end a package, which is
	 * looked for where packages are installed. NULL: a C function.
	 */
	struct str file;
	struct str function; /* "*" at its beginning or end: anything; NULL: every one */
	enum python_work work;
};

/* The first that fits counts. */
static const struct python_pattern patterns[] = {
	/* Bars that are drawn around a loader: their iterators run the loader within. */
	{ TEXT("tqdm/"), TEXT("*__iter__"), PYTHON_OTHER },
	{ TEXT("rich/progress.py"), TEXT("*track"), PYTHON_OTHER },
	{ TEXT("rich/progress.py"), TEXT("*__iter__"), PYTHON_OTHER },

	{ TEXT("torch/utils/data/dataloader.py"), TEXT("*__next__"), PYTHON_DATA },
	{ TEXT("torch/utils/data/dataloader.py"), TEXT("*__iter__"), PYTHON_DATA },
	{ TEXT("torch/utils/data/dataloader.py"), TEXT("*_next_data"), PYTHON_DATA },
	{ TEXT("torch/utils/data/dataloader.py"), TEXT("*_get_data"), PYTHON_DATA },
	{ TEXT("torch/utils/data/datapipes/"), TEXT("*__next__"), PYTHON_DATA },
	{ TEXT("torchdata/"), TEXT("*__next__"), PYTHON_DATA },
	{ TEXT("datasets/"), TEXT("*__iter__"), PYTHON_DATA }, /* Hugging Face */
	{ TEXT("accelerate/data_loader.py"), TEXT("*__iter__"), PYTHON_DATA },
	{ TEXT("loops/fetchers.py"), TEXT("*__next__"), PYTHON_DATA }, /* Lightning */
	{ TEXT("utilities/combined_loader.py"), TEXT("*__next__"), PYTHON_DATA },
	{ TEXT("litdata/"), TEXT("*__next__"), PYTHON_DATA },
	{ TEXT("litdata/"), TEXT("*__iter__"), PYTHON_DATA },
	{ TEXT("streaming/"), TEXT("*__iter__"), PYTHON_DATA }, /* MosaicML */
	{ TEXT("webdataset/"), TEXT("*__iter__"), PYTHON_DATA },
	{ TEXT("tensorflow/python/data/ops/iterator_ops.py"), TEXT("*__next__"), PYTHON_DATA },

	{ TEXT("logging/__init__.py"), NONE, PYTHON_LOGGING },
	{ TEXT("loguru/"), NONE, PYTHON_LOGGING },
	{ TEXT("wandb/"), NONE, PYTHON_LOGGING },
	{ TEXT("mlflow/"), NONE, PYTHON_LOGGING },
	{ TEXT("comet_ml/"), NONE, PYTHON_LOGGING },
	{ TEXT("neptune/"), NONE, PYTHON_LOGGING },
	{ TEXT("clearml/"), NONE, PYTHON_LOGGING },
	{ TEXT("aim/"), NONE, PYTHON_LOGGING },
	{ TEXT("tensorboardX/"), NONE, PYTHON_LOGGING },
	{ TEXT("tensorboard/"), NONE, PYTHON_LOGGING },
	{ TEXT("torch/utils/tensorboard/"), NONE, PYTHON_LOGGING },
	{ TEXT("tqdm/"), NONE, PYTHON_LOGGING },
	{ TEXT("rich/"), NONE, PYTHON_LOGGING },
	{ TEXT("lightning/pytorch/loggers/"), NONE, PYTHON_LOGGING },
	{ TEXT("pytorch_lightning/loggers/"), NONE, PYTHON_LOGGING },
	{ TEXT("composer/loggers/"), NONE, PYTHON_LOGGING },
	{ TEXT("transformers/integrations/integration_utils.py"), TEXT("*on_log"), PYTHON_LOGGING },
	{ NONE, TEXT("builtins.print"), PYTHON_LOGGING },
	{ NONE, TEXT("<built-in function print>"), PYTHON_LOGGING },

	{ TEXT("torch/serialization.py"), TEXT("save"), PYTHON_CHECKPOINT },
	{ TEXT("torch/serialization.py"), TEXT("_save"), PYTHON_CHECKPOINT },
	{ TEXT("torch/serialization.py"), TEXT("_legacy_save"), PYTHON_CHECKPOINT },
	{ TEXT("torch/distributed/checkpoint/"), NONE, PYTHON_CHECKPOINT },
	{ TEXT("safetensors/torch.py"), TEXT("save*"), PYTHON_CHECKPOINT },
	{ TEXT("callbacks/model_checkpoint.py"), NONE, PYTHON_CHECKPOINT }, /* Lightning */
	{ TEXT("composer/callbacks/checkpoint_saver.py"), NONE, PYTHON_CHECKPOINT },
	{ TEXT(""), TEXT("*save_checkpoint*"), PYTHON_CHECKPOINT },
	{ TEXT(""), TEXT("*save_pretrained"), PYTHON_CHECKPOINT },

	{ TEXT("torch/cuda/__init__.py"), TEXT("synchronize"), PYTHON_SYNC },
	{ TEXT("torch/cuda/streams.py"), TEXT("*synchronize"), PYTHON_SYNC },
	{ NONE, TEXT("torch._C._cuda_synchronize"), PYTHON_SYNC },
	{ NONE, TEXT("Tensor.item"), PYTHON_SYNC },
	{ NONE, TEXT("Tensor.tolist"), PYTHON_SYNC },
	{ NONE, TEXT("Tensor.cpu"), PYTHON_SYNC },
	{ NONE, TEXT("Tensor.nonzero"), PYTHON_SYNC },
	{ NONE, TEXT("Parameter.item"), PYTHON_SYNC },
	{ NONE, TEXT("Parameter.cpu"), PYTHON_SYNC },
	{ NONE, TEXT("<built-in method item of *"), PYTHON_SYNC },
	{ NONE, TEXT("<built-in method tolist of Tensor*"), PYTHON_SYNC },
	{ NONE, TEXT("<built-in method cpu of Tensor*"), PYTHON_SYNC },
	{ NONE, TEXT("<built-in function _cuda_synchronize>"), PYTHON_SYNC },

	{ TEXT("torch/distributed/distributed_c10d.py"), NONE, PYTHON_COMM },

	{ TEXT("torch/_dynamo/convert_frame.py"), NONE, PYTHON_COMPILE },
	{ TEXT("torch/_inductor/compile_fx.py"), NONE, PYTHON_COMPILE },
	{ TEXT("triton/compiler/"), NONE, PYTHON_COMPILE },

	{ NONE, TEXT("gc.collect"), PYTHON_GC },
	{ NONE, TEXT("<built-in function collect>"), PYTHON_GC },

	{ TEXT("torch/nn/modules/module.py"), TEXT("*_call_impl"), PYTHON_FORWARD },
	{ TEXT(""), TEXT("*.forward"), PYTHON_FORWARD },
	{ TEXT(""), TEXT("*.training_step"), PYTHON_FORWARD },
	{ TEXT("torch/_tensor.py"), TEXT("*backward"), PYTHON_BACKWARD },
	{ TEXT("torch/autograd/__init__.py"), TEXT("backward"), PYTHON_BACKWARD },
	{ TEXT("torch/optim/optimizer.py"), TEXT("*wrapper"), PYTHON_OPTIMIZER_STEP },
	{ TEXT("torch/optim/optimizer.py"), TEXT("*zero_grad"), PYTHON_OPTIMIZER },
	{ TEXT("torch/optim/lr_scheduler.py"), NONE, PYTHON_OPTIMIZER },
	{ TEXT("torch/optim/"), TEXT("*step"), PYTHON_OPTIMIZER },
};

static char slash_of(char c)
{
	return (char)(c == '\\' ? '/' : c);
}

/* Is the wanted text in the path at this place? "\" is "/". */
static bool is_at(struct str path, size_t at, struct str wanted)
{
	if (path.length < wanted.length || at > path.length - wanted.length)
		return false;
	for (size_t i = 0; i < wanted.length; i++)
		if (slash_of(path.data[at + i]) != wanted.data[i])
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

/* False where the path has not all pairs of letters of a package: then it is not searched. */
static bool may_hold_path(const struct letter_pairs *pairs, struct str package)
{
	for (size_t i = 1; i < package.length; i++) {
		char a = package.data[i - 1], b = package.data[i];
		if (!tsi_has_pair(pairs, a, b) && a != '/' && b != '/')
			return false;
	}
	return true;
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
static const struct str library_files[] = {
	TEXT("torch/"),
	TEXT("torchvision/"),
	TEXT("torchgen/"),
	TEXT("triton/"),
	TEXT("tqdm/"),
	TEXT("numpy/"),
	TEXT("asyncio/"),
	TEXT("concurrent/"),
	TEXT("contextlib.py"),
	TEXT("functools.py"),
	TEXT("importlib/"),
	TEXT("inspect.py"),
	TEXT("logging/"),
	TEXT("queue.py"),
	TEXT("multiprocessing/"),
	TEXT("runpy.py"),
	TEXT("selectors.py"),
	TEXT("socket.py"),
	TEXT("subprocess.py"),
	TEXT("threading.py"),
	TEXT("typing.py"),
	TEXT("warnings.py"),
	TEXT("typing_extensions.py"),
	TEXT("collections/"),
	TEXT("_collections_abc.py"),
	TEXT("ctypes/"),
	TEXT("encodings/"),
	TEXT("json/"),
	TEXT("abc.py"),
	TEXT("ast.py"),
	TEXT("copy.py"),
	TEXT("dataclasses.py"),
	TEXT("enum.py"),
	TEXT("os.py"),
	TEXT("pickle.py"),
	TEXT("random.py"),
	TEXT("re.py"),
	TEXT("re/"),
	TEXT("tempfile.py"),
	TEXT("types.py"),
	TEXT("weakref.py"),
	TEXT("_weakrefset.py"),
	TEXT("einops/"),
};

struct str tsi_module_name(struct str name)
{
	static const struct str prefix = TEXT("nn.Module: ");

	return tsi_str_has_prefix(name, prefix) ? behind(name, prefix.length)
						: (struct str){ NULL, 0 };
}

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
	for (size_t i = 0; i < TSI_COUNT_OF(library_files); i++) {
		struct str library = library_files[i];
		if (file.data[0] != library.data[0] || !is_at(file, 0, library))
			continue;
		if (library.data[library.length - 1] == '/' || file.length == library.length)
			return false;
	}
	for (size_t i = 0; i < TSI_COUNT_OF(installed); i++)
		if (tsi_str_find(file, installed[i]) >= 0)
			return false;
	return true;
}

enum frame_place tsi_frame_place(struct str name)
{
	if (tsi_module_name(name).length)
		return FRAME_MODULE;
	return tsi_is_user_frame(name) ? FRAME_USER : FRAME_NOWHERE;
}

static bool ends_with(struct str text, struct str end)
{
	return text.length >= end.length &&
	       (end.length == 0 || (text.data[text.length - 1] == end.data[end.length - 1] &&
				    tsi_str_equal(behind(text, text.length - end.length), end)));
}

/* A bit for each letter that parts of the path begin with, and perhaps for others. */
static uint32_t part_starts(struct str path, const struct letter_pairs *pairs)
{
	return pairs->behind['/' & 31] | pairs->behind['\\' & 31] |
	       UINT32_C(1) << (path.data[0] & 31);
}

static inline bool may_begin_part(uint32_t starts, const struct letter_pairs *pairs,
				  const char *wanted)
{
	return starts >> (wanted[0] & 31) & 1 && tsi_has_pair(pairs, wanted[0], wanted[1]);
}

static bool matches_file(struct str path, struct str wanted, const struct letter_pairs *pairs)
{
	if (!wanted.data)
		return path.length == 0;
	if (wanted.length == 0)
		return true;
	if (wanted.data[wanted.length - 1] == '/')
		return may_hold_path(pairs, wanted) && is_in_package(path, wanted);
	return path.length >= wanted.length && is_at(path, path.length - wanted.length, wanted) &&
	       is_part_start(path, path.length - wanted.length);
}

static bool matches_function(struct str function, struct str wanted)
{
	if (!wanted.data)
		return true;
	bool is_open_start = wanted.data[0] == '*',
	     is_open_end = wanted.data[wanted.length - 1] == '*';
	wanted.data += is_open_start;
	wanted.length -= (size_t)is_open_start + is_open_end;
	if (is_open_start && is_open_end)
		return tsi_str_find(function, wanted) >= 0;
	if (is_open_start)
		return ends_with(function, wanted);
	return is_open_end ? tsi_str_has_prefix(function, wanted) : tsi_str_equal(function, wanted);
}

enum python_work tsi_python_work(const struct python_name *name, const struct letter_pairs *pairs)
{
	bool has_file = name->file.length > 0;
	uint32_t starts = has_file ? part_starts(name->file, pairs) : 0;

	for (size_t i = 0; i < TSI_COUNT_OF(patterns); i++) {
		const struct python_pattern *pattern = &patterns[i];
		if (pattern->file.length ? !may_begin_part(starts, pairs, pattern->file.data)
					 : has_file && !pattern->file.data)
			continue;
		if (matches_function(name->function, pattern->function) &&
		    matches_file(name->file, pattern->file, pairs))
			return pattern->work;
	}
	return PYTHON_OTHER;
}

enum python_work tsi_classify_python(struct str name)
{
	struct python_name parts = tsi_python_name(name);
	struct letter_pairs pairs;

	tsi_letter_pairs_of(&pairs, name);
	return tsi_python_work(&parts, &pairs);
}
