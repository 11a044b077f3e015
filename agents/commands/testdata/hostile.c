/* A bot of Block Battle that attacks in every one of its processes, and then plays, unless it is too greedy for that.
 * ATTACK is what it does, OUTSIDE a folder that is not its own. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
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

/* files in folders so deep that no path reaches them, until the disk is full */
static int deep(void) {
	static char block[1 << 20];
	const char *name = "dddddddddddddddddddddddddddddddddddddddddddddddddd";
	for (int k = 0; k < 100; k++)
		if (mkdir(name, 0700) != 0 || chdir(name) != 0)
			return 1;
	for (int fd = open("f", O_CREAT | O_WRONLY, 0600); write(fd, block, sizeof block) == sizeof block;)
		;
	return 1;
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
	if (IS("scout")) {
		const char *t = getenv("TMPDIR");
		if (t && rename(t, "../old") == 0 && symlink(OUTSIDE, t) == 0 && stat("../tmp/secret", &s) == 0)
			reached("../tmp/secret");
	}
	if (IS("scout") && inotify_add_watch(inotify_init(), OUTSIDE, IN_ALL_EVENTS) >= 0)
		reached("inotify");
	if (IS("scout") && fork() == 0) {
		char *none[] = {0};
		setsid();
		if (fork() == 0)
			execle("/bin/sleep", "sleep", NAP, (char *)0, none);
		_exit(0);
	}
	if (IS("deep"))
		return deep();
	while (fgets(line, sizeof line, stdin))
		if (strncmp(line, "action", 6) == 0) {
			puts("drop");
			fflush(stdout);
		}
	return 0;
}
