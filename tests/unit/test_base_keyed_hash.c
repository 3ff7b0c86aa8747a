/* SPDX-License-Identifier: MIT */
/* base/keyed_hash.c: the values that its authors published for their key. */
#include "base/keyed_hash.h"

#include "base/attributes.h"
#include "check.h"

TEST(published)
{
	static const struct hash_key key = { { 0x0706050403020100u, 0x0f0e0d0c0b0a0908u } };
	static const char message[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 };

	assert_int_equal(tsi_keyed_hash(&key, (struct str){ message, 0 }), 0x726fdb47dd0e0e31u);
	assert_int_equal(tsi_keyed_hash(&key, (struct str){ message, 15 }), 0xa129ca6149be45e5u);
	assert_int_equal(tsi_keyed_hash(&key, (struct str){ message, 8 }), 0x93f5f5799a932462u);
}

TEST(passphrases)
{
	static const char *const phrases[] = { "", "a", "b", "a longer one, of many words" };

	for (size_t i = 0; i < TSI_COUNT_OF(phrases); i++) {
		struct hash_key one = tsi_hash_key(tsi_str_of(phrases[i]));

		assert_true(one.words[0] != one.words[1]);
		for (size_t j = 0; j < i; j++) {
			struct hash_key other = tsi_hash_key(tsi_str_of(phrases[j]));

			assert_true(one.words[0] != other.words[0]);
			assert_true(tsi_keyed_hash(&one, TSI_STR("secret")) !=
				    tsi_keyed_hash(&other, TSI_STR("secret")));
		}
	}
}
