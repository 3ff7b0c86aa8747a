/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_SIMD_H
#define TSCOPE_DECODE_SIMD_H

/*
 * The few things that are asked of a vector unit, for each of them once. scan.c
 * is compiled once for each instruction set with TSI_SCAN_<ISA> defined; without, it
 * is the one that every machine of the architecture has. All answers are bit
 * masks: bit i speaks of byte p[i].
 *
 *	simd_special32(p)     bytes that end a run of plain string text: " \ and < 0x20
 *	simd_equal32(p, q)    bytes of p that equal those of q
 *	simd_same32(p, q)     whether all of them do
 *	struct simd64         64 bytes in registers
 *	simd64_equal(b, c)    bytes that are c
 *	simd64_control(b)     bytes that are < 0x20
 *	simd_prefix_xor(m)    bit i = xor of bits 0..i of m: with m = quotes, 1 inside strings
 *
 * To add an instruction set: a section here, a row in scan_table.c and one in meson.build.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if !defined(TSI_SCAN_AVX2) && !defined(TSI_SCAN_SSE2) && !defined(TSI_SCAN_NEON) &&               \
	!defined(TSI_SCAN_PLAIN)
#if defined(__x86_64__)
#define TSI_SCAN_SSE2 1
#elif defined(__aarch64__)
#define TSI_SCAN_NEON 1
#endif
#endif

static inline uint64_t prefix_xor_by_shifts(uint64_t mask)
{
	mask ^= mask << 1;
	mask ^= mask << 2;
	mask ^= mask << 4;
	mask ^= mask << 8;
	mask ^= mask << 16;
	return mask ^ mask << 32;
}

#if defined(TSI_SCAN_AVX2)

#include <immintrin.h>

struct simd64 {
	__m256i low, high;
};

static inline __m256i load32(const char *p)
{
	return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

static inline uint32_t mask32(__m256i bytes)
{
	return (uint32_t)_mm256_movemask_epi8(bytes);
}

static inline uint32_t simd_special32(const char *p)
{
	__m256i text = load32(p);
	__m256i quote = _mm256_cmpeq_epi8(text, _mm256_set1_epi8('"'));
	__m256i backslash = _mm256_cmpeq_epi8(text, _mm256_set1_epi8('\\'));
	__m256i control = _mm256_cmpeq_epi8(_mm256_min_epu8(text, _mm256_set1_epi8(0x1f)), text);
	return mask32(_mm256_or_si256(_mm256_or_si256(quote, backslash), control));
}

static inline uint32_t simd_equal32(const char *p, const char *q)
{
	return mask32(_mm256_cmpeq_epi8(load32(p), load32(q)));
}

static inline bool simd_same32(const char *p, const char *q)
{
	return simd_equal32(p, q) == UINT32_MAX;
}

static inline struct simd64 simd64_load(const char *p)
{
	return (struct simd64){ load32(p), load32(p + 32) };
}

static inline uint64_t simd64_equal(struct simd64 block, char c)
{
	__m256i wanted = _mm256_set1_epi8(c);
	return mask32(_mm256_cmpeq_epi8(block.low, wanted)) |
	       (uint64_t)mask32(_mm256_cmpeq_epi8(block.high, wanted)) << 32;
}

static inline uint64_t simd64_control(struct simd64 block)
{
	__m256i last = _mm256_set1_epi8(0x1f);
	return mask32(_mm256_cmpeq_epi8(_mm256_min_epu8(block.low, last), block.low)) |
	       (uint64_t)mask32(_mm256_cmpeq_epi8(_mm256_min_epu8(block.high, last), block.high))
		       << 32;
}

/* A carry-less product with all ones adds (xors) up all lower bits in one instruction. */
static inline uint64_t simd_prefix_xor(uint64_t mask)
{
	__m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, (int64_t)mask),
					       _mm_set1_epi8((char)0xff), 0);
	return (uint64_t)_mm_cvtsi128_si64(product);
}

#elif defined(TSI_SCAN_SSE2)

#include <emmintrin.h>

struct simd64 {
	__m128i part[4];
};

static inline __m128i load16(const char *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline uint32_t special16(const char *p)
{
	__m128i text = load16(p);
	__m128i quote = _mm_cmpeq_epi8(text, _mm_set1_epi8('"'));
	__m128i backslash = _mm_cmpeq_epi8(text, _mm_set1_epi8('\\'));
	__m128i control = _mm_cmpeq_epi8(_mm_min_epu8(text, _mm_set1_epi8(0x1f)), text);
	return (uint32_t)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), control));
}

static inline uint32_t simd_special32(const char *p)
{
	return special16(p) | special16(p + 16) << 16;
}

static inline uint32_t simd_equal32(const char *p, const char *q)
{
	uint32_t low = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(load16(p), load16(q)));
	uint32_t high = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(load16(p + 16), load16(q + 16)));
	return low | high << 16;
}

static inline bool simd_same32(const char *p, const char *q)
{
	__m128i low = _mm_cmpeq_epi8(load16(p), load16(q));
	__m128i high = _mm_cmpeq_epi8(load16(p + 16), load16(q + 16));
	return _mm_movemask_epi8(_mm_and_si128(low, high)) == 0xffff;
}

static inline struct simd64 simd64_load(const char *p)
{
	return (struct simd64){ { load16(p), load16(p + 16), load16(p + 32), load16(p + 48) } };
}

static inline uint64_t simd64_equal(struct simd64 block, char c)
{
	__m128i wanted = _mm_set1_epi8(c);
	uint64_t mask = 0;
	for (int i = 0; i < 4; i++)
		mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(block.part[i], wanted))
			<< (16 * i);
	return mask;
}

