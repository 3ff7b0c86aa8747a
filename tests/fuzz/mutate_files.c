/* SPDX-License-Identifier: MIT */
/*
 * Reads, analyses and reports mutated files, many in one process: for sanitizers.
 *
 * usage: mutate_files SEED ROUNDS MAX_BYTES PLACE FILE…
 *
 * Each round takes every file once, decompressed where that makes at most MAX_BYTES, changes a few
 * places of it, and writes it to PLACE/<name>, where it stays when the process dies. Of a file's
 * mutants every eighth changes the bytes as they are stored.
 */
#include "decode/json.h"
#include "input/input.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tscope/tscope.h>
#include <unistd.h>

enum { MAX_DEPTH = 64, MAX_CHANGES = 8, MAX_MOVED = 4096 };

struct bytes {
	char *data;
	size_t length;
};

static uint64_t state;

/* splitmix64 */
static uint64_t next_random(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static size_t below(size_t limit)
{
	return limit > 0 ? (size_t)(next_random() % limit) : 0;
}

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* ---- mutants ---- */

/* Moves, doubles or takes out a piece. */
static void change_piece(struct bytes *b, size_t choice)
{
	size_t length = below((b->length < MAX_MOVED ? b->length : MAX_MOVED) + 1);
	size_t from = below(b->length - length + 1), to = below(b->length - length + 1);

	if (choice == 0) {
		memmove(b->data + from, b->data + from + length, b->length - from - length);
		b->length -= length;
	} else {
		memmove(b->data + to, b->data + from, length);
	}
}

/* Puts in the place of what stands there what often breaks readers. */
static void write_word(struct bytes *b)
{
	static const char *const words[] = {
		"9223372036854775807",
		"-9223372036854775808",
		"18446744073709551616",
		"1e308",
		"-1",
		"0",
		"NaN",
		"null",
		"{",
		"}",
		"[",
		"]",
		"\"",
		"\\u0000",
		",",
		":",
		"1e-320",
		"-",
		"true",
		"\xff\xff\xff\xff",
		"\x80",
	};
	const char *word = words[below(sizeof(words) / sizeof(words[0]))];
	size_t length = strlen(word);

	if (length <= b->length)
		memcpy(b->data + below(b->length - length + 1), word, length);
}

/* Changes digits, where numbers stand: what is read stays whole. */
static void change_digits(struct bytes *b)
{
	for (size_t at = below(b->length), left = 200; at < b->length && left > 0; at++, left--)
		if (b->data[at] >= '0' && b->data[at] <= '9' && below(4) == 0)
			b->data[at] = (char)('0' + below(10));
}

static void mutate(struct bytes *b)
{
	for (size_t left = 1 + below(MAX_CHANGES); left > 0 && b->length > 0; left--) {
		size_t choice = below(8), at = below(b->length);

		if (choice < 2)
			change_piece(b, choice);
		else if (choice == 2)
			b->data[at] = (char)next_random();
		else if (choice == 3)
			b->data[at] ^= (char)(1 << below(8));
		else if (choice == 4 && below(8) == 0)
			b->length = at;
		else if (choice < 6)
			write_word(b);
		else
			change_digits(b);
	}
}

/* ---- what is done with them ---- */

static void check_report(const struct tscope_run *run, const struct tscope_diagnosis *diagnosis,
			 size_t format)
{
	const struct tscope_run_report report = { run, diagnosis, NULL, 0 };
	const struct tscope_report_options options = { .format = format,
						       .extent = TSCOPE_REPORT_FULL };
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	require(out);
	enum tscope_status status = tscope_report_write_run(out, &report, &options, NULL);
	require(fclose(out) == 0 && status == TSCOPE_OK);
	while (length > 0 && text[length - 1] == '\n')
		length--;
	require(format != TSCOPE_REPORT_JSON ||
		tsi_json_check((struct str){ text, length }, MAX_DEPTH, NULL) == TSCOPE_OK);
	free(text);
}

static bool read_run(const char *path)
{
	const struct tscope_run_options options = { .trace.thread_count =
							    (unsigned)(1 + below(2)) };
	struct tscope_run *run = NULL;
	struct tscope_diagnosis *diagnosis = NULL;
	struct tscope_error err = { 0 };
	enum tscope_status status = tscope_run_open(&run, &path, 1, &options, &err);

	require(status == TSCOPE_OK || err.message[0] != '\0');
	if (status != TSCOPE_OK)
		return false;
	require(tscope_diagnose(&diagnosis, tscope_run_analysis(run), NULL, &err) == TSCOPE_OK);
	check_report(run, diagnosis, TSCOPE_REPORT_JSON);
	check_report(run, diagnosis, TSCOPE_REPORT_TEXT);
	tscope_diagnosis_free(diagnosis);
	tscope_run_free(run);
	return true;
}

/* ---- files ---- */

static struct bytes read_all(const char *path, bool is_stored, size_t max_bytes)
{
	const struct input_options options = { .single_thread = true, .max_filter_depth = 4 };
	struct bytes bytes = { NULL, 0 };
	struct input *in = NULL;
	const char *data;
	FILE *file;

	if (is_stored) {
		file = fopen(path, "rb");
		bytes.data = malloc(max_bytes);
		bytes.length = file && bytes.data ? fread(bytes.data, 1, max_bytes, file) : 0;
		if (file)
			fclose(file);
		return bytes;
	}
	if (tsi_input_open_file(&in, path, &options, NULL) != TSCOPE_OK)
		return bytes;
	if (tsi_input_peek(in, max_bytes, &data, &bytes.length, NULL) == TSCOPE_END) {
		bytes.data = malloc(bytes.length + 1);
		if (bytes.data)
			memcpy(bytes.data, data, bytes.length);
	}
	tsi_input_close(in);
	return bytes;
}

/* Of the name all but the ending of a compression stays, as names decide, too. */
static bool try_mutant(const char *path, const char *place, bool is_stored, size_t max_bytes)
{
	struct bytes bytes = read_all(path, is_stored, max_bytes);
	const char *slash = strrchr(path, '/');
	char target[4096];
	FILE *out;

	if (!bytes.data)
		return false;
	mutate(&bytes);
	snprintf(target, sizeof(target), "%s/%s", place, slash ? slash + 1 : path);
	out = fopen(target, "wb");
	require(out && fwrite(bytes.data, 1, bytes.length, out) == bytes.length);
	require(fclose(out) == 0);
	free(bytes.data);
	bool is_reported = read_run(target);
	unlink(target);
	return is_reported;
}

int main(int argc, char **argv)
{
	unsigned long count = 0, reported_count = 0;

	if (argc < 6)
		return fprintf(stderr, "usage: mutate_files SEED ROUNDS MAX_BYTES PLACE FILE...\n"),
		       2;
	for (long round = 0; round < atol(argv[2]); round++) {
		for (int i = 5; i < argc; i++) {
			state = (uint64_t)atol(argv[1]) + ((uint64_t)round << 32) + (uint64_t)i;
			reported_count +=
				try_mutant(argv[i], argv[4], round % 8 == 7, (size_t)atol(argv[3]));
			count++;
		}
		printf("%ld rounds, %lu mutants, %lu reported\n", round + 1, count, reported_count);
		fflush(stdout);
	}
	return 0;
}
