/* SPDX-License-Identifier: MIT */
/*
 * Identifies the device that a trace names. A wrong peak falsifies every figure measured against
 * it, so a name with an unknown word is not recognised: a suffix makes another product.
 */
#include "device/device.h"

#include "base/attributes.h"
#include "base/nearest.h"
#include "base/print_text.h"
#include "base/str.h"
#include "device/device_table.h"

#include <stdio.h>

enum { MAX_NAME_CHARS = 127, MAX_WORDS = 24, MAX_NEAR = 3 };

/* Vendors, series and the like: optional words without information. */
static const char noise[] = "nvidia amd intel r tesla instinct geforce gpu generation";

/* Names that do not identify a model. CUDA always has one. */
static const char nameless[] = "amd instinct radeon graphics";

/* A device's name in lower case, split at anything but letters and digits. */
struct name {
	char text[MAX_NAME_CHARS + 1];
	struct str words[MAX_WORDS]; /* each has a NUL behind it */
	size_t count;
	bool is_partition; /* it ends with "MIG 1g.10gb" or the like, which is left out */
};

static bool is_word_char(char c)
{
	return tsi_is_digit(c) || (c >= 'a' && c <= 'z');
}

/* False for a name that is longer than any: what is cut off might say "Laptop". */
static bool split_name(struct name *name, const char *text)
{
	size_t length = strlen(text);
	const char *end;

	if (length > MAX_NAME_CHARS)
		return false;
	end = name->text + length;
	for (size_t i = 0; i <= length; i++)
		name->text[i] = tsi_to_lower(text[i]);
	for (char *p = name->text; p < end; p++) {
		struct str word = { p, 0 };

		while (is_word_char(*p))
			p++;
		*p = '\0';
		word.length = (size_t)(p - word.data);
		if (tsi_str_is(word, "mig")) {
			name->is_partition = true;
			break;
		}
		if (word.length > 0 && name->count == MAX_WORDS)
			return false;
		if (word.length > 0)
			name->words[name->count++] = word;
	}
	return true;
}

/* The next of the words of an alternative, which ends with '|' or NUL; then an empty one. */
static struct str next_word(const char **at)
{
	struct str word = { *at, strcspn(*at, " |") };

	*at += word.length;
	*at += **at == ' ';
	return word;
}

/* words: NULL for none. */
static bool holds(const char *words, struct str sought)
{
	struct str word;

	if (!words)
		return false;
	while ((word = next_word(&words)).length > 0)
		if (tsi_str_equal(word, sought))
			return true;
	return false;
}

static bool name_holds(const struct name *name, struct str sought)
{
	for (size_t i = 0; i < name->count; i++)
		if (tsi_str_equal(name->words[i], sought))
			return true;
	return false;
}

/* "80gb", where the device has that much memory or comes with different sizes of it. */
static bool is_memory_of(const struct tscope_device *device, struct str word)
{
	struct str digits = { word.data, word.length > 2 ? word.length - 2 : 0 };
	int64_t size;

	return digits.length > 0 && memcmp(word.data + digits.length, "gb", 2) == 0 &&
	       tsi_str_to_int64(digits, &size) &&
	       (device->memory_gib == 0 || size == device->memory_gib);
}

/* Whether the name has all words of this alternative, and no others. */
static bool fits_words(const struct device_row *row, const char *alternative,
		       const struct name *name)
{
	const char *at = alternative;
	struct str word;

	while ((word = next_word(&at)).length > 0)
		if (!name_holds(name, word))
			return false;
	for (size_t i = 0; i < name->count; i++) {
		word = name->words[i];
		if (!holds(alternative, word) && !holds(row->forms, word) && !holds(noise, word) &&
		    !is_memory_of(&row->device, word))
			return false;
	}
	return true;
}

static const char *next_alternative(const char *alternative)
{
	const char *bar = strchr(alternative, '|');

	return bar ? bar + 1 : NULL;
}

static bool fits_name(const struct device_row *row, const struct name *name)
{
	for (const char *at = row->words; at; at = next_alternative(at))
		if (fits_words(row, at, name))
			return true;
	return false;
}

/* How a row's memory compares with the known size, least certain first. */
enum memory_fit {
	MEMORY_WRONG,
	MEMORY_UNKNOWN, /* nothing says how much there is */
	MEMORY_ANY,     /* the row is of no certain size */
	MEMORY_RIGHT,
	MEMORY_FIT_COUNT,
};

static bool names_memory(const struct name *name, const struct tscope_device *device)
{
	for (size_t i = 0; i < name->count; i++)
		if (is_memory_of(device, name->words[i]))
			return true;
	return false;
}

/* Drivers keep up to a tenth for error correction and for themselves. */
static bool is_size_near(const struct tscope_device *device, int64_t total_bytes)
{
	double ratio = (double)total_bytes / (device->memory_gib * 1073741824.0);

	return ratio > 0.88 && ratio < 1.04;
}

static enum memory_fit fit_memory(const struct tscope_device *device, const struct name *name,
				  const struct device_traits *traits, bool is_whole)
{
	if (device->memory_gib == 0)
		return MEMORY_ANY;
	if (traits->total_bytes > 0 && is_whole)
		return is_size_near(device, traits->total_bytes) ? MEMORY_RIGHT : MEMORY_WRONG;
	return names_memory(name, device) ? MEMORY_RIGHT : MEMORY_UNKNOWN;
}

/* The rows that are left: those with all units of the device, where there are such. */
struct candidates {
	const struct device_row *any;
	bool have_all_units;
	bool differ; /* in their peaks: they are different products */
	struct {
		const struct device_row *row;
		size_t count;
	} by_memory[MEMORY_FIT_COUNT];
};

