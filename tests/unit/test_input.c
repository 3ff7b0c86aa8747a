/* SPDX-License-Identifier: MIT */
/*
 * input/: sources, the window over them, and what an input says about itself.
 * Filters have their own file (test_input_filter.c).
 */
#include "input/input.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attributes.h"
#include "check.h"
#include "config.h"
#include "fail_alloc.h"
#include "random_numbers.h"

enum { LENGTH = 50000 };

static const size_t block_sizes[] = { 1, 2, 3, 64, 4096, 0 };

static unsigned char pattern_at(uint64_t i)
{
	return (unsigned char)('a' + (i * i / 7 + i) % 26);
}

static char *new_pattern(size_t length)
{
	char *data = malloc(length + 1);
	assert_non_null(data);
	for (size_t i = 0; i < length; i++)
		data[i] = (char)pattern_at(i);
	return data;
}

static struct input *open_memory(const void *data, size_t length, size_t block_bytes)
{
	struct input_options options = { .block_bytes = block_bytes };
	struct input *in = NULL;
	assert_int_equal(tsi_input_open_memory(&in, data, length, &options, NULL), TSCOPE_OK);
	return in;
}

/* Peeks and consumes by turns, of random size up to max; compares every byte that is shown. */
static void walk(struct input *in, size_t length, size_t max)
{
	uint64_t seed = max;
	uint64_t at = 0;
	while (at < length) {
		size_t min = 1 + random_bits(&seed) % max;
		size_t left = length - (size_t)at;
		const char *data;
		size_t available;
		enum tscope_status status = tsi_input_peek(in, min, &data, &available, NULL);
		assert_int_equal(status, min <= left ? TSCOPE_OK : TSCOPE_END);
		assert_true(available >= (min < left ? min : left) && available <= left);
		for (size_t i = 0; i < available && i < min; i++)
			if ((unsigned char)data[i] != pattern_at(at + i))
				fail_msg("wrong byte at %zu", (size_t)at + i);
		size_t count = random_bits(&seed) % (min + 1);
		count = count < available ? count : available;
		tsi_input_consume(in, count);
		at += count;
		assert_int_equal(tsi_input_offset(in), at);
	}
}

TEST(test_walk)
{
	static const size_t max_peeks[] = { 1, 2, 7, 100, 3000 };
	char *data = new_pattern(LENGTH);
	for (size_t b = 0; b < TSI_COUNT_OF(block_sizes); b++)
		for (size_t m = 0; m < TSI_COUNT_OF(max_peeks); m++) {
			struct input *in = open_memory(data, LENGTH, block_sizes[b]);
			walk(in, LENGTH, max_peeks[m]);
			tsi_input_close(in);
		}
	free(data);
}

/* Tails around the room before a block (64 KiB of 256), and peeks of several blocks. */
TEST(test_long_peeks)
{
	static const size_t max_peeks[] = { 65536, 70000, 262144, 300000, 1500000 };
	enum { LONG = 3000000 };
	char *data = new_pattern(LONG);
	for (size_t m = 0; m < TSI_COUNT_OF(max_peeks); m++) {
		struct input *in = open_memory(data, LONG, 0);
		walk(in, LONG, max_peeks[m]);
		tsi_input_close(in);
	}
	free(data);
}

TEST(test_end)
{
	for (size_t b = 0; b < TSI_COUNT_OF(block_sizes); b++) {
		struct input *in = open_memory("abc", 3, block_sizes[b]);
		const char *data;
		size_t available;
		struct tscope_error err = { 0 };
		for (int round = 0; round < 2; round++) {
			assert_int_equal(tsi_input_peek(in, 4, &data, &available, &err),
					 TSCOPE_END);
			assert_int_equal(available, 3);
			assert_memory_equal(data, "abc", 3);
		}
		assert_int_equal(tsi_input_peek(in, 3, &data, &available, &err), TSCOPE_OK);
		tsi_input_consume(in, 3);
		for (int round = 0; round < 2; round++) {
			assert_int_equal(tsi_input_peek(in, 1, &data, &available, &err),
					 TSCOPE_END);
			assert_int_equal(available, 0);
		}
		assert_int_equal(err.status, TSCOPE_OK); /* the end is no error */
		assert_int_equal(tsi_input_offset(in), 3);
		tsi_input_close(in);
	}
}

