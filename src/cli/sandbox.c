/* SPDX-License-Identifier: MIT */
/*
 * Landlock for files, seccomp for system calls, by raw system calls. Calls are refused with EPERM:
 * nothing here is needed by a program that does its work, so one that asks has been taken over.
 * The sanitizers' runtime needs some of it, and other systems have none: there it does nothing.
 */
#define _GNU_SOURCE /* syscall(), O_PATH */
#include "sandbox.h"

#include "sanitized.h"

#if IS_SANITIZED || !defined(__linux__) || !(defined(__x86_64__) || defined(__aarch64__)) ||       \
	!__has_include(<linux/landlock.h>)
#define HAS_NO_SANDBOX 1
#endif

#ifdef HAS_NO_SANDBOX

void sandbox_enter(const char *const *outputs, size_t count)
{
	(void)outputs;
	(void)count;
}

#else

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- files ---- */

/* Bits of newer kernels by number: the headers may be older. */
enum {
	WRITE_BITS = LANDLOCK_ACCESS_FS_WRITE_FILE | 1 << 14, /* truncate: version 3 */
	FOLDER_BITS = WRITE_BITS | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
		      LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR,
	ALL_BITS = FOLDER_BITS | LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
		   LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
		   LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM |
		   1 << 13 | /* moving to other folders: version 2 */
		   1 << 15,  /* controlling devices: version 5 */
};

static uint64_t bits_of_version(long version)
{
	return ALL_BITS & ~((version < 2 ? 1u << 13 : 0) | (version < 3 ? 1u << 14 : 0) |
			    (version < 5 ? 1u << 15 : 0));
}

static void allow(int rules, int fd, uint64_t bits)
{
	struct landlock_path_beneath_attr rule = { .allowed_access = bits, .parent_fd = fd };

	if (fd < 0)
		return;
	(void)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
	close(fd);
}

/* The folder that a file is in, or the nearest one that is there already. */
static int open_folder_of(char *path)
{
	for (;;) {
		char *slash = strrchr(path, '/');
		int fd;

		if (!slash)
			return open(".", O_PATH | O_CLOEXEC);
		slash[slash == path] = '\0';
		fd = open(path, O_PATH | O_CLOEXEC);
		if (fd >= 0 || slash == path)
			return fd;
	}
}

/* A device or pipe is written itself; of anything else the folder, where temporary files go. */
static void allow_output(int rules, const char *path, uint64_t handled)
{
	struct stat status;
	bool exists = stat(path, &status) == 0;
	char *copy;

	if (exists && (S_ISDIR(status.st_mode) || !S_ISREG(status.st_mode))) {
		allow(rules, open(path, O_PATH | O_CLOEXEC),
		      handled & (S_ISDIR(status.st_mode) ? FOLDER_BITS : WRITE_BITS | 1u << 15));
		return;
	}
	copy = exists ? realpath(path, NULL) : strdup(path);
	if (copy)
		allow(rules, open_folder_of(copy), handled & FOLDER_BITS);
	free(copy);
}

static void restrict_files(const char *const *outputs, size_t count)
{
	long version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	struct landlock_ruleset_attr attr = { .handled_access_fs = bits_of_version(version) };
	int rules;

	if (version < 1)
		return;
	rules = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr.handled_access_fs), 0);
	if (rules < 0)
		return;
	for (size_t i = 0; i < count; i++)
		if (outputs[i])
			allow_output(rules, outputs[i], attr.handled_access_fs);
	(void)syscall(SYS_landlock_restrict_self, rules, 0);
	close(rules);
}

/* ---- system calls ---- */

#ifdef __x86_64__
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* Everything that runs, reaches or changes something else than this process and its files. */
static const int refused_calls[] = {
	SYS_execve,
	SYS_execveat,
	SYS_ptrace,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_socket,
	SYS_socketpair,
	SYS_connect,
	SYS_bind,
	SYS_listen,
	SYS_accept,
	SYS_accept4,
	SYS_sendto,
	SYS_sendmsg,
	SYS_sendmmsg,
	SYS_mount,
	SYS_umount2,
	SYS_pivot_root,
	SYS_chroot,
	SYS_unshare,
	SYS_setns,
	SYS_bpf,
	SYS_perf_event_open,
	SYS_userfaultfd,
	SYS_keyctl,
	SYS_add_key,
	SYS_request_key,
	SYS_init_module,
	SYS_finit_module,
	SYS_kexec_load,
	SYS_reboot,
	SYS_swapon,
	SYS_setuid,
	SYS_setgid,
	SYS_setgroups,
	SYS_open_by_handle_at,
	SYS_personality,
	425 /* io_uring_setup */,
	438 /* pidfd_getfd */,
};

enum { REFUSED_COUNT = sizeof(refused_calls) / sizeof(refused_calls[0]) };

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define SKIP_UNLESS(value, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count)
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, value)
#define REFUSE(error) ANSWER(SECCOMP_RET_ERRNO | (error))

enum { CLONE3 = 435 };

/*
 * Threads may be made, processes not: that is in clone()'s flags. A filter cannot see those of
 * clone3(), so it fails with ENOSYS, as if the system had none.
 */
static void restrict_calls(void)
{
	static const struct sock_filter head[] = {
		LOAD(arch),
		SKIP_UNLESS(OWN_ARCHITECTURE, 1),
		BPF_STMT(BPF_JMP | BPF_JA, 1),
		REFUSE(EPERM),
		LOAD(nr),
#ifdef __x86_64__
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
		REFUSE(EPERM),
		SKIP_UNLESS(SYS_fork, 1),
		REFUSE(EPERM),
		SKIP_UNLESS(SYS_vfork, 1),
		REFUSE(EPERM),
#endif
		SKIP_UNLESS(CLONE3, 1),
		REFUSE(ENOSYS),
		SKIP_UNLESS(SYS_clone, 4),
		LOAD(args[0]),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
		REFUSE(EPERM),
		ANSWER(SECCOMP_RET_ALLOW),
	};
	enum { HEAD_COUNT = sizeof(head) / sizeof(head[0]) };
	struct sock_filter filter[HEAD_COUNT + 2 * REFUSED_COUNT + 1];
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	memcpy(filter, head, sizeof(head));
	for (size_t i = 0; i < REFUSED_COUNT; i++) {
		filter[HEAD_COUNT + 2 * i] =
			(struct sock_filter)SKIP_UNLESS((uint32_t)refused_calls[i], 1);
		filter[HEAD_COUNT + 2 * i + 1] = (struct sock_filter)REFUSE(EPERM);
	}
	filter[HEAD_COUNT + 2 * REFUSED_COUNT] = (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW);
	(void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

void sandbox_enter(const char *const *outputs, size_t count)
{
	/* The kernel wants it of those who are not root. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return;
	restrict_files(outputs, count);
	restrict_calls();
}

#endif
