/* SPDX-License-Identifier: MIT */
/* base/column.c: columns in the heap, in a file, between them, and where there is no room. */
#include "base/column.h"

#include <pthread.h>
#include <string.h>
#include <tscope/trace.h>

#include "check.h"
#include "fail_alloc.h"
#include "spill_file.h"

enum { MANY = 1 << 20 };

static void fill(uint32_t *column, size_t first, size_t count)
{
	for (size_t i = first; i < count; i++)
		column[i] = (uint32_t)i * 7 + 1;
}

static void check(const uint32_t *column, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_int_equal(column[i], (uint32_t)i * 7 + 1);
}

static void resize(uint32_t **column, struct tscope_spill *spill, size_t count)
{
	assert_true(tsi_column_resize(column, spill, count, sizeof(**column)));
}

TEST(grows_and_shrinks)
{
	struct tscope_spill *const places[] = { NULL, open_spill() };

	for (size_t place = 0; place < TSI_COUNT_OF(places); place++) {
		uint32_t *column = NULL, *other = NULL;
		size_t filled = 0;
		for (size_t count = 1; count <= MANY; count *= 3) {
			resize(&column, places[place], count);
			fill(column, filled, count);
			filled = count;
			resize(&other, places[place], count); /* lies beside it */
			memset(other, 0xff, count * sizeof(*other));
		}
		check(column, filled);
		tsi_column_shrink(&column, filled / 2, sizeof(*column));
		check(column, filled / 2);
		resize(&column, places[place], MANY);
		check(column, filled / 2);
		fill(column, 0, MANY);
		check(column, MANY);
		tsi_column_free(column);
		tsi_column_free(other);
	}
	tscope_spill_free(places[1]);
}

TEST(moves)
{
	struct tscope_spill *spill = open_spill(), *other = open_spill();
	uint32_t *column = NULL;

	resize(&column, NULL, 1000);
	fill(column, 0, 1000);
	resize(&column, spill, MANY);
	check(column, 1000);
	fill(column, 0, MANY);
	resize(&column, other, MANY + 1);
	check(column, MANY);
	resize(&column, NULL, 100);
	check(column, 100);
	tsi_column_shrink(&column, 50, sizeof(*column));
	check(column, 50);
	tsi_column_free(column);
	tscope_spill_free(spill);
	tscope_spill_free(other);
}

TEST(new_ones_are_zero)
{
	enum { ROUNDS = 5, BYTES = 3 << 20 };
	struct tscope_spill *spill = open_spill();

	for (int round = 0; round < ROUNDS; round++) {
		unsigned char *column = tsi_column_new(spill, BYTES);
		assert_non_null(column);
		for (size_t i = 0; i < BYTES; i++)
			assert_int_equal(column[i], 0);
		memset(column, 0xa5, BYTES);
		tsi_column_free(column);
	}
	unsigned char *in_heap = tsi_column_new(NULL, 100);
	assert_int_equal(in_heap[99], 0);
	tsi_column_free(in_heap);
	tscope_spill_free(spill);
}

TEST(a_disk_is_full)
{
	struct tscope_spill *spill = open_spill();
	uint32_t *column = NULL, *other = NULL;

	limit_files(4 << 20);
	resize(&column, spill, 1000);
	fill(column, 0, 1000);
	uint32_t *before = column;
	assert_false(tsi_column_resize(&column, spill, MANY * 4, sizeof(*column)));
	assert_ptr_equal(column, before);
	check(column, 1000);
	assert_false(tsi_column_resize(&other, spill, 1000, sizeof(*other))); /* far behind */
	assert_null(other);
	/* The heap takes what is not counted. */
	assert_true(tsi_column_make(&column, spill, MANY * 4, sizeof(*column)));
	check(column, 1000);
	fill(column, 0, MANY * 4);
	tsi_column_free(column);
	limit_files(RLIM_INFINITY);
	resize(&other, spill, MANY);
	fill(other, 0, MANY);
	check(other, MANY);
	tsi_column_free(other);
	tscope_spill_free(spill);
}

TEST(memory_is_full)
{
	uint32_t *column = NULL;

	fail_alloc_at(1);
	assert_false(tsi_column_resize(&column, NULL, 10, sizeof(*column)));
	assert_true(fail_alloc_stop());
	assert_null(column);
	resize(&column, NULL, 10);
	fill(column, 0, 10);
	fail_alloc_at(1);
	assert_false(tsi_column_resize(&column, NULL, 1000, sizeof(*column)));
	assert_true(fail_alloc_stop());
	check(column, 10);
	fail_alloc_at(1);
	assert_null(tsi_column_new(NULL, 10));
	assert_true(fail_alloc_stop());
	tsi_column_free(column);
}

TEST(sizes_overflow)
{
	static const size_t counts[] = { SIZE_MAX, SIZE_MAX / 4, SIZE_MAX / 4 - 7 };
	uint32_t *column = NULL;

	for (size_t i = 0; i < TSI_COUNT_OF(counts); i++) {
		assert_false(tsi_column_resize(&column, NULL, counts[i], sizeof(*column)));
		assert_false(tsi_column_make(&column, NULL, counts[i], sizeof(*column)));
	}
	assert_null(tsi_column_new(NULL, SIZE_MAX));
	assert_null(column);
	tsi_column_shrink(&column, 10, sizeof(*column));
	assert_null(column);
	tsi_column_free(NULL);
	tscope_spill_free(NULL);
}

TEST(folders_that_will_not_do)
{
	struct tscope_spill *spill = NULL;
	struct tscope_error err;

	assert_int_not_equal(tscope_spill_open(&spill, "no/such/folder", &err), TSCOPE_OK);
	assert_non_null(strstr(err.message, "no/such/folder: "));
	assert_null(spill);
	if (tscope_spill_open(&spill, "/dev/shm", &err) == TSCOPE_OK)
		tscope_spill_free(spill); /* a disk there */
	else if (strstr(err.message, "/dev/shm is"))
		assert_string_equal(err.message, "/dev/shm is memory itself");
}

/* Traces in several threads share a file. */
static void *use_columns(void *argument)
{
	enum { ROUNDS = 200, COUNT = 5000 };
	struct tscope_spill *spill = argument;

	for (size_t round = 0; round < ROUNDS; round++) {
		uint32_t *column = NULL;
		if (!tsi_column_resize(&column, spill, COUNT, sizeof(*column)))
			return argument;
		for (size_t i = 0; i < COUNT; i++)
			column[i] = (uint32_t)(i + round);
		if (!tsi_column_resize(&column, spill, 100 * COUNT, sizeof(*column)))
			return argument;
		for (size_t i = 0; i < COUNT; i++)
			if (column[i] != (uint32_t)(i + round))
				return argument;
		tsi_column_free(column);
	}
	return NULL;
}

TEST(threads_share_a_file)
{
	struct tscope_spill *spill = open_spill();
	pthread_t threads[4];
	void *wrong;

	for (size_t i = 0; i < TSI_COUNT_OF(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use_columns, spill), 0);
	for (size_t i = 0; i < TSI_COUNT_OF(threads); i++) {
		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		assert_null(wrong);
	}
	tscope_spill_free(spill);
}
