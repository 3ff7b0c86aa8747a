/* SPDX-License-Identifier: MIT */
/* run/batch_folder.c: which batches the traces in folders of batches hold. */
#include "run/batch_folder.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"

/* In the order in which they are found: not that of the batches. */
static const struct {
	const char *path;
	enum run_file_kind kind;
	int64_t first_batch, batch_count;
} files[] = {
	{ "run/train/100/rank0.json.gz", RUN_FILE_TRACE, 0, 100 },
	{ "run/train/1000/rank0.json.gz", RUN_FILE_TRACE, 200, 800 },
	{ "run/train/200/rank0.json.gz", RUN_FILE_TRACE, 100, 100 },
	{ "run/train/200/rank1.json", RUN_FILE_TRACE, 0, 200 }, /* of another writer */
	{ "run/train/last/rank0.json.gz", RUN_FILE_TRACE, 0, 0 },
	{ "run/validation/50/rank0.json", RUN_FILE_TRACE, 0, 50 },
	{ "run/train/150/rank0.json", RUN_FILE_REFUSED, 0, 0 },
	{ "run/train/300/rank0.html", RUN_FILE_TRACE, 0, 300 },
	{ "7/rank0.json", RUN_FILE_TRACE, 0, 7 },
	{ "/9/rank0.json", RUN_FILE_TRACE, 0, 9 },
	{ "run/0/rank0.json", RUN_FILE_TRACE, 0, 0 },
	{ "run/12/trace.json", RUN_FILE_TRACE, 0, 0 },
	{ "run/iteration_12/rank0.json", RUN_FILE_TRACE, 0, 0 },
	{ "run/-3/rank0.json", RUN_FILE_TRACE, 0, 0 },
	{ "run/99999999999999999999/rank0.json", RUN_FILE_TRACE, 0, 0 },
	{ "a/9223372036854775807/rank0.json", RUN_FILE_TRACE, 0, INT64_MAX },
	{ "run//rank0.json", RUN_FILE_TRACE, 0, 0 },
	{ "/rank0.json", RUN_FILE_TRACE, 0, 0 },
	{ "rank0.json", RUN_FILE_TRACE, 0, 0 },
	{ "-", RUN_FILE_TRACE, 0, 0 },
};

static struct run_files make_files(struct run_file items[TSI_COUNT_OF(files)])
{
	for (size_t i = 0; i < TSI_COUNT_OF(files); i++)
		items[i] = (struct run_file){ .path = files[i].path, .kind = files[i].kind };
	return (struct run_files){ .items = items, .count = TSI_COUNT_OF(files) };
}

TEST(folders_tell_batches)
{
	struct run_file items[TSI_COUNT_OF(files)];
	struct run_files found = make_files(items), none = { 0 };
	struct arena scratch = { 0 };

	tsi_find_batches(&found, &scratch);
	for (size_t i = 0; i < TSI_COUNT_OF(files); i++)
		if (items[i].first_batch != files[i].first_batch ||
		    items[i].batch_count != files[i].batch_count)
			fail_msg("%s: %" PRId64 ", %" PRId64, files[i].path, items[i].first_batch,
				 items[i].batch_count);
	tsi_find_batches(&none, &scratch);
	assert_false(scratch.has_failed);
	tsi_arena_deinit(&scratch);
}

TEST(out_of_memory)
{
	struct run_file items[TSI_COUNT_OF(files)];
	struct run_files found = make_files(items);
	struct arena scratch = { 0 };

	fail_alloc_at(1);
	tsi_find_batches(&found, &scratch);
	assert_true(fail_alloc_stop());
	assert_true(scratch.has_failed);
}
