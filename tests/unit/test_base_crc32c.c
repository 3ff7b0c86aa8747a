/* SPDX-License-Identifier: MIT */
/* base/crc32c.c: known checksums, and all lengths and alignments against one bit by bit. */
#include "base/crc32c.h"

#include <string.h>

#include "check.h"
#include "random_numbers.h"
#include "tfevents_writer.h"

/* RFC 3720, B.4, and the check value of the catalogue of CRCs. */
TEST(test_known)
{
	unsigned char bytes[32] = { 0 };

	assert_int_equal(tsi_crc32c(0, bytes, 0), 0);
	assert_int_equal(tsi_crc32c(0, "123456789", 9), 0xe3069283);
	assert_int_equal(tsi_crc32c(0, bytes, 32), 0x8a9136aa);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(tsi_crc32c(0, bytes, 32), 0x62a8ab43);
	for (unsigned i = 0; i < 32; i++)
		bytes[i] = (unsigned char)i;
	assert_int_equal(tsi_crc32c(0, bytes, 32), 0x46dd794e);
}

TEST(test_all_lengths)
{
	unsigned char bytes[80];
	uint64_t chance = 1;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)random_bits(&chance);
	for (size_t start = 0; start < 8; start++)
		for (size_t length = 0; start + length <= sizeof(bytes); length++) {
			uint32_t expected = tfevents_crc32c(bytes + start, length);
			size_t half = length / 2;
			uint32_t crc = tsi_crc32c(0, bytes + start, half);

			assert_int_equal(tsi_crc32c(0, bytes + start, length), expected);
			crc = tsi_crc32c(crc, bytes + start + half, length - half);
			assert_int_equal(crc, expected);
		}
}
