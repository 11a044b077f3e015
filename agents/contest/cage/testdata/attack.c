/* attack NAME ARGUMENT...: tries one way out, and prints "reached" if it was one. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *at(char **arg, int k) { return arg[k] ? arg[k] : ""; }

static int reads(const char *path) {
	char c;
	int fd = open(path, O_RDONLY);
	return fd >= 0 && read(fd, &c, 1) == 1;
}

static int inet(int type, const char *port, int out) {
	struct sockaddr_in a = {0};
	int fd = socket(AF_INET, type, 0);
	a.sin_family = AF_INET;
	a.sin_port = htons((unsigned short)atoi(port));
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0)
		return 0;
	if (!out)
		return bind(fd, (struct sockaddr *)&a, sizeof a) == 0 && listen(fd, 1) == 0;
	return connect(fd, (struct sockaddr *)&a, sizeof a) == 0 && send(fd, "x", 1, 0) == 1;
}

/* a name that begins with @ is an abstract one */
static socklen_t local(struct sockaddr_un *a, const char *name) {
	memset(a, 0, sizeof *a);
	a->sun_family = AF_UNIX;
	strncpy(a->sun_path, name, sizeof a->sun_path - 1);
	if (name[0] != '@')
		return sizeof *a;
	a->sun_path[0] = 0;
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
}

static int un(const char *name) {
	struct sockaddr_un a;
	socklen_t n = local(&a, name);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	return fd >= 0 && connect(fd, (struct sockaddr *)&a, n) == 0;
}

static int pair(const char *name) {
	struct sockaddr_un a;
	socklen_t n = local(&a, name);
	int fds[2];
	return socketpair(AF_UNIX, SOCK_DGRAM, 0, fds) == 0 && sendto(fds[0], "x", 1, 0, (struct sockaddr *)&a, n) == 1;
}

/* the same kernel by its other numbers, which a filter of system calls can overlook */
static int old(void) {
#ifdef __x86_64__
	long r;
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(359), "b"(AF_UNIX), "c"(SOCK_STREAM), "d"(0) : "memory", "r8", "r9", "r10", "r11");
	return r >= 0;
#else
	return 0;
#endif
}

static int fill(const char *folder, long files, long size) {
	static char block[1 << 20];
	char path[4096];
	for (long k = 0; k < files; k++) {
		snprintf(path, sizeof path, "%s/f%ld", folder, k);
		int fd = open(path, O_CREAT | O_WRONLY, 0600);
		if (fd < 0)
			return 0;
		for (long n = 0; n < size; n++)
			if (write(fd, block, sizeof block) != sizeof block)
				return 0;
		close(fd);
	}
	return 1;
}

static int bomb(long most) {
	for (long k = 0; k < most; k++) {
		pid_t p = fork();
		if (p < 0)
			return 0;
		if (p == 0) {
			pause();
			_exit(0);
		}
	}
	sleep(5); /* to be seen */
	return 1;
}

static int eat(long mib) {
	for (long k = 0; k < mib; k++) {
		char *p = malloc(1 << 20);
		if (!p)
			return 0;
		memset(p, 1, 1 << 20);
	}
	sleep(5);
	return 1;
}

static int daemonise(const char *nap) {
	if (fork() == 0) {
		setsid();
		if (fork() == 0)
			execlp("sleep", "sleep", nap, (char *)0);
		_exit(0);
	}
	return wait(0) > 0;
}

static int peek(pid_t pid) {
	char here[8];
	long there = 0;
	struct iovec a = {here, sizeof here}, b = {(void *)0, 8};
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	FILE *f = fopen(path, "r");
	if (!f || fscanf(f, "%lx", (unsigned long *)&there) != 1)
		return 0;
	b.iov_base = (void *)there;
	return process_vm_readv(pid, &a, 1, &b, 1, 0) > 0;
}

static int try(char **a) {
	const char *what = at(a, 1), *x = at(a, 2), *y = at(a, 3);
	struct timeval then[2] = {{1, 0}, {1, 0}};
	char path[4096];
#define IS(name) (strcmp(what, name) == 0)
	if (IS("read")) return reads(x);
	if (IS("list")) return open(x, O_RDONLY | O_DIRECTORY) >= 0;
	if (IS("append")) { int fd = open(x, O_WRONLY | O_APPEND); return fd >= 0 && write(fd, "x", 1) == 1; }
	if (IS("truncate")) return truncate(x, 0) == 0;
	if (IS("unlink")) return unlink(x) == 0;
	if (IS("rename")) { snprintf(path, sizeof path, "%s.old", x); return rename(x, path) == 0; }
	if (IS("chmod")) return chmod(x, 0777) == 0;
	if (IS("utimes")) return utimes(x, then) == 0;
	if (IS("create")) { snprintf(path, sizeof path, "%s/new", x); return open(path, O_CREAT | O_WRONLY, 0600) >= 0; }
	if (IS("symlink")) { unlink(y); return symlink(x, y) == 0 && reads(y); }
	if (IS("link")) { unlink(y); return link(x, y) == 0; }
	if (IS("tcp")) return inet(SOCK_STREAM, x, 1);
	if (IS("listen")) return inet(SOCK_STREAM, "0", 0);
	if (IS("udp")) return inet(SOCK_DGRAM, x, 1);
	if (IS("unix")) return un(x);
	if (IS("pair")) return pair(x);
	if (IS("old")) return old();
	if (IS("fork")) return bomb(atol(x));
	if (IS("memory")) return eat(atol(x));
	if (IS("file")) return fill(x, 1, atol(y));
	if (IS("files")) return fill(x, atol(y), 0);
	if (IS("disk")) { int r = fill(x, atol(y), 50); sleep(5); return r; }
	if (IS("ptrace")) return ptrace(PTRACE_SEIZE, atoi(x), 0, 0) == 0;
	if (IS("peek")) return peek(atoi(x));
	if (IS("kill")) return kill(atoi(x), SIGCONT) == 0;
	if (IS("daemon")) return daemonise(x);
	if (IS("fd")) return write(atoi(x), "x", 1) == 1;
	if (IS("env")) return getenv(x) != NULL;
	if (IS("mount")) return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && mount("x", "/tmp", "tmpfs", 0, "") == 0;
	if (IS("remount")) return mount("", "/", "", MS_REC | MS_PRIVATE, "") == 0;
	if (IS("key")) return syscall(SYS_add_key, "user", "attack", "x", 1L, -4L) >= 0;
	if (IS("uring")) { char p[256] = {0}; return syscall(SYS_io_uring_setup, 1L, p) >= 0; }
	if (IS("device")) return open(x, O_RDWR) >= 0;
	if (IS("shm")) return shmat(shmget((key_t)atol(x), 1, 0), 0, 0) != (void *)-1;
	if (IS("memfd")) return memfd_create("x", 0) >= 0;
	if (IS("root")) return chroot("/") == 0;
	if (IS("nothing")) return 0;
	fprintf(stderr, "no attack %s\n", what);
	exit(3);
}

int main(int argc, char **argv) {
	if (argc < 2)
		return 2;
	errno = 0;
	int r = try(argv);
	printf("%s %s\n", r ? "reached" : "contained", r ? "" : strerror(errno));
	return 0;
}
