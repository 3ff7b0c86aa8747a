/* SPDX-License-Identifier: MIT */
/*
 * Runs a program one of whose system calls fails, whoever makes it: our code or the C library.
 *
 * usage: fail_call CALL N ERROR PROGRAM [ARGUMENT…]
 *
 * The N-th CALL, of all threads together, is not made and fails with the number ERROR. One below 0
 * is a signal's: the call is made, and the signal arrives as it returns. Standard error ends in a
 * line "fail_call: open 25 read 18 ... | what the failed one was about". Exit 77: there is no way
 * to do this here.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT = 77 };

#if defined(__x86_64__)

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

enum { NUMBERS_MAX = 3, THREADS_MAX = 64 };

/* What is called by a name here. path: which argument is one; -1: none. */
static const struct call {
	const char *name;
	int path;
	long numbers[NUMBERS_MAX];
} calls[] = {
	{ "open", 1, { SYS_openat, -1, -1 } },
	{ "read", -1, { SYS_read, SYS_pread64, -1 } },
	{ "readdir", -1, { SYS_getdents64, -1, -1 } },
	{ "stat", 1, { SYS_newfstatat, SYS_statx, -1 } },
	{ "lseek", -1, { SYS_lseek, -1, -1 } },
	{ "mmap", -1, { SYS_mmap, SYS_mremap, -1 } },
	{ "access", 0, { SYS_access, SYS_faccessat, SYS_faccessat2 } },
	{ "readlink", 0, { SYS_readlink, -1, -1 } },
	{ "write", -1, { SYS_write, SYS_writev, SYS_pwrite64 } },
	{ "fsync", -1, { SYS_fsync, SYS_fdatasync, -1 } },
	{ "close", -1, { SYS_close, -1, -1 } },
	{ "rename", 0, { SYS_rename, -1, -1 } },
	{ "mkdir", 0, { SYS_mkdir, -1, -1 } },
	{ "chmod", -1, { SYS_fchmod, -1, -1 } },
	{ "unlink", 0, { SYS_unlink, SYS_rmdir, -1 } },
	{ "fallocate", -1, { SYS_fallocate, -1, -1 } },
	{ "clone", -1, { SYS_clone, SYS_clone3, -1 } },
};

enum { CALL_COUNT = sizeof(calls) / sizeof(calls[0]) };

struct failure {
	const struct call *call;
	long at, counts[CALL_COUNT];
	long error;
	pid_t program;
	pid_t pid;                  /* the thread that made it, until it has failed */
	pid_t threads[THREADS_MAX]; /* inside a call */
	size_t thread_count;
	char about[256];
};

static const struct call *find_call(const char *name)
{
	for (size_t i = 0; i < CALL_COUNT; i++)
		if (strcmp(calls[i].name, name) == 0)
			return &calls[i];
	return NULL;
}

static const struct call *find_number(long number)
{
	for (size_t i = 0; i < CALL_COUNT; i++)
		for (size_t j = 0; j < NUMBERS_MAX; j++)
			if (calls[i].numbers[j] == number)
				return &calls[i];
	return NULL;
}

/* Each call stops its thread twice: before and after. */
static bool is_entry(struct failure *f, pid_t pid)
{
	for (size_t i = 0; i < f->thread_count; i++)
		if (f->threads[i] == pid) {
			f->threads[i] = f->threads[--f->thread_count];
			return false;
		}
	if (f->thread_count < THREADS_MAX)
		f->threads[f->thread_count++] = pid;
	return true;
}

static void describe(struct failure *f, pid_t pid, const struct user_regs_struct *of)
{
	uintptr_t at = (uintptr_t)(f->call->path == 0 ? of->rdi : of->rsi);
	struct iovec to = { f->about, sizeof(f->about) - 1 }, from = { (void *)at, to.iov_len };

	if (f->call->path >= 0 && process_vm_readv(pid, &to, 1, &from, 1, 0) > 0 && f->about[0])
		return;
	char link[64];

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)pid, (int)of->rdi);
	ssize_t length = readlink(link, f->about, sizeof(f->about) - 1);
	f->about[length > 0 ? length : 0] = '\0';
}

static void at_call(struct failure *f, pid_t pid)
{
	struct user_regs_struct registers;

	if (ptrace(PTRACE_GETREGS, pid, 0, &registers) != 0)
		return;
	if (!is_entry(f, pid)) {
		if (f->pid != pid)
			return;
		f->pid = 0;
		if (f->error < 0) {
			kill(f->program, (int)-f->error);
			return;
		}
		registers.rax = (unsigned long long)-f->error;
		ptrace(PTRACE_SETREGS, pid, 0, &registers);
		return;
	}
	const struct call *call = find_number((long)registers.orig_rax);
	if (!call || (++f->counts[call - calls] != f->at) || call != f->call)
		return;
	f->pid = pid;
	describe(f, pid, &registers);
	if (f->error < 0)
		return;
	registers.orig_rax = (unsigned long long)-1;
	ptrace(PTRACE_SETREGS, pid, 0, &registers);
}

/* The exit code that the program's would be in a shell. */
static int follow(struct failure *f)
{
	const pid_t program = f->program;
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
	int status;

	if (waitpid(program, &status, 0) != program || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, program, 0, options) != 0)
		return CANNOT;
	ptrace(PTRACE_SYSCALL, program, 0, 0);
	for (;;) {
		pid_t pid = waitpid(-1, &status, __WALL);
		int number = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;

		if (pid < 0)
			return CANNOT;
		if (pid == program && WIFEXITED(status))
			return WEXITSTATUS(status);
		if (pid == program && WIFSIGNALED(status))
			return 128 + WTERMSIG(status);
		if (number == (SIGTRAP | 0x80))
			at_call(f, pid);
		if (number == (SIGTRAP | 0x80) || number == SIGTRAP || number == SIGSTOP)
			number = 0;
		ptrace(PTRACE_SYSCALL, pid, 0, number);
	}
}

int main(int argc, char **argv)
{
	struct failure f = { .call = argc > 4 ? find_call(argv[1]) : NULL };

	if (!f.call)
		return fprintf(stderr, "usage: fail_call CALL N ERROR PROGRAM [ARGUMENT...]\n"), 2;
	f.at = atol(argv[2]);
	f.error = atol(argv[3]);
	f.program = fork();
	if (f.program == 0) {
		/* As in a shell that ignores none. */
		if (f.error < 0)
			signal((int)-f.error, SIG_DFL);
		if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0)
			_exit(CANNOT);
		execv(argv[4], argv + 4);
		_exit(127);
	}
	int code = f.program < 0 ? CANNOT : follow(&f);

	fprintf(stderr, "fail_call:");
	for (size_t i = 0; i < CALL_COUNT; i++)
		fprintf(stderr, " %s %ld", calls[i].name, f.counts[i]);
	fprintf(stderr, " | %s\n", f.about);
	return code;
}

#else

int main(void)
{
	return CANNOT;
}

#endif
