# Two steps against two tell nothing, be the change as large as it may.
tscope diff --full data/two_steps.json data/flops.json
