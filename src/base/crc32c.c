/* SPDX-License-Identifier: MIT */
/*
 * CRC-32C: with the instruction for it where the machine has one, else half a byte at a time
 * from a table.
 */
#include "base/crc32c.h"

#include <string.h>

/* For the polynomial 0x1edc6f41 with its bits reversed, as the bits of the data are. */
static const uint32_t nibbles[16] = {
	0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
	0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
	0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

static uint32_t update_plain(uint32_t crc, const unsigned char *data, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		crc ^= data[i];
		crc = crc >> 4 ^ nibbles[crc & 15];
		crc = crc >> 4 ^ nibbles[crc & 15];
	}
	return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t
update_sse42(uint32_t crc, const unsigned char *data, size_t length)
{
	uint64_t wide = crc, word;

	for (; length >= sizeof(word); data += sizeof(word), length -= sizeof(word)) {
		memcpy(&word, data, sizeof(word));
		wide = __builtin_ia32_crc32di(wide, word);
	}
	return update_plain((uint32_t)wide, data, length);
}
#endif

uint32_t tsi_crc32c(uint32_t crc, const void *data, size_t length)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("sse4.2"))
		return ~update_sse42(~crc, data, length);
#endif
	return ~update_plain(~crc, data, length);
}
