/* SPDX-License-Identifier: MIT */
/*
 * The rank and the process that wrote a file, by its name. Only hints for
 * files that do not say it themselves. A number that may mean something else
 * (a tensor-parallel index, a host, a time stamp) is not taken for a rank:
 * a wrong one is worse than none.
 */
#include "run/find.h"

#include "base/attributes.h"

enum {
	RANK_MAX = 9999999,   /* what is larger is a time stamp */
	LOCAL_RANK_MAX = 999, /* of one node */
	STAMP_DIGITS_MIN = 9, /* seconds, ms or ns since 1970 */
	NOT_FOUND = -1,
};

static bool is_alnum(char c)
{
	return tsi_is_digit(c) || tsi_is_letter(c);
}

/* The number that text begins with, and in *rest what follows it; -1: none, or no rank's. */
static int64_t leading_rank(struct str text, struct str *rest)
{
	size_t count = tsi_count_digits(text);
	int64_t number;

	*rest = tsi_str_tail(text, count);
	if (!tsi_str_to_int64((struct str){ text.data, count }, &number) || number > RANK_MAX)
		return NOT_FOUND;
	return number;
}

/* Takes one of these characters off, if text begins with it. */
static struct str skip_any(struct str text, const char *characters)
{
	bool skips = text.length && strchr(characters, text.data[0]) && text.data[0];

	return tsi_str_tail(text, skips);
}

static bool ends_word(struct str rest)
{
	return rest.length == 0 || !is_alnum(rest.data[0]);
}

/* The word before `at`, over one separator: "tp" in "tp_rank3" where "rank3" begins. */
static struct str word_before(struct str name, size_t at)
{
	size_t end = at ? at - 1 : 0;
	size_t begin = end;

	while (begin > 0 && is_alnum(name.data[begin - 1]))
		begin--;
	return (struct str){ name.data + begin, end - begin };
}

