/* SPDX-License-Identifier: MIT */
/* Archives as folders: names, bytes in place and kept, cut anywhere, without memory. */
#include "input/members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "check.h"
#include "config.h"
#include "fail_alloc.h"
#include "input/member_name.h"
#include "packed.h"

enum { RECORD = 512, FIRST_BYTES = 1500, SECOND_BYTES = 70000 };

static struct bytes text; /* of the members */

static int make_text(void **state)
{
	(void)state;
	bytes_add_text(&text, SECOND_BYTES);
	return 0;
}

static int drop_text(void **state)
{
	(void)state;
	bytes_reset(&text);
	return 0;
}

static void add_zeros(struct bytes *tar, size_t count)
{
	static const char zeros[2 * RECORD];

	bytes_add(tar, zeros, count);
}

/* A header of POSIX.1-1988 and what follows it. */
static void add_entry(struct bytes *tar, const char *name, char kind, const char *target,
		      size_t length)
{
	char header[RECORD] = { 0 };
	unsigned sum = 0;

	snprintf(header, 100, "%s", name);
	memcpy(header + 100, "0000644\0000000000\0000000000", 24);
	snprintf(header + 124, 12, "%011zo", length);
	memcpy(header + 136, "14524611130", 12);
	memset(header + 148, ' ', 8);
	header[156] = kind;
	snprintf(header + 157, 100, "%s", target);
	memcpy(header + 257, "ustar\00000", 8);
	for (size_t i = 0; i < RECORD; i++)
		sum += (unsigned char)header[i];
	snprintf(header + 148, 8, "%06o", sum);
	bytes_add(tar, header, RECORD);
	bytes_add(tar, text.data, length);
	add_zeros(tar, (RECORD - length % RECORD) % RECORD);
}

static void make_tar(struct bytes *tar)
{
	add_entry(tar, "./run/", '5', "", 0);
	add_entry(tar, "run/rank0.json", '0', "", FIRST_BYTES);
	add_entry(tar, "run/latest", '2', "rank1.json", 0);
	add_entry(tar, "run/rank1.json", '0', "", SECOND_BYTES);
	add_entry(tar, "../out.json", '0', "", 10);
	add_zeros(tar, 2 * RECORD);
}

static enum tscope_status add(struct tscope_members *set, const struct bytes *data,
			      const struct input_options *options, struct tscope_error *err)
{
	struct input_options shown = *options;
	struct input *in;

	shown.archives = INPUT_SHOWS_ARCHIVES;
	enum tscope_status status =
		tsi_input_open_memory(&in, data->data, data->length, &shown, err);
	if (status != TSCOPE_OK)
		return status;
	if (!tsi_input_archive(in)) {
		tsi_input_close(in);
		return tsi_fail(err, TSCOPE_E_FORMAT, "no archive");
	}
	return tsi_members_add(set, "a.tar", in, err);
}

/* Compares a member with the text, as far as its end; gives how many bytes there are. */
static size_t check_bytes(const struct tscope_members *set, const char *path, size_t block_bytes,
			  enum tscope_status *end)
{
	const struct input_options options = { .block_bytes = block_bytes,
					       .single_thread = true,
					       .members = set };
	struct tscope_error err = { 0 };
	size_t got = 0;
	struct input *in;
	char *bytes = malloc(SECOND_BYTES + 1);

	assert_non_null(bytes);
	assert_int_equal(tsi_input_open_file(&in, path, &options, &err), TSCOPE_OK);
	*end = tsi_input_read(in, bytes, SECOND_BYTES + 1, &got, &err);
	assert_memory_equal(bytes, text.data, got);
	tsi_input_close(in);
	free(bytes);
	return got;
}

static void check_tar(const struct bytes *data, bool is_in_place)
{
	static const size_t block_sizes[] = { 1, 2, 3, 0 };
	struct tscope_error err = { 0 };
	struct stat about;

	for (size_t i = 0; i < TSI_COUNT_OF(block_sizes); i++) {
		const struct input_options options = { .block_bytes = block_sizes[i] };
		struct tscope_members *set;
		enum tscope_status end;

		assert_int_equal(tsi_members_new(&set, &options, &err), TSCOPE_OK);
		assert_int_equal(add(set, data, &options, &err), TSCOPE_OK);
		const struct member *first = tsi_members_find(set, "a.tar/run/rank0.json");
		assert_non_null(first);
		assert_int_equal(first->archive != NULL, is_in_place);
		assert_string_equal(first->archive_path, "a.tar");
		assert_int_equal(check_bytes(set, first->path, block_sizes[i], &end), FIRST_BYTES);
		assert_int_equal(end, TSCOPE_END);
		assert_int_equal(check_bytes(set, "a.tar/run/rank1.json", block_sizes[i], &end),
				 SECOND_BYTES);
		assert_int_equal(tsi_members_stat(set, "a.tar/run/rank1.json", &about), 0);
		assert_int_equal(about.st_size, SECOND_BYTES);
		assert_null(tsi_members_find(set, "a.tar/out.json"));
		assert_null(tsi_members_find(set, "a.tar")->end);
		const struct member *out = tsi_members_first(set, tsi_members_find(set, "a.tar"));
		assert_string_equal(out->path, "a.tar/../out.json");
		assert_string_equal(out->problem, "its name leads out of the archive");
		const struct member *link = tsi_members_next(set, out);
		assert_true(link->is_ignored);
		assert_string_equal(link->problem,
				    "a link to a.tar/run/rank1.json, which is read itself");
		tsi_members_free(set);
	}
}