TEST(test_empty)
{
	struct input *in = open_memory(NULL, 0, 0);
	const char *data;
	size_t available = 1;
	assert_int_equal(tsi_input_peek(in, 1, &data, &available, NULL), TSCOPE_END);
	assert_int_equal(available, 0);
	assert_string_equal(tsi_input_filters(in), "none");
	tsi_input_close(in);
	tsi_input_close(NULL);
}

TEST(test_counters)
{
	struct input *in = open_memory("{\"a\":1}", 7, 0);
	assert_int_equal(tsi_input_source_bytes(in), 7);
	assert_int_equal(tsi_input_source_offset(in), 7); /* tasting has read the block */
	assert_int_equal(tsi_input_offset(in), 0);
	assert_int_equal(tsi_input_trailing_bytes(in), 0);
	assert_string_equal(tsi_input_filters(in), "none");
	tsi_input_close(in);
}

/* A byte-order mark is text: the decoder's business. */
TEST(test_bom_stays)
{
	struct input *in = open_memory("\xef\xbb\xbf{}", 5, 0);
	const char *data;
	size_t available;
	assert_int_equal(tsi_input_peek(in, 5, &data, &available, NULL), TSCOPE_OK);
	assert_memory_equal(data, "\xef\xbb\xbf{}", 5);
	tsi_input_close(in);
}

static void write_all(int fd, const char *data, size_t length)
{
	while (length) {
		ssize_t count = write(fd, data, length);
		assert_true(count > 0);
		data += count;
		length -= (size_t)count;
	}
}

TEST(test_file)
{
	char path[] = "test_input_XXXXXX";
	char *data = new_pattern(LENGTH);
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	write_all(fd, data, LENGTH);
	close(fd);
	for (size_t b = 0; b < TSI_COUNT_OF(block_sizes); b++) {
		struct input_options options = { .block_bytes = block_sizes[b] };
		struct input *in;
		assert_int_equal(tsi_input_open_file(&in, path, &options, NULL), TSCOPE_OK);
		assert_int_equal(tsi_input_source_bytes(in), LENGTH);
		walk(in, LENGTH, 100);
		assert_int_equal(tsi_input_source_offset(in), LENGTH);
		tsi_input_close(in);
	}
	unlink(path);
	free(data);
}

/* Puts the reading end of a new pipe in the place of standard input; gives the other end. */
static int pipe_to_stdin(void)
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	close(ends[0]);
	return ends[1];
}

TEST(test_standard_input)
{
	int saved = dup(STDIN_FILENO);
	char *data = new_pattern(4000);
	int writer = pipe_to_stdin();
	write_all(writer, data, 4000); /* fits into the pipe */
	close(writer);

	struct input *in;
	assert_int_equal(tsi_input_open_file(&in, "-", NULL, NULL), TSCOPE_OK);
	assert_int_equal(tsi_input_source_bytes(in), 0);
	walk(in, 4000, 50);
	tsi_input_close(in);
	struct stat status;
	assert_int_equal(fstat(STDIN_FILENO, &status), 0); /* not ours to close */

	dup2(saved, STDIN_FILENO);
	close(saved);
	free(data);
}

/* Any place of the stream, whatever was consumed; the stream begins at `start` of the pattern. */
static void check_places(struct input *in, size_t start)
{
	static const struct {
		size_t offset, room;
	} cases[] = {
		{ 0, 10 }, { 777, 4096 }, { LENGTH - 10, 64 }, { LENGTH, 5 }, { LENGTH + 9, 5 }
	};
	char into[4096];
	const char *data;
	size_t available;
	assert_true(tsi_input_has_places(in));
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		size_t place = start + cases[i].offset, got = 99;
		size_t left = place < LENGTH ? LENGTH - place : 0;
		assert_int_equal(
			tsi_input_read_at(in, cases[i].offset, into, cases[i].room, &got, NULL),
			TSCOPE_OK);
		assert_int_equal(got, left < cases[i].room ? left : cases[i].room);
		for (size_t j = 0; j < got; j++)
			assert_int_equal((unsigned char)into[j], pattern_at(place + j));
	}
	assert_int_equal(tsi_input_peek(in, 3, &data, &available, NULL), TSCOPE_OK);
	assert_int_equal((unsigned char)data[2], pattern_at(start + 2));
	tsi_input_skip_to(in, 1234);
	assert_int_equal(tsi_input_offset(in), 1234);
	assert_int_equal(tsi_input_source_offset(in), 1234);
	tsi_input_close(in);
}