/* "tp_rank3": a place in a group of ranks, or among nodes. */
static bool is_partial(struct str word)
{
	static const struct str words[] = {
		{ "node", 4 }, { "group", 5 }, { "tp", 2 }, { "pp", 2 }, { "dp", 2 },
		{ "cp", 2 },   { "ep", 2 },    { "sp", 2 }, { "mp", 2 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(words); i++)
		if (tsi_str_equal_nocase(word, words[i]))
			return true;
	return false;
}

/* The word "rank" with its number: rank3, rank-3, rank_3, rank=3. */
static int64_t rank_of_word(struct str name)
{
	const struct str word = TSI_STR("rank");

	for (size_t at = 0; at + word.length < name.length; at++) {
		struct str here = { name.data + at, word.length };
		struct str rest;
		int64_t rank;

		if (!tsi_str_equal_nocase(here, word) || (at > 0 && is_alnum(name.data[at - 1])))
			continue;
		rank = leading_rank(skip_any(tsi_str_tail(name, at + word.length), "-_="), &rest);
		if (rank != NOT_FOUND && ends_word(rest) && !is_partial(word_before(name, at)))
			return rank;
	}
	return NOT_FOUND;
}

/* "worker0_step_12…", "worker0.<stamp>…"; but in "worker3_4242.<stamp>…" it is a host. */
static int64_t rank_of_worker(struct str name)
{
	struct str rest;
	int64_t rank;

	if (!tsi_str_starts(name, "worker"))
		return NOT_FOUND;
	rank = leading_rank(tsi_str_tail(name, sizeof("worker") - 1), &rest);
	return tsi_str_starts(rest, ".") || tsi_str_starts(rest, "_step_") ? rank : NOT_FOUND;
}

/* "0_trace.json"; but the number in "1234_trace.json" is a process id, or a year. */
static int64_t rank_of_start(struct str name)
{
	struct str rest;
	int64_t rank = leading_rank(name, &rest);

	return rank <= LOCAL_RANK_MAX && tsi_str_starts(rest, "_trace.") ? rank : NOT_FOUND;
}

/* Lightning's "fit-name-0[Strategy]…", later "-0-[Strategy]…". */
static int64_t rank_of_action(struct str name)
{
	for (size_t at = 0; at < name.length; at++) {
		struct str rest;
		int64_t rank;

		if (name.data[at] != '-')
			continue;
		rank = leading_rank(tsi_str_tail(name, at + 1), &rest);
		rest = skip_any(rest, "-");
		if (rank != NOT_FOUND &&
		    (tsi_str_starts(rest, "[") || tsi_str_starts(rest, "_Strategy_")))
			return rank;
	}
	return NOT_FOUND;
}

/* Takes the last part off a path. */
static struct str pop_part(struct str *path)
{
	struct str part = tsi_str_last_part(*path);

	path->length -= part.length + (part.length < path->length);
	return part;
}

static int64_t rank_of_file(struct str name)
{
	static int64_t (*const readers[])(struct str name) = {
		rank_of_word,
		rank_of_worker,
		rank_of_start,
		rank_of_action,
	};
	int64_t rank = NOT_FOUND;

	for (size_t i = 0; i < TSI_COUNT_OF(readers) && rank == NOT_FOUND; i++)
		rank = readers[i](name);
	return rank;
}

int64_t tsi_rank_of_path(const char *path)
{
	struct str left = { path, strlen(path) };
	int64_t rank = rank_of_file(pop_part(&left));

	while (rank == NOT_FOUND && left.length > 0)
		rank = rank_of_word(pop_part(&left));
	return rank;
}

struct str tsi_rank_folder_of_path(const char *path)
{
	const struct str none = { path, 0 };
	struct str left = { path, strlen(path) };

	if (rank_of_file(pop_part(&left)) != NOT_FOUND)
		return none;
	while (left.length > 0) {
		struct str folder = left;

		if (rank_of_word(pop_part(&left)) != NOT_FOUND)
			return folder;
	}
	return none;
}

/* SGLang begins with its stamp: "1723456789.25-TP-3-DECODE". */
static struct str skip_stamp(struct str name)
{
	size_t count = tsi_count_digits(name);
	struct str rest = tsi_str_tail(name, count);

	if (count < STAMP_DIGITS_MIN)
		return name;
	rest = skip_any(rest, ".");
	rest = tsi_str_tail(rest, tsi_count_digits(rest));
	return tsi_str_starts(rest, "-") ? tsi_str_tail(rest, 1) : name;
}

/* Does what is not the writer any more begin here: ".<stamp>", ".pt.trace", ".json"? */
static bool is_ending(struct str text)
{
	return tsi_str_starts(text, ".pt.trace") || tsi_str_starts(text, ".trace.") ||
	       tsi_str_starts(text, ".json") ||
	       (text.data[0] == '.' && tsi_count_digits(tsi_str_tail(text, 1)) >= STAMP_DIGITS_MIN);
}

struct str tsi_writer_of_path(const char *path)
{
	struct str left = { path, strlen(path) };
	struct str writer = skip_stamp(pop_part(&left));

	for (size_t at = 1; at < writer.length; at++)
		if (is_ending(tsi_str_tail(writer, at)))
			writer.length = at;
	return writer;
}

/* ---- families ---- */

/* The length of a place without its number, "rank" of "rank3", "TP-" of "TP-1"; 0: none is here. */
static size_t place_length(struct str text, bool by_replica)
{
	static const struct str words[] = {
		{ "rank", 4 }, { "tp", 2 }, { "pp", 2 },  { "ep", 2 },
		{ "cp", 2 },   { "sp", 2 }, { "dcp", 3 }, { "dp", 2 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(words) - by_replica; i++) {
		struct str rest;

		if (text.length <= words[i].length ||
		    !tsi_str_equal_nocase((struct str){ text.data, words[i].length }, words[i]))
			continue;
		rest = skip_any(tsi_str_tail(text, words[i].length), "-_=");
		if (tsi_count_digits(rest) > 0 &&
		    ends_word(tsi_str_tail(rest, tsi_count_digits(rest))))
			return (size_t)(rest.data - text.data);
	}
	return 0;
}

/* The length of a word for a phase that a server records by itself; 0: none is here. */
static size_t phase_length(struct str text)
{
	static const struct str words[] = { { "EXTEND", 6 }, { "PREFILL", 7 }, { "DECODE", 6 } };

	for (size_t i = 0; i < TSI_COUNT_OF(words); i++)
		if (tsi_str_has_prefix(text, words[i]) &&
		    ends_word(tsi_str_tail(text, words[i].length)))
			return words[i].length;
	return 0;
}

const char *tsi_family_of_path(struct arena *arena, const char *path, bool by_replica)
{
	struct str left = { path, strlen(path) };
	struct str name = pop_part(&left);
	char *family = tsi_arena_new(arena, name.length + 1, 1);
	size_t length = 0, place_count = 0;

	for (size_t at = 0; family && at < name.length && !is_ending(tsi_str_tail(name, at));) {
		bool is_begin = at == 0 || !is_alnum(name.data[at - 1]);
		size_t kept = is_begin ? place_length(tsi_str_tail(name, at), by_replica) : 0;

		size_t phase = is_begin ? phase_length(tsi_str_tail(name, at)) : 0;

		if (phase > 0) {
			family[length++] = '*';
			at += phase;
			continue;
		}
		if (kept == 0) {
			family[length++] = name.data[at++];
			continue;
		}
		memcpy(family + length, name.data + at, kept);
		length += kept;
		family[length++] = '*';
		at += kept + tsi_count_digits(tsi_str_tail(name, at + kept));
		place_count++;
	}
	return family && place_count == 0 ? "" : family;
}
