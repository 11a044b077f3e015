/* attack NAME ARGUMENT...: tries one way out, and prints "reached" if it was one. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <linux/falloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
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

/* greed: each takes something and holds it until it is ended; 0 says that it was refused */

static int hold(void) {
	for (;;)
		pause();
	return 1;
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
	return hold();
}

/* files that have no name any more: open, or mapped */
static int unlinked(long files, long size, int mapped) {
	static char block[1 << 20];
	for (long k = 0; k < files; k++) {
		int fd = open("unlinked", O_CREAT | O_RDWR, 0600);
		if (fd < 0)
			return 0;
		for (long n = 0; n < size; n++)
			if (write(fd, block, sizeof block) != sizeof block)
				return 0;
		if (mapped && (mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED || close(fd) != 0))
			return 0;
		unlink("unlinked");
	}
	return hold();
}

/* folders in folders, until no path can name the last one */
static int deep(long folders, long size) {
	static char block[1 << 20];
	char name[201];
	memset(name, 'd', 200);
	name[200] = 0;
	for (long k = 0; k < folders; k++)
		if (mkdir(name, 0700) != 0 || chdir(name) != 0)
			return 0;
	int fd = open("f", O_CREAT | O_WRONLY, 0600);
	for (long n = 0; n < size; n++)
		if (write(fd, block, sizeof block) != sizeof block)
			return 0;
	return hold();
}

static int bomb(long most) {
	for (long k = 0; k < most; k++) {
		pid_t p = fork();
		if (p < 0)
			return 0;
		if (p == 0)
			hold();
	}
	return hold();
}

/* processes that make processes, each of which ends at once */
static int sparks(void) {
	for (;;) {
		pid_t p = fork();
		if (p > 0)
			_exit(0);
		if (p < 0)
			return 0;
	}
}

static int eat(long mib) {
	for (long k = 0; k < mib; k++) {
		char *p = malloc(1 << 20);
		if (!p)
			return 0;
		memset(p, 1, 1 << 20);
	}
	return hold();
}

/* shared memory that no process has mapped, but for a page of each: its pages stay */
static int share(long mib, int zero) {
	int flags = zero ? MAP_SHARED : MAP_SHARED | MAP_ANONYMOUS, fd = zero ? open("/dev/zero", O_RDWR) : -1;
	for (long k = 0; k < mib; k += 16) {
		size_t n = 16 << 20;
		char *p = mmap(0, n, PROT_READ | PROT_WRITE, flags, fd, 0);
		if (p == MAP_FAILED)
			return 0;
		memset(p, 1, n);
		munmap(p + 4096, n - 4096);
	}
	return hold();
}

/* pairs of sockets, full, or pipes for type 0, in processes each of which starts the next one */
static int sockets(long processes, long pairs, int type) {
	static char block[100000];
	for (;;) {
		for (long n = 0; n < pairs; n++) {
			int fds[2];
			if ((type ? socketpair(AF_UNIX, type, 0, fds) : pipe(fds)) != 0)
				return 0;
			while (send(fds[0], block, sizeof block, MSG_DONTWAIT) > 0)
				;
			close(fds[0]);
		}
		pid_t p = --processes > 0 ? fork() : -1;
		if (p != 0)
			return hold();
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
	}
}

static void *holds(void *mib) {
	for (long k = 0; k < *(long *)mib; k++)
		memset(malloc(1 << 20), 1, 1 << 20);
	hold();
	return mib;
}

/* a process whose first thread has ended: only the other one shows what it takes */
static int headless(long mib) {
	pthread_t p;
	static long much;
	much = mib;
	if (pthread_create(&p, 0, holds, &much) != 0)
		return 0;
	pthread_exit(0);
}

static int apart(void *v) {
	(void)v;
	return hold();
}

/* a thread whose open files are not those of its process */
static int split(void) {
	static char stack[1 << 16];
	return clone(apart, stack + sizeof stack, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD, 0) > 0;
}

/* children that have ended and that nobody asks for: they are no reason to be ended */
static int zombies(void) {
	for (int k = 0; k < 30; k++)
		if (fork() == 0)
			_exit(0);
	sleep(1); /* ten looks */
	return 1;
}