static inline uint64_t simd64_control(struct simd64 block)
{
	__m128i last = _mm_set1_epi8(0x1f);
	uint64_t mask = 0;
	for (int i = 0; i < 4; i++) {
		__m128i is_low = _mm_cmpeq_epi8(_mm_min_epu8(block.part[i], last), block.part[i]);
		mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(is_low) << (16 * i);
	}
	return mask;
}

static inline uint64_t simd_prefix_xor(uint64_t mask)
{
	return prefix_xor_by_shifts(mask);
}

#elif defined(TSI_SCAN_NEON)

#include <arm_neon.h>

struct simd64 {
	uint8x16_t part[4];
};

/* Bytes of 0x00 or 0xff, each weighed by its bit: eight neighbours add up to a byte of a mask. */
static inline uint8x16_t weigh(uint8x16_t bytes)
{
	static const uint8_t weights[16] = { 1, 2, 4, 8, 16, 32, 64, 128,
					     1, 2, 4, 8, 16, 32, 64, 128 };
	return vandq_u8(bytes, vld1q_u8(weights));
}

static inline uint32_t mask32(uint8x16_t low, uint8x16_t high)
{
	uint8x16_t sums = vpaddq_u8(weigh(low), weigh(high));
	sums = vpaddq_u8(sums, sums);
	sums = vpaddq_u8(sums, sums);
	return vgetq_lane_u32(vreinterpretq_u32_u8(sums), 0);
}

static inline uint64_t mask64(const uint8x16_t part[4])
{
	uint8x16_t sums = vpaddq_u8(vpaddq_u8(weigh(part[0]), weigh(part[1])),
				    vpaddq_u8(weigh(part[2]), weigh(part[3])));
	sums = vpaddq_u8(sums, sums);
	return vgetq_lane_u64(vreinterpretq_u64_u8(sums), 0);
}

static inline uint8x16_t load16(const char *p)
{
	return vld1q_u8((const uint8_t *)p);
}

static inline uint8x16_t special16(const char *p)
{
	uint8x16_t text = load16(p);
	uint8x16_t quote = vceqq_u8(text, vdupq_n_u8('"'));
	uint8x16_t backslash = vceqq_u8(text, vdupq_n_u8('\\'));
	uint8x16_t control = vcltq_u8(text, vdupq_n_u8(0x20));
	return vorrq_u8(vorrq_u8(quote, backslash), control);
}

static inline uint32_t simd_special32(const char *p)
{
	return mask32(special16(p), special16(p + 16));
}

static inline uint32_t simd_equal32(const char *p, const char *q)
{
	return mask32(vceqq_u8(load16(p), load16(q)), vceqq_u8(load16(p + 16), load16(q + 16)));
}

/* A mask is dear here. */
static inline bool simd_same32(const char *p, const char *q)
{
	uint8x16_t differing =
		vorrq_u8(veorq_u8(load16(p), load16(q)), veorq_u8(load16(p + 16), load16(q + 16)));
	return vmaxvq_u32(vreinterpretq_u32_u8(differing)) == 0;
}

static inline struct simd64 simd64_load(const char *p)
{
	return (struct simd64){ { load16(p), load16(p + 16), load16(p + 32), load16(p + 48) } };
}

static inline uint64_t simd64_equal(struct simd64 block, char c)
{
	uint8x16_t wanted = vdupq_n_u8((uint8_t)c), found[4];
	for (int i = 0; i < 4; i++)
		found[i] = vceqq_u8(block.part[i], wanted);
	return mask64(found);
}

static inline uint64_t simd64_control(struct simd64 block)
{
	uint8x16_t found[4];
	for (int i = 0; i < 4; i++)
		found[i] = vcltq_u8(block.part[i], vdupq_n_u8(0x20));
	return mask64(found);
}

static inline uint64_t simd_prefix_xor(uint64_t mask)
{
	return prefix_xor_by_shifts(mask);
}

#else /* plain C: no vector unit needed, and the yardstick of the tests for the others */

struct simd64 {
	unsigned char byte[64];
};

static inline uint32_t simd_special32(const char *p)
{
	uint32_t mask = 0;
	for (int i = 0; i < 32; i++)
		mask |= (uint32_t)(p[i] == '"' || p[i] == '\\' || (unsigned char)p[i] < 0x20) << i;
	return mask;
}

static inline uint32_t simd_equal32(const char *p, const char *q)
{
	uint32_t mask = 0;
	for (int i = 0; i < 32; i++)
		mask |= (uint32_t)(p[i] == q[i]) << i;
	return mask;
}

static inline bool simd_same32(const char *p, const char *q)
{
	return memcmp(p, q, 32) == 0;
}

static inline struct simd64 simd64_load(const char *p)
{
	struct simd64 block;
	memcpy(block.byte, p, sizeof(block.byte));
	return block;
}

static inline uint64_t simd64_equal(struct simd64 block, char c)
{
	uint64_t mask = 0;
	for (int i = 0; i < 64; i++)
		mask |= (uint64_t)(block.byte[i] == (unsigned char)c) << i;
	return mask;
}

static inline uint64_t simd64_control(struct simd64 block)
{
	uint64_t mask = 0;
	for (int i = 0; i < 64; i++)
		mask |= (uint64_t)(block.byte[i] < 0x20) << i;
	return mask;
}

static inline uint64_t simd_prefix_xor(uint64_t mask)
{
	return prefix_xor_by_shifts(mask);
}

#endif
#endif
