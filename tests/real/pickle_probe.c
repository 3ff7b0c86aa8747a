/* SPDX-License-Identifier: MIT */
/*
 * Prints a pickle as decode/plain/pickle.h shows it, for check_pickle.py, which has Python's own reader
 * say the same. A line of JSON for each list and dict in the order in which they are first
 * met, the first one the root's own; so what the file shares is seen to be shared:
 *
 *	[[1, 2.5], {"list": 1}]			the root, a tuple; integers and texts as they are
 *	["a", {"dict": 2}, {"real": "0x1p+0"}]	list 1: what is in it
 *	[["key", null], [7, true]]		dict 2: its pairs
 *
 * Texts are bytes: \u00e9 is the byte 0xe9. With --quiet it only reads.
 */
#include "base/array.h"
#include "decode/plain/pickle.h"
#include "input/input.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct printer {
	const struct plain *plain;
	uint32_t *numbers; /* of objects, by their index; 0: not met yet */
	struct plain_value *met;
	size_t met_count;
};

static void print_text(struct str text)
{
	putchar('"');
	for (size_t i = 0; i < text.length; i++) {
		unsigned char byte = (unsigned char)text.data[i];
		if (byte < 0x20 || byte >= 0x7f || byte == '"' || byte == '\\')
			printf("\\u%04x", byte);
		else
			putchar(byte);
	}
	putchar('"');
}

static void print_scalar(const struct printer *p, struct plain_value value)
{
	enum plain_kind kind = tsi_plain_kind(value);
	bool truth = false;
	int64_t integer = 0;
	uint64_t natural = 0;
	double real = 0;

	if (tsi_plain_to_bool(value, &truth))
		printf("%s", truth ? "true" : "false");
	else if (tsi_plain_to_int64(p->plain, value, &integer))
		printf("%" PRId64, integer);
	else if (tsi_plain_to_uint64(p->plain, value, &natural))
		printf("%" PRIu64, natural);
	else if (tsi_plain_to_real(p->plain, value, &real))
		printf("{\"real\": \"%a\"}", real);
	else if (kind == PLAIN_NONE)
		printf("null");
	else {
		printf("%s", kind == PLAIN_BYTES   ? "{\"bytes\": "
			     : kind == PLAIN_CLASS ? "{\"class\": "
						   : "");
		print_text(tsi_plain_text(p->plain, value));
		printf("%s", kind == PLAIN_TEXT ? "" : "}");
	}
}

static void print_value(struct printer *p, struct plain_value value)
{
	enum plain_kind kind = tsi_plain_kind(value);

	if (kind == PLAIN_TUPLE) {
		putchar('[');
		for (size_t i = 0; i < tsi_plain_length(p->plain, value); i++) {
			printf("%s", i ? ", " : "");
			print_value(p, tsi_plain_item(p->plain, value, i));
		}
		putchar(']');
		return;
	}
	if (kind != PLAIN_LIST && kind != PLAIN_DICT) {
		print_scalar(p, value);
		return;
	}
	uint32_t *number = &p->numbers[tsi_plain_object_index(value)];
	if (*number == 0) {
		p->met[p->met_count++] = value;
		*number = (uint32_t)p->met_count;
	}
	printf("{\"%s\": %" PRIu32 "}", kind == PLAIN_LIST ? "list" : "dict", *number);
}

static void print_content(struct printer *p, struct plain_value object)
{
	bool is_dict = tsi_plain_kind(object) == PLAIN_DICT;

	putchar('[');
	for (size_t i = 0; i < tsi_plain_length(p->plain, object); i++) {
		printf("%s%s", i ? ", " : "", is_dict ? "[" : "");
		if (is_dict) {
			print_value(p, tsi_plain_key(p->plain, object, i));
			printf(", ");
			print_value(p, tsi_plain_value(p->plain, object, i));
		} else {
			print_value(p, tsi_plain_item(p->plain, object, i));
		}
		printf("%s", is_dict ? "]" : "");
	}
	printf("]\n");
}

static enum tscope_status print_all(const struct plain *plain, struct tscope_error *err)
{
	struct printer p = { .plain = plain };
	size_t count = tsi_plain_object_count(plain);
	enum tscope_status status = tsi_array_new(&p.numbers, count, sizeof(*p.numbers), err);

	if (status == TSCOPE_OK)
		status = tsi_array_new(&p.met, count, sizeof(*p.met), err);
	if (status == TSCOPE_OK) {
		print_value(&p, tsi_plain_root(plain));
		putchar('\n');
		for (size_t i = 0; i < p.met_count; i++)
			print_content(&p, p.met[i]);
	}
	free(p.numbers);
	free(p.met);
	return status;
}

int main(int argc, char **argv)
{
	bool is_quiet = argc == 3 && strcmp(argv[1], "--quiet") == 0;
	struct tscope_error err = { 0 };
	struct input *in = NULL;
	struct plain *plain = NULL;

	if (argc != 2 && !is_quiet) {
		fprintf(stderr, "usage: pickle_probe [--quiet] PICKLE\n");
		return 2;
	}
	enum tscope_status status = tsi_input_open_file(&in, argv[argc - 1], NULL, &err);
	if (status == TSCOPE_OK)
		status = tsi_pickle_read(&plain, in, NULL, &err);
	if (status == TSCOPE_OK && !is_quiet)
		status = print_all(plain, &err);
	if (status != TSCOPE_OK)
		fprintf(stderr, "pickle_probe: %s (byte %" PRIu64 ")\n", err.message, err.offset);
	tsi_plain_free(plain);
	tsi_input_close(in);
	if (status != TSCOPE_OK)
		return 3;
	return ferror(stdout) ? 4 : 0;
}
