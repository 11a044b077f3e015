/* misbehave.c - a solver that does what its options say, most of it wrong. */
#define WT_BUILD
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../submit/wintetris/wintetris.h"

#ifndef ABI
#define ABI WT_ABI
#endif

static char how[4096];
static long calls;
static int opened;

int32_t wt_abi_version(void) {
#ifdef HANG
	for (;;)
		sleep(1);
#endif
	return ABI;
}

static int is(const char *name) { return strcmp(how, name) == 0; }

int64_t wt_open(const char *options) {
	snprintf(how, sizeof how, "%s", options);
	opened++;
	calls = 0;
	if (is("open-null"))
		return 0;
	if (is("open-crash"))
		abort();
	return opened;
}

static int32_t act(const wt_field *f, int32_t new_piece) {
	volatile int *nowhere = NULL;
	if (is("conflict"))
		return calls == 3 ? WT_MOVELEFT | WT_MOVERIGHT | WT_ROTATECW | WT_ROTATECCW : WT_DROP;
	if (is("negative"))
		return calls % 2 ? -2 : WT_DROP;
	if (is("strange"))
		return calls % 2 ? -12345 : 0x7FFFFFE0 | WT_DROP;
	if (is("noise")) {
		printf("noise on standard output\n");
		fflush(stdout);
		return WT_DROP;
	}
	if (is("slow")) {
		if (calls % 4 == 0)
			usleep(60000);
		return WT_DROP;
	}
	if (strncmp(how, "waits for ", 10) == 0) { /* in every fourth call, until there is a file of this name */
		while (calls % 4 == 0 && access(how + 10, F_OK) != 0)
			usleep(1000);
		return WT_DROP;
	}
	if (is("fresh")) /* waits where it was not told of a new piece */
		return new_piece ? WT_DROP : 0;
	if (is("write")) /* does what const forbids */
		memset((void *)(size_t)f->cells, 1, 200);
	if (calls < 10)
		return WT_DROP;
	if (is("crash"))
		return *nowhere;
	if (is("abort"))
		abort();
	if (is("exit"))
		exit(7);
	if (is("close")) {
		close(3);
		close(4);
	}
	if (is("fork") && fork() == 0)
		for (;;)
			sleep(1);
	if (is("hang") || is("fork") || is("close"))
		for (;;)
			sleep(1);
	if (is("scribble"))
		return (int32_t)write(4, "\200", 1);
	return WT_DROP;
}

#ifndef NO_UPDATE
int32_t wt_update(int64_t solver, const wt_field *f, const wt_block *current, const wt_block *next,
                  int32_t new_piece) {
	calls++;
	if (solver != opened || f->size != sizeof *f || current->size != sizeof *current || next->size != sizeof *next)
		abort();
	return act(f, new_piece);
}
#endif

int32_t wt_close(int64_t solver) {
	if (solver != opened)
		abort();
	return 0;
}

int32_t wt_last_error(int64_t solver, char *buf, int32_t len) {
	(void)solver;
	return snprintf(buf, (size_t)len, "as \033[1mhe\nlikes: %s", how);
}
