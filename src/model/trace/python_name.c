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
	if (colon <= 0 || !is_number(tsi_str_tail(place, (size_t)colon + 1)))
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
	if (open <= 0 || !is_number(tsi_str_tail(place, (size_t)open + 1)))
		return false;
	parts->function = tsi_str_tail(name, (size_t)end + 3);
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

/* For tables: a text with its length, and an absent one. */
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
	uint8_t first;   /* letter of the file, as letter_pairs has it */
	uint32_t second; /* likewise, as its bit */
};

/* struct file_starts: in place of a file's first letters. */
enum { NO_LETTER, ANY_FILE = 1, NO_FILE = 2 };

#define IN(file, function, work)                                                                   \
	{                                                                                          \
		TEXT(file), TEXT(function), work, file[0] & 31, 1u << (file[1] & 31)               \
	}
#define IN_ALL(file, work)                                                                         \
	{                                                                                          \
		TEXT(file), NONE, work, file[0] & 31, 1u << (file[1] & 31)                         \
	}
#define ANYWHERE(function, work)                                                                   \
	{                                                                                          \
		TEXT(""), TEXT(function), work, NO_LETTER, ANY_FILE                                \
	}
#define IN_C(function, work)                                                                       \
	{                                                                                          \
		NONE, TEXT(function), work, NO_LETTER, NO_FILE                                     \
	}

