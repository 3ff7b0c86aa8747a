/* SPDX-License-Identifier: MIT */
/* Every reporter: name, end of its enumerator. No include guard: it is included twice. */
REPORTER(text, TEXT)
REPORTER(json, JSON)