TEST(test_places)
{
	enum { START = 1000 };
	struct input_options options = { .block_bytes = 100 };
	char path[] = "test_input_XXXXXX";
	char *data = new_pattern(LENGTH);
	int fd = mkstemp(path), saved = dup(STDIN_FILENO);
	struct input *in;
	assert_true(fd >= 0);
	write_all(fd, data, LENGTH);
	check_places(open_memory(data, LENGTH, 100), 0);
	assert_int_equal(tsi_input_open_file(&in, path, &options, NULL), TSCOPE_OK);
	check_places(in, 0);

	/* Somebody else has read the beginning of standard input. */
	assert_int_equal(lseek(fd, START, SEEK_SET), START);
	dup2(fd, STDIN_FILENO);
	assert_int_equal(tsi_input_open_file(&in, "-", &options, NULL), TSCOPE_OK);
	check_places(in, START);

	int writer = pipe_to_stdin();
	write_all(writer, data, 4000);
	close(writer);
	assert_int_equal(tsi_input_open_file(&in, "-", &options, NULL), TSCOPE_OK);
	assert_false(tsi_input_has_places(in));
	tsi_input_close(in);
	dup2(saved, STDIN_FILENO);
	close(saved);
	close(fd);
	unlink(path);
	free(data);
}

TEST(test_cannot_open)
{
	struct tscope_error err = { 0 };
	struct input *in = NULL;
	assert_int_equal(tsi_input_open_file(&in, "no/such/file", NULL, &err), TSCOPE_E_IO);
	assert_string_equal(err.message, "cannot open: No such file or directory");
	assert_int_equal(tsi_input_open_file(&in, ".", NULL, &err), TSCOPE_E_IO);
	assert_string_equal(err.message, "is a directory; tscope report reads directories");
	assert_int_equal(tsi_input_open_file(&in, ".", NULL, NULL), TSCOPE_E_IO);
	assert_null(in);
}

TEST(test_cannot_read)
{
	struct tscope_error err = { 0 };
	struct input *in = NULL;
	char path[] = "test_input_XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	int saved = dup(STDIN_FILENO);
	int write_only = open(path, O_WRONLY);
	assert_int_equal(dup2(write_only, STDIN_FILENO), STDIN_FILENO);
	assert_int_equal(tsi_input_open_file(&in, "-", NULL, &err), TSCOPE_E_IO);
	assert_string_equal(err.message, "cannot read: Bad file descriptor");
	assert_null(in);
	dup2(saved, STDIN_FILENO);
	close(saved);
	close(write_only);
	unlink(path);
}

TEST(test_names_of_magic)
{
	static const struct {
		const char *bytes;
		size_t length;
		const char *name;
	} cases[] = {
		{ "\x1f\x8b\x08", 3, "gzip-compressed data" },
		{ "\x28\xb5\x2f\xfd", 4, "zstd-compressed data" },
		{ "\x04\x22\x4d\x18", 4, "lz4-compressed data" },
		{ "\x02\x21\x4c\x18", 4, "lz4-compressed data (legacy format)" },
		{ "\xfd\x37zXZ\0", 6, "xz-compressed data" },
		{ "BZh91AY", 7, "bzip2-compressed data" },
		{ "PK\x03\x04", 4, "zip archive" },
		{ "7z\xbc\xaf\x27\x1c", 6, "7z archive" },
		{ "\x78\x9c\x01", 3, "zlib-compressed data" },
		{ "\xff\xfe{\0", 4, "UTF-16 text" },
		{ "\xfe\xff\0{", 4, "UTF-16 text" },
		{ "SQLite format 3\0", 16, "SQLite database" },
		{ "NVIDIA", 6, "Nsight report" },
		{ "memray\0", 7, "memray capture" },
		{ "\x89PNG\r\n\x1a\n", 8, "PNG image" },
		{ "<!DOCTYPE html>", 15, "HTML page" },
		{ "<html>", 6, "HTML page" },
		{ "\x89PNG", 4, NULL }, /* too short to say */
		{ "{\"traceEvents\":[]}", 18, NULL },
		{ "\x80\x04\x95", 3, NULL },
		{ "", 0, NULL },
	};
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		const char *name = tsi_input_name_of_magic(cases[i].bytes, cases[i].length);
		if (!cases[i].name)
			assert_null(name);
		else
			assert_string_equal(name, cases[i].name);
	}
}

