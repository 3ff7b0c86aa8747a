/* SPDX-License-Identifier: MIT */
/*
 * Files that were mapped (session/map_files.c, rank_files.c, rank_record.c, run/rank_file.c): that
 * a run of them is the run is shown by tests/cli/map.py; here they are cut, broken, and short of
 * memory.
 */
#include "fail_alloc.h"
#include "test_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tscope/tscope.h>

#include "check.h"
#include "config.h"

#if HAVE_ZSTD

static const struct tscope_run_options one_thread = { .trace = { .thread_count = 1 } };

struct bytes {
	char *data;
	size_t count;
};

/* The records of all files of a path, one after the other. */
static enum tscope_status map_path(struct bytes *ret, const char *path,
				   const struct tscope_run_options *options,
				   struct tscope_error *err)
{
	struct tscope_map *map;
	enum tscope_status status = tscope_map_open(&map, &path, 1, NULL, options, err);
	FILE *out;

	*ret = (struct bytes){ 0 };
	if (status != TSCOPE_OK)
		return status;
	out = open_memstream(&ret->data, &ret->count);
	for (size_t i = 0; i < tscope_map_count(map) && status == TSCOPE_OK; i++) {
		status = tscope_map_read(map, &i, 1, err);
		if (status == TSCOPE_OK)
			status = tscope_map_write(out, map, 0, err);
	}
	fclose(out);
	tscope_map_free(map);
	return status;
}

static struct bytes must_map(const char *name, const struct tscope_run_options *options)
{
	struct tscope_error err = { 0 };
	struct bytes bytes;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", testdata, name);
	if (map_path(&bytes, path, options, &err) != TSCOPE_OK)
		fail_msg("%s: %s", path, err.message);
	return bytes;
}

static enum tscope_status open_bytes(const void *data, size_t count,
				     const struct tscope_run_options *options, size_t *rank_count,
				     struct tscope_error *err)
{
	static const char *const path = "mapped.tsr";
	struct tscope_run *run;

	put_bytes(path, data, count);
	enum tscope_status status = tscope_run_open(&run, &path, 1, options, err);
	if (status == TSCOPE_OK) {
		*rank_count = tscope_run_rank_count(run);
		tscope_run_free(run);
	}
	return status;
}

/* Each cut is refused, and says where; the records before it count. */
TEST_IN_FOLDER(test_cut)
{
	struct bytes bytes = must_map("run_healthy/rank0", &one_thread);
	struct tscope_error err = { 0 };
	size_t rank_count = 0;

	assert_int_equal(open_bytes(bytes.data, bytes.count, &one_thread, &rank_count, &err),
			 TSCOPE_OK);
	for (size_t cut = 8; cut < bytes.count; cut++) {
		assert_true(open_bytes(bytes.data, cut, &one_thread, &rank_count, &err) < 0);
		assert_non_null(strstr(err.message, "record 1: "));
		assert_non_null(strstr(err.message, "(byte "));
	}
	free(bytes.data);
}

/* No byte of a record can change unseen. */
TEST_IN_FOLDER(test_broken)
{
	struct bytes bytes = must_map("run_healthy/rank0", &one_thread);
	struct tscope_error err = { 0 };
	size_t rank_count = 0;

	for (size_t i = 8; i < bytes.count; i += 3) {
		bytes.data[i] ^= 0x10;
		assert_true(open_bytes(bytes.data, bytes.count, &one_thread, &rank_count, &err) <
			    0);
		bytes.data[i] ^= 0x10;
	}
	free(bytes.data);
}

TEST_IN_FOLDER(test_behind_broken)
{
	struct bytes bytes = must_map("run_healthy", &one_thread);
	struct tscope_error err = { 0 };
	size_t rank_count = 0;

	assert_int_equal(open_bytes(bytes.data, bytes.count, &one_thread, &rank_count, &err),
			 TSCOPE_OK);
	assert_int_equal(rank_count, 2);
	assert_int_equal(open_bytes(bytes.data, bytes.count - 1, &one_thread, &rank_count, &err),
			 TSCOPE_OK);
	assert_int_equal(rank_count, 1);
	free(bytes.data);
}

TEST_IN_FOLDER(test_options)
{
	struct tscope_run_options warm = one_thread, other = one_thread;
	struct tscope_error err = { 0 };
	size_t rank_count = 0;

	warm.timeline.warmup = 1;
	other.timeline.warmup = 2;
	struct bytes bytes = must_map("run_healthy", &warm);
	assert_int_equal(open_bytes(bytes.data, bytes.count, &one_thread, &rank_count, &err),
			 TSCOPE_OK);
	assert_int_equal(open_bytes(bytes.data, bytes.count, &warm, &rank_count, &err), TSCOPE_OK);
	assert_true(open_bytes(bytes.data, bytes.count, &other, &rank_count, &err) < 0);
	assert_non_null(strstr(err.message, "was mapped with another --warmup"));
	free(bytes.data);
}

