/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_PRINT_DEVICES_H
#define TSCOPE_CLI_PRINT_DEVICES_H

/* Every device of the table: its peaks, its memory, and where the figures come from. */
void print_devices(void);

#endif