/* These only begin as archives do. */
#if HAVE_ARCHIVE
#define UNREAD_ARCHIVE(remedy) remedy
#else
#define UNREAD_ARCHIVE(remedy)                                                                     \
	"this build cannot read it: unpack it first, or build tscope with libarchive-dev"
#endif

TEST(test_refused)
{
	static char tar[512];
	memcpy(tar + 257, "ustar\00000", 8);
	static const struct {
		const char *bytes;
		size_t length;
		const char *message;
	} cases[] = {
		{ "\xfd\x37zXZ\0\0", 7, "xz-compressed data: unpack it first (xz -dk FILE)" },
		{ "BZh91AY", 7, "bzip2-compressed data: unpack it first (bzip2 -dk FILE)" },
		{ "\x02\x21\x4c\x18 ", 5,
		  "lz4-compressed data (legacy format): unpack it first (lz4 -d FILE)" },
		{ "PK\x03\x04 ", 5,
		  "zip archive: " UNREAD_ARCHIVE(
			  "unpack it first, then give the files that are in it (a checkpoint "
			  "of torch.save is one, too: it holds tensors and no memory snapshot)") },
		{ "7z\xbc\xaf\x27\x1c", 6,
		  "7z archive: unpack it first, then give the files that are in it" },
		{ tar, sizeof(tar),
		  "tar archive: " UNREAD_ARCHIVE(
			  "unpack it first, then give the files that are in it") },
	};
	for (size_t b = 0; b < TSI_COUNT_OF(block_sizes); b++)
		for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
			struct input_options options = { .block_bytes = block_sizes[b] };
			struct tscope_error err = { 0 };
			struct input *in = NULL;
			assert_int_equal(tsi_input_open_memory(&in, cases[i].bytes, cases[i].length,
							       &options, &err),
					 TSCOPE_E_UNSUPPORTED);
			assert_string_equal(err.message, cases[i].message);
			assert_null(in);
		}
}

/* What is named but not refused passes as bytes: the decoder says why it does not want it. */
TEST(test_named_kinds_pass)
{
	struct input *in = open_memory("SQLite format 3\0", 16, 0);
	const char *data;
	size_t available;
	assert_int_equal(tsi_input_peek(in, 16, &data, &available, NULL), TSCOPE_OK);
	tsi_input_close(in);
}

static enum tscope_status read_whole(const char *text, size_t length, size_t block_bytes,
				     struct tscope_error *err)
{
	struct input_options options = { .block_bytes = block_bytes };
	struct input *in;
	enum tscope_status status = tsi_input_open_memory(&in, text, length, &options, err);
	if (status != TSCOPE_OK)
		return status;
	const char *data;
	size_t available;
	do {
		status = tsi_input_peek(in, 40, &data, &available, err);
		if (status == TSCOPE_E_NOMEM)
			assert_int_equal(available, 0);
		tsi_input_consume(in, available);
	} while (status == TSCOPE_OK);
	tsi_input_close(in);
	return status == TSCOPE_END ? TSCOPE_OK : status;
}

TEST(test_without_memory)
{
	char *text = new_pattern(1000);
	for (size_t b = 0; b < TSI_COUNT_OF(block_sizes); b++) {
		struct alloc_sweep sweep = {
			.at_least = 4,       /* input, source, window, block */
			.may_survive = true, /* while tasting: it may be tried again */
		};
		while (alloc_sweep_next(&sweep))
			alloc_sweep_try(&sweep, read_whole(text, 1000, block_sizes[b], &sweep.err));
	}
	free(text);
}