TEST_IN_FOLDER(test_done)
{
	const char *path = "rank0/steps.jsonl", *saved = "saved.tsr";
	struct tscope_run_options warm = one_thread;
	struct tscope_error err = { 0 };
	struct tscope_map *map;
	struct bytes bytes;

	put_file(path,
		 "{\"step\":0,\"phases\":{\"data\":1}}\n{\"step\":1,\"phases\":{\"data\":1}}\n");
	assert_int_equal(map_path(&bytes, path, &one_thread, &err), TSCOPE_OK);
	assert_int_equal(tscope_map_open(&map, &path, 1, NULL, &one_thread, &err), TSCOPE_OK);
	assert_int_equal(strncmp(tscope_map_name(map, 0), "steps.jsonl-", 12), 0);
	assert_false(tscope_map_is_done(map, 0, saved));
	put_bytes(saved, bytes.data, bytes.count - 1);
	assert_false(tscope_map_is_done(map, 0, saved));
	put_bytes(saved, bytes.data, bytes.count);
	assert_true(tscope_map_is_done(map, 0, saved));
	tscope_map_free(map);
	warm.timeline.warmup = 1;
	assert_int_equal(tscope_map_open(&map, &path, 1, NULL, &warm, &err), TSCOPE_OK);
	assert_false(tscope_map_is_done(map, 0, saved));
	tscope_map_free(map);
	put_file(path, "{\"step\":0,\"phases\":{\"data\":1}}\n");
	assert_int_equal(tscope_map_open(&map, &path, 1, NULL, &one_thread, &err), TSCOPE_OK);
	assert_false(tscope_map_is_done(map, 0, saved));
	tscope_map_free(map);
	free(bytes.data);
}

/* What comes through standard input is the file that it is said to be. */
TEST_IN_FOLDER(test_named)
{
	const char *input = "-", *mapped = "named.tsr", *paths[] = { input, input };
	struct tscope_error err = { 0 };
	struct tscope_map *map;
	struct tscope_run *run;
	const char *path = "trace.json";
	size_t first = 0;
	FILE *out;

	put_file(path, "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\","
		       "\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2}]}");
	assert_non_null(freopen(path, "re", stdin));
	assert_int_equal(tscope_map_open(&map, &input, 1, NULL, &one_thread, &err), TSCOPE_OK);
	assert_int_equal(tscope_map_name_input(map, "job/rank7.json", &err), TSCOPE_OK);
	assert_string_equal(tscope_map_path(map, 0), "job/rank7.json");
	assert_memory_equal(tscope_map_name(map, 0), "rank7.json-", 11);
	assert_int_equal(tscope_map_read(map, &first, 1, &err), TSCOPE_OK);
	out = fopen(mapped, "we");
	assert_int_equal(tscope_map_write(out, map, 0, &err), TSCOPE_OK);
	fclose(out);
	tscope_map_free(map);
	assert_int_equal(tscope_run_open(&run, &mapped, 1, &one_thread, &err), TSCOPE_OK);
	assert_string_equal(tscope_run_input(run, 0).path, "job/rank7.json");
	assert_int_equal(tscope_run_rank_number(run, 0), 7);
	tscope_run_free(run);
	/* Another file has its name already, and of two nobody knows which. */
	paths[1] = path;
	for (size_t count = 1; count <= 2; count++) {
		assert_int_equal(tscope_map_open(&map, count == 1 ? &paths[1] : paths, count, NULL,
						 &one_thread, &err),
				 TSCOPE_OK);
		assert_int_equal(tscope_map_name_input(map, "x", &err), TSCOPE_E_FORMAT);
		assert_string_equal(err.message,
				    "only standard input can be given a name: map --name PATH -");
		tscope_map_free(map);
	}
}

static enum tscope_status merge_file(struct bytes *ret, const char *path, struct tscope_error *err)
{
	const char *const paths[] = { path, path };
	struct tscope_merge *merge;
	enum tscope_status status = tscope_merge_open(&merge, paths, 2, NULL, err);

	*ret = (struct bytes){ 0 };
	if (status != TSCOPE_OK)
		return status;
	FILE *out = open_memstream(&ret->data, &ret->count);
	status = tscope_merge_write(out, merge, err);
	fclose(out);
	tscope_merge_free(merge);
	return status;
}

/* Records that come twice are there once; no part of a merge is written. */
TEST_IN_FOLDER(test_merge)
{
	const char *path = "mapped.tsr";
	struct bytes bytes = must_map("run_healthy", &one_thread), merged;
	struct tscope_error err = { 0 };

	put_bytes(path, bytes.data, bytes.count);
	assert_int_equal(merge_file(&merged, path, &err), TSCOPE_OK);
	assert_int_equal(merged.count, bytes.count);
	assert_memory_equal(merged.data, bytes.data, bytes.count);
	free(merged.data);
	put_bytes(path, bytes.data, bytes.count - 1);
	assert_int_equal(merge_file(&merged, path, &err), TSCOPE_E_DAMAGED);
	assert_non_null(strstr(err.message, "mapped.tsr: record 2: "));
	put_bytes(path, bytes.data, bytes.count);
	free(bytes.data);
	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		alloc_sweep_start(&sweep);
		enum tscope_status status = merge_file(&merged, path, NULL);
		bool has_failed = alloc_sweep_stop(&sweep);
		free(merged.data);
		assert_true(status == TSCOPE_OK ||
			    (has_failed && (status == TSCOPE_E_NOMEM || status == TSCOPE_E_WRITE)));
	}
}

TEST_IN_FOLDER(test_allocation_failures)
{
	struct bytes whole = must_map("run_mixed/rank0", &one_thread);
	char path[512];

	snprintf(path, sizeof(path), "%s/run_mixed/rank0", testdata);
	struct alloc_sweep mapping = { .may_survive = true };
	while (alloc_sweep_next(&mapping)) {
		struct bytes bytes = { 0 };

		alloc_sweep_try(&mapping, map_path(&bytes, path, &one_thread, &mapping.err));
		free(bytes.data);
	}
	struct alloc_sweep opening = { .may_survive = true };
	while (alloc_sweep_next(&opening)) {
		size_t rank_count = 0;

		alloc_sweep_try(&opening, open_bytes(whole.data, whole.count, &one_thread,
						     &rank_count, &opening.err));
	}
	free(whole.data);
}

#endif /* without zstd there are no such files */
