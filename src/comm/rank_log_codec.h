/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_COMM_RANK_LOG_CODEC_H
#define TSCOPE_COMM_RANK_LOG_CODEC_H

#include "base/codec.h"
#include "comm/rank_log.h"

/* The log must be initialised and empty. */
void tsi_code_rank_log(struct codec *codec, struct rank_log *log);

#endif
