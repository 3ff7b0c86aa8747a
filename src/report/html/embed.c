/* SPDX-License-Identifier: MIT */
/*
 * Runs while tscope is built: writes the page's style and script as C, each with the hash by which
 * the page's security policy knows it.
 *
 * usage: embed OUT.c page.css SCRIPT.js...
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
	unsigned char *data;
	size_t length;
};

static void die(const char *what, const char *path)
{
	fprintf(stderr, "embed: %s %s\n", what, path);
	exit(1);
}

static void append_file(struct bytes *to, const char *path)
{
	FILE *in = fopen(path, "rb");
	unsigned char part[4096];
	size_t count;

	if (!in)
		die("cannot open", path);
	while ((count = fread(part, 1, sizeof(part), in)) > 0) {
		unsigned char *data = realloc(to->data, to->length + count);

		if (!data)
			die("no memory for", path);
		memcpy(data + to->length, part, count);
		to->data = data;
		to->length += count;
	}
	fclose(in);
}

/* ---- SHA-256, as FIPS 180-4 describes it ---- */

static uint32_t turned(uint32_t x, unsigned bits)
{
	return x >> bits | x << (32 - bits);
}

/* The first 32 bits behind the point of a root of a prime: square roots begin the state. */
static void find_constants(uint32_t k[64], uint32_t state[8])
{
	unsigned found = 0;

	for (unsigned prime = 2; found < 64; prime++) {
		unsigned divisor = 2;

		while (divisor * divisor <= prime && prime % divisor != 0)
			divisor++;
		if (divisor * divisor <= prime)
			continue;
		double cube = 1, square = 1; /* with 17 bits to spare */
		for (int i = 0; i < 60; i++) {
			cube -= (cube * cube * cube - prime) / (3 * cube * cube);
			square -= (square * square - prime) / (2 * square);
		}
		k[found] = (uint32_t)(uint64_t)(cube * 4294967296.0);
		if (found < 8)
			state[found] = (uint32_t)(uint64_t)(square * 4294967296.0);
		found++;
	}
}

static void add_block(uint32_t state[8], const uint32_t k[64], const unsigned char *block)
{
	uint32_t w[64], s[8];

	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 64; i++)
		w[i] = w[i - 16] + w[i - 7] +
		       (turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3) +
		       (turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(s, state, sizeof(s));
	for (int i = 0; i < 64; i++) {
		uint32_t a = s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) +
			     ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
		uint32_t b = (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) +
			     ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));

		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += a;
		s[0] = a + b;
	}
	for (int i = 0; i < 8; i++)
		state[i] += s[i];
}

static void hash(unsigned char digest[32], const struct bytes *text)
{
	size_t padded = (text->length + 8) / 64 * 64 + 64;
	unsigned char *data = calloc(padded, 1);
	uint32_t state[8], k[64];

	if (!data)
		die("no memory for", "the hash");
	memcpy(data, text->data, text->length);
	data[text->length] = 0x80;
	for (int i = 0; i < 8; i++)
		data[padded - 1 - i] = (unsigned char)((uint64_t)text->length * 8 >> 8 * i);
	find_constants(k, state);
	for (size_t at = 0; at < padded; at += 64)
		add_block(state, k, data + at);
	for (int i = 0; i < 32; i++)
		digest[i] = (unsigned char)(state[i / 4] >> (24 - i % 4 * 8));
	free(data);
}

/* ---- output ---- */

static void put_hash(FILE *out, const char *name, const struct bytes *text)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";
	unsigned char digest[33] = { 0 };

	hash(digest, text);
	fprintf(out, "const char tsi_%s_hash[] = \"sha256-", name);
	for (int i = 0; i < 33; i += 3) {
		uint32_t group = (uint32_t)digest[i] << 16 | (uint32_t)digest[i + 1] << 8 |
				 (i + 2 < 33 ? digest[i + 2] : 0);

		for (int shift = 18; shift >= (i == 30 ? 6 : 0); shift -= 6)
			fputc(digits[group >> shift & 63], out);
	}
	fprintf(out, "=\";\n");
}

static void put_bytes(FILE *out, const char *name, const struct bytes *text)
{
	fprintf(out, "const char tsi_%s[] = {", name);
	for (size_t i = 0; i < text->length; i++)
		fprintf(out, "%s%d,", i % 20 == 0 ? "\n" : "", (signed char)text->data[i]);
	fprintf(out, "\n0 };\n");
	put_hash(out, name, text);
}

int main(int argc, char **argv)
{
	struct bytes style = { 0 }, script = { 0 };
	FILE *out;

	if (argc < 4)
		die("usage:", "embed OUT.c page.css SCRIPT.js...");
	append_file(&style, argv[2]);
	for (int i = 3; i < argc; i++)
		append_file(&script, argv[i]);
	out = fopen(argv[1], "wb");
	if (!out)
		die("cannot write", argv[1]);
	fprintf(out, "#include \"report/html/assets.h\"\n\n");
	put_bytes(out, "page_style", &style);
	put_bytes(out, "page_script", &script);
	if (fclose(out) != 0)
		die("cannot write", argv[1]);
	free(style.data);
	free(script.data);
	return 0;
}
