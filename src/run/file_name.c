/* SPDX-License-Identifier: MIT */
/* Names of files as texts: their parts, their order, and making them. */
#include "run/file_name.h"

#include "base/attributes.h"

/* The plain file first: it is the quickest to read. */
static const struct str compressions[] = {
	{ "", 0 },
	{ ".gz", 3 },
	{ ".zst", 4 },
	{ ".lz4", 4 },
};

bool tsi_name_ends(struct str name, struct str ending)
{
	if (name.length <= ending.length)
		return false;
	struct str end = { name.data + name.length - ending.length, ending.length };
	return tsi_str_equal_nocase(end, ending);
}

bool tsi_are_in_folders_apart(const char *a, const char *b)
{
	return !tsi_str_has_prefix(tsi_str_of(a), tsi_folder_of(b)) &&
	       !tsi_str_has_prefix(tsi_str_of(b), tsi_folder_of(a));
}

struct str tsi_path_trim(const char *path)
{
	struct str text = { path, strlen(path) };

	while (text.length > 1 && path[text.length - 1] == '/')
		text.length--;
	return text;
}

/* Index of the compression in the name. */
static size_t compression_of(struct str name)
{
	for (size_t i = 1; i < TSI_COUNT_OF(compressions); i++)
		if (tsi_name_ends(name, compressions[i]))
			return i;
	return 0;
}

const char *tsi_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

struct str tsi_unpacked_name(const char *path)
{
	struct str name = { path, strlen(path) };

	name.length -= compressions[compression_of(name)].length;
	return name;
}

/* Takes the number at the start of text off it; without the zeros before it. */
static struct str take_number(struct str *text)
{
	struct str number = *text;

	while (text->length && tsi_is_digit(text->data[0])) {
		text->data++;
		text->length--;
	}
	number.length -= text->length;
	while (number.length > 1 && number.data[0] == '0') {
		number.data++;
		number.length--;
	}
	return number;
}

/* Compares numbers of any length. */
static int compare_numbers(struct str a, struct str b)
{
	TSI_ASCENDING(a.length, b.length);
	return tsi_str_compare(a, b);
}

static int compare_natural(struct str a, struct str b)
{
	while (a.length && b.length) {
		int order;

		if (tsi_is_digit(a.data[0]) && tsi_is_digit(b.data[0])) {
			order = compare_numbers(take_number(&a), take_number(&b));
		} else {
			order = (unsigned char)*a.data++ - (unsigned char)*b.data++;
			a.length--;
			b.length--;
		}
		if (order != 0)
			return order;
	}
	return tsi_str_compare(a, b);
}

int tsi_compare_names(const char *left, const char *right)
{
	struct str a = tsi_unpacked_name(left);
	struct str b = tsi_unpacked_name(right);
	int order = compare_natural(a, b);

	if (order == 0)
		order = tsi_str_compare(a, b); /* "rank01", "rank1" */
	if (order != 0)
		return order;
	return (int)compression_of(tsi_str_of(left)) - (int)compression_of(tsi_str_of(right));
}

const char *tsi_path_join(struct arena *arena, struct str folder, struct str name)
{
	bool has_slash = folder.length && folder.data[folder.length - 1] != '/';
	char *path = tsi_arena_new(arena, folder.length + has_slash + name.length + 1, 1);

	if (!path)
		return "";
	if (folder.length)
		memcpy(path, folder.data, folder.length);
	if (has_slash)
		path[folder.length] = '/';
	if (name.length)
		memcpy(path + folder.length + has_slash, name.data, name.length);
	return path;
}
