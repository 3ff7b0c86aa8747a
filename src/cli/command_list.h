/* SPDX-License-Identifier: MIT */
/* Every command, in the order of --help. No include guard: it is included twice. */
COMMAND(report)
COMMAND(trace)
COMMAND(memory)
COMMAND(hang)
COMMAND(diff)
COMMAND(trend)
COMMAND(export)
COMMAND(map)
COMMAND(merge)
COMMAND(slice)
COMMAND(rules)
COMMAND(config)