static bool has_same_peaks(const struct tscope_device *a, const struct tscope_device *b)
{
	for (size_t i = 0; i < TSCOPE_PRECISION_COUNT; i++)
		if (a->peak_flops[i] != b->peak_flops[i])
			return false;
	return true;
}

static void add_candidate(struct candidates *left, const struct device_row *row, bool has_all_units,
			  enum memory_fit memory)
{
	if (left->have_all_units && !has_all_units)
		return;
	if (!left->any || left->have_all_units != has_all_units)
		*left = (struct candidates){ .any = row, .have_all_units = has_all_units };
	if (!has_same_peaks(&left->any->device, &row->device))
		left->differ = true;
	left->by_memory[memory].row = row;
	left->by_memory[memory].count++;
}

static void consider(struct candidates *left, const struct device_row *row, const struct name *name,
		     const struct device_traits *traits)
{
	int64_t all_units = row->device.sm_count, units = traits->sm_count;
	bool are_units_known = all_units > 0 && units > 0;
	bool has_all_units = are_units_known && units == all_units;
	enum memory_fit memory;

	if (!fits_name(row, name) || (are_units_known && units > all_units) ||
	    (name->is_partition && !are_units_known))
		return;
	memory = fit_memory(&row->device, name, traits, has_all_units || !are_units_known);
	if (memory != MEMORY_WRONG)
		add_candidate(left, row, has_all_units, memory);
}

static const struct device_row *find_by_name(const struct name *name,
					     const struct device_traits *traits)
{
	struct candidates left = { 0 };

	for (size_t i = 0; i < tscope_device_count(); i++)
		consider(&left, &tsi_device_rows[i], name, traits);
	for (size_t fit = MEMORY_FIT_COUNT; !left.differ && fit-- > 0;)
		if (left.by_memory[fit].count == 1)
			return left.by_memory[fit].row;
	return NULL;
}

static bool is_nameless(const struct name *name)
{
	for (size_t i = 0; i < name->count; i++)
		if (!holds(nameless, name->words[i]))
			return false;
	return true;
}

/* The one row with these units and this memory; NULL where there are several. */
static const struct device_row *find_by_traits(const struct device_traits *traits)
{
	const struct device_row *found = NULL;

	for (size_t i = 0; i < tscope_device_count(); i++) {
		const struct device_row *row = &tsi_device_rows[i];

		if (!row->is_nameless || traits->sm_count != row->device.sm_count ||
		    !is_size_near(&row->device, traits->total_bytes))
			continue;
		if (found)
			return NULL;
		found = row;
	}
	return found;
}

/* The word that identifies the model: the first with a digit, else the first. */
static struct str model_of(const char *alternative)
{
	const char *at = alternative;
	struct str first = next_word(&at), word = first;

	for (; word.length > 0; word = next_word(&at))
		for (size_t i = 0; i < word.length; i++)
			if (tsi_is_digit(word.data[i]))
				return word;
	return first;
}

/* Letters in which the nearest word of the name differs from the row's model. */
static size_t distance_of(const struct device_row *row, const struct name *name)
{
	size_t least = SIZE_MAX;

	for (const char *at = row->words; at; at = next_alternative(at))
		for (size_t i = 0; i < name->count; i++) {
			struct nearest nearest = { .word = model_of(at) };

			tsi_nearest_consider(&nearest, name->words[i].data);
			if (nearest.name && nearest.distance < least)
				least = nearest.distance;
		}
	return least;
}

/* Models are short: names that differ in more than one letter have nothing in common. */
static void list_near(struct device_match *match, const struct name *name)
{
	size_t count = 0;

	for (size_t distance = 0; distance <= 1; distance++)
		for (size_t i = 0; i < tscope_device_count() && count < MAX_NEAR; i++) {
			if (distance_of(&tsi_device_rows[i], name) != distance)
				continue;
			tsi_join_text(match->near, sizeof(match->near), ", ", "%s",
				      tscope_device(i)->name);
			count++;
		}
}

static bool is_listed(const struct name *name)
{
	for (size_t i = 0; i < tscope_device_count(); i++)
		if (fits_name(&tsi_device_rows[i], name))
			return true;
	return false;
}

struct device_match tsi_device_find(const struct device_traits *traits)
{
	struct device_match match = { .part = 1 };
	const struct device_row *row;
	struct name name = { 0 };

	if (!split_name(&name, traits->name ? traits->name : ""))
		return match;
	match.is_by_traits = is_nameless(&name) && !name.is_partition;
	row = match.is_by_traits ? find_by_traits(traits) : find_by_name(&name, traits);
	if (!row) {
		match.is_by_traits = false;
		match.is_listed = is_listed(&name);
		list_near(&match, &name);
		return match;
	}
	match.device = &row->device;
	if (row->device.sm_count > 0 && traits->sm_count > 0)
		match.part = (double)traits->sm_count / row->device.sm_count;
	return match;
}

const char *tscope_precision_name(enum tscope_precision precision)
{
	static const char *const names[] = {
		[TSCOPE_PRECISION_UNKNOWN] = "unknown", [TSCOPE_PRECISION_FP64] = "fp64",
		[TSCOPE_PRECISION_FP32] = "fp32",       [TSCOPE_PRECISION_TF32] = "tf32",
		[TSCOPE_PRECISION_FP16] = "fp16",       [TSCOPE_PRECISION_BF16] = "bf16",
		[TSCOPE_PRECISION_FP8] = "fp8",         [TSCOPE_PRECISION_INT8] = "int8",
		[TSCOPE_PRECISION_FP4] = "fp4",
	};

	return (size_t)precision < TSI_COUNT_OF(names) ? names[precision] : "unknown";
}