/* sockets that only a message holds */
static int flight(void) {
	int a[2], b[2];
	char c[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec text = {"x", 1};
	struct msghdr m = {0};
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, a) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, b) != 0)
		return 0;
	m.msg_iov = &text, m.msg_iovlen = 1, m.msg_control = c, m.msg_controllen = sizeof c;
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	h->cmsg_level = SOL_SOCKET, h->cmsg_type = SCM_RIGHTS, h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &b[0], sizeof(int));
	return sendmsg(a[0], &m, 0) == 1;
}

/* pages that only a pipe holds */
static int piped(void) {
	int fds[2];
	struct iovec page = {mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096};
	return pipe(fds) == 0 && vmsplice(fds[1], &page, 1, 0) == 4096;
}

/* tables for pages that hold nothing */
static int tables(long mib) {
	size_t each = 2 << 20, n = (size_t)mib * 256 * each; /* a table of 4 KiB for 2 MiB */
	volatile char *p = mmap(0, n, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return 0;
	madvise((void *)(uintptr_t)p, n, MADV_NOHUGEPAGE);
	for (size_t k = 0; k < n; k += each)
		(void)p[k];
	return hold();
}

/* mappings of memory, each of which takes time to look at and memory of the kernel */
static int mappings(long processes) {
	size_t page = 4096, n = 60000;
	char *p = mmap(0, n * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	for (size_t k = 0; p != MAP_FAILED && k < n; k += 2)
		mprotect(p + k * page, page, PROT_READ);
	while (--processes > 0 && fork() != 0)
		;
	return hold();
}

/* a program that others run as its user */
static int setid(void) {
	struct stat s;
	uint64_t how[3] = {O_CREAT | O_WRONLY, 06755, 0};
	syscall(437, AT_FDCWD, "a", how, sizeof how); /* openat2 */
	close(open("b", O_CREAT | O_WRONLY, 06755));
	mknod("c", S_IFREG | 06755, 0);
	close(open("d", O_CREAT | O_WRONLY, 0755));
	chmod("d", 06755);
	syscall(452, AT_FDCWD, "d", 06755, 0); /* fchmodat2 */
	char name[] = "a";
	while (*name < 'd' && (stat(name, &s) != 0 || (s.st_mode & 06000) == 0))
		++*name;
	return stat(name, &s) == 0 && (s.st_mode & 06000) != 0;
}

/* a process that may not be looked at, because its program may not be read */
static int hidden(const char *self, char **a) {
	char copy[] = "hidden";
	if (strcmp(at(a, 3), "now") == 0)
		return hold();
	int from = open(self, O_RDONLY), to = open(copy, O_CREAT | O_WRONLY, 0700);
	char block[1 << 16];
	for (ssize_t n; (n = read(from, block, sizeof block)) > 0;)
		if (write(to, block, (size_t)n) != n)
			return 0;
	close(to);
	chmod(copy, 0111);
	execl(copy, "attack", "hidden", "x", "now", (char *)0);
	return 0;
}

static int daemonise(const char *nap, int empty) {
	char *none[] = {0};
	if (fork() == 0) {
		setsid();
		setpgid(0, 0);
		if (fork() == 0) {
			if (empty)
				execle("/bin/sleep", "sleep", nap, (char *)0, none);
			execl("/bin/sleep", "sleep", nap, (char *)0);
		}
		_exit(0);
	}
	return wait(0) > 0;
}

/* the numbers on standard input are system calls: which of them does the kernel know? */
static int calls(long add) {
	long n, known = 0, asked = 0;
	for (; scanf("%ld", &n) == 1; asked++) {
		errno = 0;
		if (syscall(n + add, -1L, -1L, -1L, -1L, -1L, -1L) != -1 || errno != ENOSYS)
			printf("%ld ", n), known++;
	}
	printf("of %ld: ", asked);
	return known > 0;
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

/* whether there is a new process, which ends */
static int parent(long pid) {
	if (pid == 0)
		_exit(0);
	return pid > 0;
}

static int try(char **a) {
	const char *what = at(a, 1), *x = at(a, 2), *y = at(a, 3);
	struct timeval then[2] = {{1, 0}, {1, 0}};
	char path[4096];
#define IS(name) (strcmp(what, name) == 0)
#define IS2(name) (strcmp(y, name) == 0)
	if (IS("read")) return reads(x);
	if (IS("list")) return open(x, O_RDONLY | O_DIRECTORY) >= 0;
	if (IS("append")) { int fd = open(x, O_WRONLY | O_APPEND); return fd >= 0 && write(fd, "x", 1) == 1; }
	if (IS("truncate")) return truncate(x, 0) == 0;
	if (IS("unlink")) return unlink(x) == 0;
	if (IS("rename")) { snprintf(path, sizeof path, "%s.old", x); return rename(x, path) == 0; }
	if (IS("chmod")) return chmod(x, 0777) == 0;
	if (IS("chown")) return chown(x, getuid(), getgid()) == 0;
	if (IS("utimes")) return utimes(x, then) == 0;
	if (IS("touch")) return utimes(x, 0) == 0;
	if (IS("stat")) { struct stat s; return stat(x, &s) == 0; }
	if (IS("readlink")) return readlink(x, path, sizeof path) > 0;
	if (IS("inotify")) return inotify_add_watch(inotify_init(), x, IN_ALL_EVENTS) >= 0;
	if (IS("write")) return open(x, O_WRONLY) >= 0;
	if (IS("mknod")) return mknod("null", S_IFCHR | 0600, makedev(1, 3)) == 0;
	if (IS("xattr")) return setxattr(".", "user.x", "x", 1, 0) == 0;
	if (IS("beyond")) return fallocate(open("beyond", O_CREAT | O_RDWR, 0600), FALLOC_FL_KEEP_SIZE, 0, 1 << 20) == 0;
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
	if (IS("sparks")) return sparks();
	if (IS("memory")) return eat(atol(x));
	if (IS("share")) return share(atol(x), IS2("zero"));
	if (IS("sockets")) return sockets(atol(x), atol(y), SOCK_STREAM);
	if (IS("pipes")) return sockets(atol(x), atol(y), 0);
	if (IS("packets")) return sockets(atol(x), atol(y), SOCK_SEQPACKET);
	if (IS("headless")) return headless(atol(x));
	if (IS("split")) return split();
	if (IS("zombies")) return zombies();
	if (IS("flight")) return flight();
	if (IS("piped")) return piped();
	if (IS("mappings")) return mappings(atol(x));
	if (IS("setid")) return setid();
	if (IS("tables")) return tables(atol(x));
	if (IS("hidden")) return hidden(a[0], a);
	if (IS("files")) return fill(x, atol(y), 0);
	if (IS("file")) return fill(x, 1, atol(y));
	if (IS("disk")) return fill(x, atol(y), 50);
	if (IS("unlinked")) return unlinked(atol(x), 50, IS2("mapped"));
	if (IS("deep")) return deep(atol(x), atol(y));
	if (IS("calls")) return calls(atol(x));
	if (IS("ptrace")) return ptrace(PTRACE_SEIZE, atoi(x), 0, 0) == 0;
	if (IS("peek")) return peek(atoi(x));
	if (IS("kill")) return kill(atoi(x), SIGCONT) == 0;
	if (IS("limit")) return prlimit(atoi(x), RLIMIT_CORE, &(struct rlimit){0, 0}, 0) == 0;
	if (IS("nice")) return setpriority(PRIO_PROCESS, (id_t)atoi(x), 5) == 0;
	if (IS("pin")) { cpu_set_t s; CPU_ZERO(&s); CPU_SET(0, &s); return sched_setaffinity(atoi(x), sizeof s, &s) == 0; }
	if (IS("daemon")) return daemonise(x, IS2("empty"));
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
	if (IS("tree")) return syscall(467, AT_FDCWD, "/", 1L, 0L, 0L) >= 0; /* open_tree_attr */
	if (IS("clone")) return parent(syscall(SYS_clone, (long)CLONE_NEWUSER | SIGCHLD, 0L, 0L, 0L, 0L));
	if (IS("clone3")) { uint64_t c[11] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD}; return parent(syscall(SYS_clone3, c, sizeof c)); }
	if (IS("dumpable")) return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
	if (IS("nothing")) return 0;
	fprintf(stderr, "no attack %s\n", what);
	exit(3);
}

int main(int argc, char **argv) {
	if (argc < 2)
		return 2;
	signal(SIGXFSZ, SIG_IGN);
	errno = 0;
	int r = try(argv);
	fflush(stdout);
	printf("%s %s\n", r ? "reached" : "contained", r ? "" : strerror(errno));
	return 0;
}
