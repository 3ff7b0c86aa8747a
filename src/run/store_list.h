/* SPDX-License-Identifier: MIT */
/* Every store of step records. No include guard: it is included twice. */
STORE(steps_jsonl)