TEST_WITH(members_are_read_in_place_or_kept, make_text, drop_text)
{
	struct bytes tar = { 0 };

	if (!HAVE_ARCHIVE)
		skip();
	make_tar(&tar);
	check_tar(&tar, true);
#if HAVE_ZLIB
	struct bytes packed = { 0 };

	bytes_add_gzip(&packed, tar.data, tar.length);
	check_tar(&packed, false);
	bytes_reset(&packed);
#endif
	bytes_reset(&tar);
}

/* Wherever it is cut, what is there is right, and what is lost is said. */
TEST_WITH(a_cut_archive_says_so, make_text, drop_text)
{
	struct bytes tar = { 0 };
	const struct input_options options = { 0 };

	if (!HAVE_ARCHIVE)
		skip();
	make_tar(&tar);
	for (size_t cut = RECORD; cut < tar.length - 3 * RECORD; cut += 509) {
		const struct bytes part = { tar.data, cut, cut };
		struct tscope_error err = { 0 };
		struct tscope_members *set;
		enum tscope_status end = TSCOPE_END;
		size_t got = 0;

		assert_int_equal(tsi_members_new(&set, &options, &err), TSCOPE_OK);
		enum tscope_status status = add(set, &part, &options, &err);
		const struct member *root = tsi_members_find(set, "a.tar");
		const struct member *second = tsi_members_find(set, "a.tar/run/rank1.json");
		if (status == TSCOPE_OK && second)
			got = check_bytes(set, second->path, 0, &end);
		if (status == TSCOPE_OK && got < SECOND_BYTES)
			assert_true(root->end || end == TSCOPE_E_DAMAGED);
		if (second && got < SECOND_BYTES)
			assert_int_equal(end, TSCOPE_E_DAMAGED);
		tsi_members_free(set);
	}
	bytes_reset(&tar);
}

TEST_WITH(limits_have_names, make_text, drop_text)
{
#if HAVE_ARCHIVE && HAVE_ZLIB
	struct bytes tar = { 0 }, packed = { 0 };
	const struct input_options options = { .max_output_bytes = 5000 };
	struct tscope_error err = { 0 };
	struct tscope_members *set;

	make_tar(&tar);
	bytes_add_gzip(&packed, tar.data, tar.length);
	assert_int_equal(tsi_members_new(&set, &options, &err), TSCOPE_OK);
	assert_int_equal(add(set, &packed, &options, &err), TSCOPE_OK);
	const struct member *second = tsi_members_find(set, "a.tar/run/rank1.json");
	assert_int_equal(second->end->status, TSCOPE_E_LIMIT);
	assert_true(second->length < SECOND_BYTES);
	assert_null(tsi_members_find(set, "a.tar/run/rank0.json")->end);
	tsi_members_free(set);
	bytes_reset(&packed);
	bytes_reset(&tar);
#else
	skip();
#endif
}

TEST_WITH(every_allocation_may_fail, make_text, drop_text)
{
	struct bytes tar = { 0 };
	const struct input_options options = { .single_thread = true };

	if (!HAVE_ARCHIVE)
		skip();
	make_tar(&tar);
	struct alloc_sweep sweep = { .at_least = 10 };
	while (alloc_sweep_next(&sweep)) {
		struct tscope_members *set = NULL;

		alloc_sweep_start(&sweep);
		enum tscope_status status = tsi_members_new(&set, &options, &sweep.err);
		if (status == TSCOPE_OK)
			status = add(set, &tar, &options, &sweep.err);
		alloc_sweep_check(&sweep, status);
		tsi_members_free(set);
	}
	bytes_reset(&tar);
}

TEST(names_stay_inside)
{
	static const struct {
		const char *name, *path; /* NULL: it is refused */
	} cases[] = {
		{ "rank0.json", "a/rank0.json" },
		{ "./x//y/", "a/x/y" },
		{ "/etc/passwd", "a/etc/passwd" },
		{ "./", "a" },
		{ "..", NULL },
		{ "x/../../y", NULL },
		{ "..x/y", "a/..x/y" },
	};
	static const struct {
		const char *target, *path;
		bool is_hard;
	} links[] = {
		{ "rank1.json", "a/x/rank1.json", false },
		{ "../rank1.json", "a/rank1.json", false },
		{ "../../rank1.json", NULL, false },
		{ "/etc/passwd", NULL, false },
		{ "x/rank1.json", "a/x/rank1.json", true },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char path[MEMBER_MAX_CHARS] = "a";
		const char *problem = tsi_member_name_join(path, cases[i].name);

		assert_int_equal(problem == NULL, cases[i].path != NULL);
		if (cases[i].path)
			assert_string_equal(path, cases[i].path);
	}
	for (size_t i = 0; i < TSI_COUNT_OF(links); i++) {
		const struct archive_member link = { .target = links[i].target,
						     .is_hard_link = links[i].is_hard };
		char path[MEMBER_MAX_CHARS];
		bool is_inside = tsi_member_link_target(path, "a/x/latest", 1, &link);

		assert_int_equal(is_inside, links[i].path != NULL);
		if (links[i].path)
			assert_string_equal(path, links[i].path);
	}
}
