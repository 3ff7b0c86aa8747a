/* SPDX-License-Identifier: MIT */
/* Every form of plain data. No include guard: it is included twice. */
PLAIN_READER(pickle)
PLAIN_READER(json)
PLAIN_READER(yaml)
PLAIN_READER(page)
PLAIN_READER(tracker)
