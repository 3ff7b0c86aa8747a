/* SPDX-License-Identifier: MIT */
/*
 * UTF-8 of hostile texts: decodes one code point at a time and says whether it
 * may be shown and how wide it is. Both writers (JSON, text) stand on this.
 */
#include "report/utf8.h"

#include "base/attributes.h"

struct range {
	uint32_t first, last;
};

/* Sorted. */
static const struct range unsafe_ranges[] = {
	{ 0x0000, 0x001F },   /* C0 */
	{ 0x007F, 0x009F },   /* DEL, C1 */
	{ 0x00AD, 0x00AD },   /* soft hyphen */
	{ 0x061C, 0x061C },   /* Arabic letter mark */
	{ 0x180E, 0x180E },   /* Mongolian vowel separator */
	{ 0x200B, 0x200F },   /* zero width, left-to-right and right-to-left marks */
	{ 0x2028, 0x202E },   /* separators; embeddings and overrides */
	{ 0x2060, 0x206F },   /* invisible operators, isolates */
	{ 0xFEFF, 0xFEFF },   /* byte-order mark */
	{ 0xFFF9, 0xFFFB },   /* interlinear annotation */
	{ 0xE0000, 0xE0FFF }, /* tags, variation selectors */
};

static const struct range combining_ranges[] = {
	{ 0x0300, 0x036F }, { 0x0483, 0x0489 }, { 0x0591, 0x05BD }, { 0x064B, 0x065F },
	{ 0x1AB0, 0x1AFF }, { 0x1DC0, 0x1DFF }, { 0x20D0, 0x20FF }, { 0x3099, 0x309A },
	{ 0xFE00, 0xFE0F }, { 0xFE20, 0xFE2F },
};

static const struct range wide_ranges[] = {
	{ 0x1100, 0x115F },   { 0x231A, 0x231B },   { 0x2329, 0x232A },   { 0x23E9, 0x23EC },
	{ 0x2E80, 0x303E },   { 0x3041, 0x33FF },   { 0x3400, 0x4DBF },   { 0x4E00, 0x9FFF },
	{ 0xA000, 0xA4CF },   { 0xA960, 0xA97F },   { 0xAC00, 0xD7A3 },   { 0xF900, 0xFAFF },
	{ 0xFE30, 0xFE6F },   { 0xFF01, 0xFF60 },   { 0xFFE0, 0xFFE6 },   { 0x17000, 0x18AFF },
	{ 0x1B000, 0x1B2FF }, { 0x1F300, 0x1F64F }, { 0x1F680, 0x1F6FF }, { 0x1F900, 0x1FAFF },
	{ 0x20000, 0x3FFFD },
};

static bool is_in(const struct range *ranges, size_t count, uint32_t code_point)
{
	for (size_t i = 0; i < count; i++) {
		if (code_point <= ranges[i].last)
			return code_point >= ranges[i].first;
	}
	return false;
}

/* Length of the sequence that this byte begins, 0 where none does. */
static size_t sequence_length(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xC2 && lead <= 0xDF)
		return 2;
	if (lead >= 0xE0 && lead <= 0xEF)
		return 3;
	return lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
}

/* The code point of a sequence of this length, or UTF8_INVALID. */
static uint32_t decode(const unsigned char *bytes, size_t length)
{
	static const unsigned char lead_mask[] = { 0, 0x7F, 0x1F, 0x0F, 0x07 };
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t code_point = bytes[0] & lead_mask[length];

	for (size_t i = 1; i < length; i++) {
		if ((bytes[i] & 0xC0) != 0x80)
			return UTF8_INVALID;
		code_point = code_point << 6 | (bytes[i] & 0x3F);
	}
	if (code_point < smallest[length] || code_point > 0x10FFFF ||
	    (code_point >= 0xD800 && code_point <= 0xDFFF))
		return UTF8_INVALID;
	return code_point;
}

uint32_t tsi_utf8_next(struct str *rest)
{
	const unsigned char *bytes = (const unsigned char *)rest->data;
	size_t length = sequence_length(bytes[0]);
	uint32_t code_point = UTF8_INVALID;

	if (length > 0 && length <= rest->length)
		code_point = decode(bytes, length);
	if (code_point == UTF8_INVALID)
		length = 1;
	rest->data += length;
	rest->length -= length;
	return code_point;
}

bool tsi_utf8_is_unsafe(uint32_t code_point)
{
	return code_point == UTF8_INVALID ||
	       is_in(unsafe_ranges, TSI_COUNT_OF(unsafe_ranges), code_point);
}

unsigned tsi_utf8_columns(uint32_t code_point)
{
	if (code_point < 0x300)
		return 1;
	if (is_in(combining_ranges, TSI_COUNT_OF(combining_ranges), code_point))
		return 0;
	return is_in(wide_ranges, TSI_COUNT_OF(wide_ranges), code_point) ? 2 : 1;
}
