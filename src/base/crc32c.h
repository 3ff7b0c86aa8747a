/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_CRC32C_H
#define TSCOPE_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32C (Castagnoli, RFC 3720) of bytes that follow those which crc is of; 0 to begin with. */
uint32_t tsi_crc32c(uint32_t crc, const void *data, size_t length);

#endif
