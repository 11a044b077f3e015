/* random SEED N PATH...: makes N random operations on files and random system calls, on its own files and on the paths. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t state;

static uint64_t next(void) { /* splitmix64 */
	uint64_t z = (state += 0x9e3779b97f4a7c15u);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static uint64_t upto(uint64_t n) { return next() % n; }

static char **outside;
static int outsides;

static const char *parts[] = {"a", "b", "c", "bot", "..", ".", "../..", "/", "/bot", "/work", "/work/tmp", "/work/bot", "/tmp", "/proc/self",
	"/proc/self/cwd", "/proc/self/root", "/proc/self/exe", "/proc/1/root", "/proc/1/cwd", "/proc/self/fd/1", "/proc/self/mem",
	"/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/dev", "/dev/null", "/dev/zero", "/dev/shm", "/dev/fd", "/etc", "/etc/passwd",
	"/usr/bin", "/usr/bin/true", "/sys", "/var/tmp", "/root", "/home", "\n", "-rf", "d/e/f"};

/* a path of one or two parts, of which one may be outside */
static const char *path(void) {
	static char made[4][4096];
	static int at;
	char *p = made[at = (at + 1) % 4];
	int n = (int)(sizeof parts / sizeof *parts);
	if (outsides > 0 && upto(4) == 0)
		snprintf(p, 4096, "%s%s%s", outside[upto((uint64_t)outsides)], upto(2) ? "/" : "", upto(2) ? "a" : "");
	else if (upto(2))
		snprintf(p, 4096, "%s", parts[upto((uint64_t)n)]);
	else
		snprintf(p, 4096, "%s/%s", parts[upto((uint64_t)n)], parts[upto((uint64_t)n)]);
	return p;
}

static int fd(void) { return (int)upto(24); }

static void operation(void) {
	static char buffer[8192];
	struct timeval times[2] = {{(long)upto(1 << 30), 0}, {(long)upto(1 << 30), 0}};
	mode_t mode = (mode_t)upto(07777);
	switch (upto(34)) {
	case 0: case 1: case 2: case 3: open(path(), (int)upto(8) | O_CREAT * (int)upto(2) | O_NONBLOCK, mode); break;
	case 4: open(path(), O_RDWR | O_TRUNC | O_NONBLOCK); break;
	case 5: if (write(fd() + 3, buffer, upto(sizeof buffer)) < 0) errno = 0; break;
	case 6: if (read(fd() + 3, buffer, upto(sizeof buffer)) < 0) errno = 0; break;
	case 7: mkdir(path(), mode | 0700); break;
	case 8: rmdir(path()); break;
	case 9: unlink(path()); break;
	case 10: rename(path(), path()); break;
	case 11: if (link(path(), path()) < 0) errno = 0; break;
	case 12: case 13: if (symlink(path(), path()) < 0) errno = 0; break;
	case 14: chmod(path(), mode); break;
	case 15: if (chown(path(), (uid_t)upto(3) * 1000, 0) < 0) errno = 0; break;
	case 16: utimes(path(), times); break;
	case 17: if (truncate(path(), (off_t)upto(1 << 20)) < 0) errno = 0; break;
	case 18: if (chdir(path()) < 0) errno = 0; break;
	case 19: if (chdir("/work/bot") < 0) errno = 0; break;
	case 20: if (chroot(path()) < 0) errno = 0; break;
	case 21: mknod(path(), mode | (upto(2) ? S_IFIFO : S_IFCHR), makedev(1, 1 + upto(9))); break;
	case 22: close(3 + fd()); break;
	case 23: mmap(0, upto(1 << 20), (int)upto(8), (int)upto(64), 3 + fd(), 0); break;
	case 24: fchmod(3 + fd(), mode); break;
	case 25: flock(3 + fd(), (int)upto(16) | LOCK_NB); break;
	case 26: kill((pid_t)upto(100) + 1, upto(3) ? 0 : SIGUSR1); break;
	case 27: if (fork() == 0) _exit(0); break;
	case 28: while (waitpid(-1, 0, WNOHANG) > 0); break;
	case 29: rename("/work/bot", path()); break;
	case 30: rename("/work/tmp", path()); break;
	case 31: closedir(opendir(path()) ? opendir(".") : opendir("/")); break;
	default: { /* any system call but those that end or stop this process for good, or leave it deaf */
		long n = (long)upto(480), arg[6];
		static const long not[] = {SYS_exit, SYS_exit_group, SYS_pause, SYS_rt_sigsuspend, SYS_rt_sigreturn, SYS_vfork, SYS_clone,
			SYS_execve, SYS_execveat, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_brk, SYS_close_range, SYS_close, SYS_dup2, SYS_dup3,
			SYS_alarm, SYS_setitimer, SYS_timer_settime, SYS_rt_sigprocmask, SYS_select, SYS_poll, SYS_ppoll, SYS_pselect6, SYS_futex,
			SYS_nanosleep, SYS_clock_nanosleep, SYS_rt_sigtimedwait, SYS_wait4, SYS_waitid, SYS_epoll_wait, SYS_epoll_pwait, SYS_kill,
			SYS_tgkill, SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_madvise, SYS_pkey_mprotect, SYS_remap_file_pages,
			SYS_arch_prctl, SYS_set_tid_address, SYS_set_robust_list, SYS_prlimit64, SYS_setrlimit, SYS_futex_waitv, 335, 336,
			SYS_rseq, SYS_read, SYS_readv, SYS_preadv, SYS_preadv2, SYS_mmap, SYS_sigaltstack, SYS_rt_sigaction, 441, 455, 462, 453};
		for (unsigned k = 0; k < sizeof not / sizeof *not; k++)
			if (n == not[k])
				return;
		for (int k = 0; k < 6; k++)
			arg[k] = upto(3) == 0 ? (long)path() : upto(2) ? (long)upto(64) : (long)next();
		syscall(n, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	}
	}
}

int main(int argc, char **argv) {
	if (argc < 3)
		return 2;
	signal(SIGUSR1, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	state = strtoull(argv[1], 0, 10);
	outside = argv + 3;
	outsides = argc - 3;
	/* in children, which a wild call may end; together they make all operations */
	for (long left = atol(argv[2]); left > 0; left -= 100) {
		uint64_t seed = next();
		pid_t p = fork();
		if (p == 0) {
			state = seed;
			alarm(5);
			for (int k = 0; k < 100; k++)
				operation();
			_exit(0);
		}
		while (p > 0 && waitpid(p, 0, 0) < 0 && errno == EINTR)
			;
		while (waitpid(-1, 0, WNOHANG) > 0)
			;
	}
	puts("done");
	return 0;
}
