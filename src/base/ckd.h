/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_CKD_H
#define TSCOPE_BASE_CKD_H

/*
 * Checked arithmetic for sizes and times that an input chose: true when the
 * exact result does not fit into *result (C23's ckd_add, which C11 lacks).
 */
#define tsi_ckd_add(result, a, b) __builtin_add_overflow((a), (b), (result))
#define tsi_ckd_sub(result, a, b) __builtin_sub_overflow((a), (b), (result))
#define tsi_ckd_mul(result, a, b) __builtin_mul_overflow((a), (b), (result))

#endif
