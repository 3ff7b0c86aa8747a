/* SPDX-License-Identifier: MIT */
/* The reader of snapshots in pages of torch's memory_viz. */
#include "decode/plain/plain_reader.h"

#include <string.h>

#include "check.h"
#include "plain_reading.h"

extern const struct plain_reader tsi_plain_reader_page;
static const struct plain_reader *const reader = &tsi_plain_reader_page;

#define PAGE(files)                                                                                \
	"\n<!DOCTYPE html>\n<html>\n<body>\n<script type=\"module\">\n"                            \
	"const local_files = " files "\n"                                                          \
	"add_local_files(local_files, \"Active Memory Timeline\")\n</script>\n</body>\n"

/*
 * In base64: the pickles "\x80\4]." ([]), "\x80\4K\7." (7) and "(K\1K\2e." with its list, each
 * with the bytes 0 that torch puts behind it.
 */
#define EMPTY_LIST "gARdLgAA"
#define SEVEN "gARLBy4A"
#define NUMBERS "XShLAUsCZS4A"
#define ENTRY(text) "{\"name\": \"snapshot.pickle\", \"base64\": \"" text "\"}"

static const struct plain_reading cases[] = {
	PLAIN_GOOD(PAGE("[" ENTRY(EMPTY_LIST) "]"), "[]"),
	PLAIN_GOOD(PAGE("[" ENTRY(SEVEN) "]"), "7"),
	PLAIN_GOOD(PAGE("[" ENTRY(NUMBERS) "]"), "[1, 2]"),
	PLAIN_GOOD(PAGE("[{\"base64\"\n:\t\"" SEVEN "\"}]"), "7"),
	PLAIN_GOOD(PAGE("[{\"base64\":\"gARLBy4=\"}]"), "7"), /* not filled up, but padded */
	PLAIN_GOOD(PAGE("[{\"base64\":1,\"base64\":\"" SEVEN "\"}]"), "7"),
	/* every digit: "\x80\4X<len>…" would be long; the bytes of +, / and the rest of a text */
	PLAIN_GOOD("<html>\"base64\":\"gASMA/v/vpQu\"", "'\\xfb\\xff\\xbe'"),
	PLAIN_GOOD(PAGE("[" ENTRY(SEVEN) ", " ENTRY(EMPTY_LIST) "]"), "7"),

	PLAIN_REFUSED("<html></html>", FORMAT, "an HTML page without a snapshot"),
	PLAIN_REFUSED(PAGE("[{\"base64\": [\"" SEVEN "\"]}]"), FORMAT,
		      "an HTML page without a snapshot"),
	PLAIN_REFUSED("<html>\"base64\"", FORMAT, "an HTML page without a snapshot"),
	PLAIN_REFUSED("<html><img src='data:image/png;base64,iVBORw0K'></html>", UNSUPPORTED,
		      "an HTML page with a picture and no data: export the memory timeline as "
		      ".json or .raw.json.gz (prof.export_memory_timeline(\"x.json\"))"),
	PLAIN_BAD("<html>\"base64\": \"gARd!\"", DAMAGED, 21,
		  "snapshot in an HTML page: base64: a character that does not belong to it"),
	PLAIN_BAD("<html>\"base64\": \"gAR", DAMAGED, 20,
		  "snapshot in an HTML page: base64: truncated: no closing quote"),
	/* places in the snapshot are its own: bytes of the pickle */
	PLAIN_BAD("<html>\"base64\": \"gARd\"", DAMAGED, 3,
		  "snapshot in an HTML page: pickle: truncated: ends without STOP"),
	PLAIN_BAD("<html>\"base64\": \"AAAA\"", FORMAT, 0,
		  "snapshot in an HTML page: not a pickle: begins with byte 0x00"),
	PLAIN_BAD("<html>\"base64\": \"\"", EMPTY, 0,
		  "snapshot in an HTML page: no pickle: no byte"),
};

TEST(test_cases)
{
	plain_check_readings(reader, cases, TSI_COUNT_OF(cases));
}

static const char page[] = PAGE("[" ENTRY(NUMBERS) "]");

TEST(test_cuts)
{
	plain_check_cuts(reader, page, sizeof(page) - 1, false);
}

TEST(test_allocations)
{
	plain_check_allocations(reader, page, sizeof(page) - 1);
}

/* What is told of a page besides its snapshot. */
TEST(test_counts)
{
	static const struct {
		const char *page;
		uint64_t further_count, trailing_bytes;
	} counts[] = {
		{ PAGE("[" ENTRY(SEVEN) "]"), 0, 0 },
		{ PAGE("[" ENTRY(SEVEN) ", " ENTRY(SEVEN) ", " ENTRY("!") "]"), 2, 0 },
		/* what follows STOP: 0 0 0 is filling, 0 0 0 0 is too much of it, N 0 is none */
		{ PAGE("[" ENTRY("gAROLgAAAA==") "]"), 0, 0 },
		{ PAGE("[" ENTRY("gAROLgAAAAA=") "]"), 0, 4 },
		{ PAGE("[" ENTRY("gAROLk4A") "]"), 0, 2 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(counts); i++) {
		struct plain *p = plain_read_good(reader, counts[i].page, strlen(counts[i].page));
		assert_int_equal(tsi_plain_further_count(p), counts[i].further_count);
		assert_int_equal(tsi_plain_trailing_bytes(p), counts[i].trailing_bytes);
		tsi_plain_free(p);
	}
}

/* What is looked for may begin at any byte of a block. */
TEST(test_places)
{
	static const char page_end[] = "<img src='data:image/png;base64,iVBO'>";
	char text[256] = "<html>";

	for (size_t filler = 0; filler < 64; filler++) {
		memset(text + 6, ' ', filler);
		memcpy(text + 6 + filler, page_end, sizeof(page_end));
		for (size_t block = 1; block < 20; block++) {
			struct tscope_error err = { 0 };
			assert_null(plain_read(reader, text, strlen(text), NULL, block, &err));
			assert_int_equal(err.status, TSCOPE_E_UNSUPPORTED);
		}
	}
}

TEST(test_limit)
{
	static const struct plain_limits limits = { .max_text_bytes = 2 };
	static const char text[] = "<html>\"base64\":\"gASMA/v/vpQu\"";
	struct tscope_error err = { 0 };

	assert_null(plain_read(reader, text, sizeof(text) - 1, &limits, 0, &err));
	assert_int_equal(err.status, TSCOPE_E_LIMIT);
	assert_string_equal(err.message, "snapshot in an HTML page: SHORT_BINUNICODE: a text of "
					 "more than 2 bytes (limit: text bytes)");
}

TEST(test_taste)
{
	static const struct {
		const char *head;
		bool is_page;
	} heads[] = {
		{ "\n<!DOCTYPE html>\n", true },
		{ "<!doctype HTML ", true },
		{ "<HTML>", true },
		{ "\xef\xbb\xbf<html>", true },
		{ "<htm", false },
		{ "<?xml", false },
		{ "x<html>", false },
		{ "", false },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(heads); i++)
		assert_int_equal(reader->taste(tsi_str_of(heads[i].head)) > 0, heads[i].is_page);
}