/* The first that fits counts. */
static const struct python_pattern patterns[] = {
	/* Bars that are drawn around a loader: their iterators run the loader within. */
	IN("tqdm/", "*__iter__", PYTHON_OTHER),
	IN("rich/progress.py", "*track", PYTHON_OTHER),
	IN("rich/progress.py", "*__iter__", PYTHON_OTHER),

	IN("torch/utils/data/dataloader.py", "*__next__", PYTHON_DATA),
	IN("torch/utils/data/dataloader.py", "*__iter__", PYTHON_DATA),
	IN("torch/utils/data/dataloader.py", "*_next_data", PYTHON_DATA),
	IN("torch/utils/data/dataloader.py", "*_get_data", PYTHON_DATA),
	IN("torch/utils/data/datapipes/", "*__next__", PYTHON_DATA),
	IN("torchdata/", "*__next__", PYTHON_DATA),
	IN("datasets/", "*__iter__", PYTHON_DATA), /* Hugging Face */
	IN("accelerate/data_loader.py", "*__iter__", PYTHON_DATA),
	IN("loops/fetchers.py", "*__next__", PYTHON_DATA), /* Lightning */
	IN("utilities/combined_loader.py", "*__next__", PYTHON_DATA),
	IN("litdata/", "*__next__", PYTHON_DATA),
	IN("litdata/", "*__iter__", PYTHON_DATA),
	IN("streaming/", "*__iter__", PYTHON_DATA), /* MosaicML */
	IN("webdataset/", "*__iter__", PYTHON_DATA),
	IN("megatron/energon/", "*__iter__", PYTHON_DATA),
	IN("nvidia/dali/", "*__next__", PYTHON_DATA),
	IN("ffcv/", "*__next__", PYTHON_DATA),
	IN("tensorflow/python/data/ops/iterator_ops.py", "*__next__", PYTHON_DATA),

	IN_ALL("logging/__init__.py", PYTHON_LOGGING),
	IN_ALL("loguru/", PYTHON_LOGGING),
	IN_ALL("wandb/", PYTHON_LOGGING),
	IN_ALL("mlflow/", PYTHON_LOGGING),
	IN_ALL("comet_ml/", PYTHON_LOGGING),
	IN_ALL("neptune/", PYTHON_LOGGING),
	IN_ALL("clearml/", PYTHON_LOGGING),
	IN_ALL("aim/", PYTHON_LOGGING),
	IN_ALL("tensorboardX/", PYTHON_LOGGING),
	IN_ALL("tensorboard/", PYTHON_LOGGING),
	IN_ALL("torch/utils/tensorboard/", PYTHON_LOGGING),
	IN_ALL("tqdm/", PYTHON_LOGGING),
	IN_ALL("rich/", PYTHON_LOGGING),
	IN_ALL("lightning/pytorch/loggers/", PYTHON_LOGGING),
	IN_ALL("pytorch_lightning/loggers/", PYTHON_LOGGING),
	IN_ALL("composer/loggers/", PYTHON_LOGGING),
	IN("transformers/integrations/integration_utils.py", "*on_log", PYTHON_LOGGING),
	IN_C("builtins.print", PYTHON_LOGGING),
	IN_C("<built-in function print>", PYTHON_LOGGING),

	IN("torch/serialization.py", "save", PYTHON_CHECKPOINT),
	IN("torch/serialization.py", "_save", PYTHON_CHECKPOINT),
	IN("torch/serialization.py", "_legacy_save", PYTHON_CHECKPOINT),
	IN_ALL("torch/distributed/checkpoint/", PYTHON_CHECKPOINT),
	IN("safetensors/torch.py", "save*", PYTHON_CHECKPOINT),
	IN_ALL("callbacks/model_checkpoint.py", PYTHON_CHECKPOINT), /* Lightning */
	IN_ALL("composer/callbacks/checkpoint_saver.py", PYTHON_CHECKPOINT),
	ANYWHERE("*save_checkpoint*", PYTHON_CHECKPOINT),
	ANYWHERE("*save_pretrained", PYTHON_CHECKPOINT),

	IN("torch/cuda/__init__.py", "synchronize", PYTHON_SYNC),
	IN("torch/cuda/streams.py", "*synchronize", PYTHON_SYNC),
	IN_C("torch._C._cuda_synchronize", PYTHON_SYNC),
	IN_C("Tensor.item", PYTHON_SYNC),
	IN_C("Tensor.tolist", PYTHON_SYNC),
	IN_C("Tensor.cpu", PYTHON_SYNC),
	IN_C("Tensor.nonzero", PYTHON_SYNC),
	IN_C("Parameter.item", PYTHON_SYNC),
	IN_C("Parameter.cpu", PYTHON_SYNC),
	IN_C("<built-in method item of *", PYTHON_SYNC),
	IN_C("<built-in method tolist of Tensor*", PYTHON_SYNC),
	IN_C("<built-in method cpu of Tensor*", PYTHON_SYNC),
	IN_C("<built-in function _cuda_synchronize>", PYTHON_SYNC),

	IN_ALL("torch/distributed/distributed_c10d.py", PYTHON_COMM),

	IN_ALL("torch/_dynamo/convert_frame.py", PYTHON_COMPILE),
	IN_ALL("torch/_inductor/compile_fx.py", PYTHON_COMPILE),
	IN_ALL("triton/compiler/", PYTHON_COMPILE),

	IN_C("gc.collect", PYTHON_GC),
	IN_C("<built-in function collect>", PYTHON_GC),

	IN("torch/nn/modules/module.py", "*_call_impl", PYTHON_FORWARD),
	ANYWHERE("*.forward", PYTHON_FORWARD),
	ANYWHERE("*.training_step", PYTHON_FORWARD),
	IN("torch/_tensor.py", "*backward", PYTHON_BACKWARD),
	IN("torch/autograd/__init__.py", "backward", PYTHON_BACKWARD),
	IN("torch/optim/optimizer.py", "*wrapper", PYTHON_OPTIMIZER_STEP),
	IN("torch/optim/optimizer.py", "*zero_grad", PYTHON_OPTIMIZER),
	IN_ALL("torch/optim/lr_scheduler.py", PYTHON_OPTIMIZER),
	IN("torch/optim/", "*step", PYTHON_OPTIMIZER),
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
#define LIBRARIES(X)                                                                               \
	X("torch/")                                                                                \
	X("torchvision/")                                                                          \
	X("torchgen/")                                                                             \
	X("triton/")                                                                               \
	X("tqdm/")                                                                                 \
	X("numpy/")                                                                                \
	X("asyncio/")                                                                              \
	X("concurrent/")                                                                           \
	X("contextlib.py")                                                                         \
	X("functools.py")                                                                          \
	X("importlib/")                                                                            \
	X("inspect.py")                                                                            \
	X("logging/")                                                                              \
	X("queue.py")                                                                              \
	X("multiprocessing/")                                                                      \
	X("runpy.py")                                                                              \
	X("selectors.py")                                                                          \
	X("socket.py")                                                                             \
	X("subprocess.py")                                                                         \
	X("threading.py")                                                                          \
	X("typing.py")                                                                             \
	X("warnings.py")                                                                           \
	X("typing_extensions.py")                                                                  \
	X("collections/")                                                                          \
	X("_collections_abc.py")                                                                   \
	X("ctypes/")                                                                               \
	X("encodings/")                                                                            \
	X("json/")                                                                                 \
	X("abc.py")                                                                                \
	X("ast.py")                                                                                \
	X("copy.py")                                                                               \
	X("dataclasses.py")                                                                        \
	X("enum.py")                                                                               \
	X("os.py")                                                                                 \
	X("pickle.py")                                                                             \
	X("random.py")                                                                             \
	X("re.py")                                                                                 \
	X("re/")                                                                                   \
	X("tempfile.py")                                                                           \
	X("types.py")                                                                              \
	X("weakref.py")                                                                            \
	X("_weakrefset.py")                                                                        \
	X("einops/")

#define WHOLE(text) TEXT(text),
#define FIRST(text) text[0],

static const struct str library_files[] = { LIBRARIES(WHOLE) };
/* Side by side: most files begin with a letter that few of these begin with. */
static const char library_letters[] = { LIBRARIES(FIRST) };

static bool is_library(struct str file)
{
	const char *end = library_letters + sizeof(library_letters), *at = library_letters;

	while ((at = memchr(at, file.data[0], (size_t)(end - at))) != NULL) {
		struct str library = library_files[at++ - library_letters];
		if (is_at(file, 0, library) &&
		    (library.data[library.length - 1] == '/' || file.length == library.length))
			return true;
	}
	return false;
}

struct str tsi_module_name(struct str name)
{
	static const struct str prefix = TEXT("nn.Module: ");

	return tsi_str_has_prefix(name, prefix) ? tsi_str_tail(name, prefix.length)
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
	if (is_library(file))
		return false;
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
	       (end.length == 0 ||
		(text.data[text.length - 1] == end.data[end.length - 1] &&
		 tsi_str_equal(tsi_str_tail(text, text.length - end.length), end)));
}

/*
 * By the letter that parts of a path begin with: a bit for each that may be the next one; at
 * NO_LETTER what no path is needed for.
 */
struct file_starts {
	uint32_t behind[32];
};

static void find_starts(struct file_starts *starts, struct str path,
			const struct letter_pairs *pairs)
{
	uint32_t first = 0;

	if (path.length)
		first = pairs->behind['/' & 31] | pairs->behind['\\' & 31] |
			UINT32_C(1) << (path.data[0] & 31);
	for (unsigned i = 0; i < 32; i++)
		starts->behind[i] = first >> i & 1 ? pairs->behind[i] : 0;
	starts->behind[NO_LETTER] = path.length ? ANY_FILE : ANY_FILE | NO_FILE;
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
	struct file_starts starts;

	find_starts(&starts, name->file, pairs);
	for (size_t i = 0; i < TSI_COUNT_OF(patterns); i++) {
		const struct python_pattern *pattern = &patterns[i];
		if (!(starts.behind[pattern->first] & pattern->second))
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
