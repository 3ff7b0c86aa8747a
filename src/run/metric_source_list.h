/* SPDX-License-Identifier: MIT */
/* Every kind of files that metrics come in. No include guard: it is included twice. */
METRIC_SOURCE(csv)
METRIC_SOURCE(json)
METRIC_SOURCE(tensorboard)
METRIC_SOURCE(mlflow)
