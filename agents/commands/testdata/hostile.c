/* A bot of Block Battle that attacks in every one of its processes, and then plays, unless it is too greedy for that.
 * ATTACK is what it does, OUTSIDE a folder that is not its own. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define IS(name) (strcmp(ATTACK, name) == 0)

static int reached(const char *what) {
	fprintf(stderr, "REACHED by %s: %s\n", ATTACK, what);
	return 0;
}

/* whatever it does, it looks whether the folder is there, and writes it */
static int look(void) {
	struct stat s;
	char path[4096];
	for (int k = 0; k < 3; k++) {
		static const char *const names[] = {"/secret", "/out/journal.jsonl", "/subs"};
		snprintf(path, sizeof path, "%s%s", OUTSIDE, names[k]);
		if (stat(path, &s) == 0)
			reached(path);
	}
	snprintf(path, sizeof path, "%s/WRITTEN", OUTSIDE);
	if (open(path, O_CREAT | O_WRONLY, 0666) >= 0)
		reached(path);
	return 0;
}

static int replace(const char *with) {
	return rename("bot.host", "mine") == 0 && symlink(with, "bot.host") == 0;
}

static int greedy(void) {
	static char block[1 << 20];
	if (IS("unlinked"))
		for (int k = 0; k < 20; k++) {
			int fd = open("u", O_CREAT | O_RDWR, 0600);
			unlink("u");
			for (int m = 0; m < 100; m++)
				if (write(fd, block, sizeof block) != sizeof block)
					return 1;
		}
	if (IS("deep")) {
		for (int k = 0; k < 100; k++)
			if (mkdir("dddddddddddddddddddddddddddddddddddddddddddddddddd", 0700) != 0 || chdir("dddddddddddddddddddddddddddddddddddddddddddddddddd") != 0)
				return 1;
		for (int fd = open("f", O_CREAT | O_WRONLY, 0600); write(fd, block, sizeof block) == sizeof block;)
			;
		return 1;
	}
	if (IS("shared")) {
		for (int k = 0; k < 64; k++) {
			char *p = mmap(0, 64 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
			if (p == MAP_FAILED)
				return 1;
			memset(p, 1, 64 << 20);
			madvise(p, 64 << 20, MADV_DONTNEED);
		}
		return 1;
	}
	if (IS("sockets")) {
		for (;;) {
			int fds[2];
			if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0)
				pause();
			while (send(fds[0], block, 65536, MSG_DONTWAIT) > 0)
				;
		}
	}
	return 0;
}

int main(void) {
	char line[1 << 16];
	struct stat s;
	look();
	if (IS("cwdlink")) replace("/proc/self/cwd/mine");
	if (IS("thief")) replace("../rival/bot.host");
	if (IS("suicide")) unlink("bot.host");
	if (IS("race") && fork() == 0) {
		for (int k = 0; k < 2000; k++)
			chmod("bot.host", k % 2 ? 0700 : 0);
		_exit(0);
	}
	if (IS("scratch")) {
		const char *t = getenv("TMPDIR");
		if (t && rename(t, "../old") == 0 && symlink(OUTSIDE, t) == 0 && stat("../tmp/secret", &s) == 0)
			reached("../tmp/secret");
	}
	if (IS("spy") && inotify_add_watch(inotify_init(), OUTSIDE, IN_ALL_EVENTS) >= 0)
		reached("inotify");
	if (IS("tree") && (syscall(467, AT_FDCWD, "/", 1L, 0L, 0L) >= 0 || errno != ENOSYS))
		reached("open_tree_attr");
	if (IS("daemon") && fork() == 0) {
		char *none[] = {0};
		setsid();
		if (fork() == 0)
			execle("/bin/sleep", "sleep", NAP, (char *)0, none);
		_exit(0);
	}
	if (greedy())
		return 1;
	while (fgets(line, sizeof line, stdin))
		if (strncmp(line, "action", 6) == 0) {
			puts("drop");
			fflush(stdout);
		}
	return 0;
}
