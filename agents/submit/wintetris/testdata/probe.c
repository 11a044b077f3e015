/* probe.c - calls a solver's library in every wrong way there is, and prints each answer
 * with its reason: "NAME ANSWER REASON". The library is linked. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../wintetris.h"

static uint8_t cells[200];
static wt_field field;
static wt_block current, next;
static int64_t solver;

static void fresh(void) {
	wt_field f = {sizeof f, 10, 20, cells};
	wt_block b = {sizeof b, WT_T, 0, 3, 0};
	field = f;
	current = next = b;
	memset(cells, 0, sizeof cells);
}

static void tell(const char *name, long answer, int64_t about) {
	char why[200] = "";
	if (answer < 0 || about == 0)
		wt_last_error(about, why, sizeof why);
	printf("%s %ld %s\n", name, answer, why);
	fresh();
}

static int32_t ask(void) { return wt_update(solver, &field, &current, &next, 1); }

static void arguments(void) {
	tell("good", ask(), solver);
	tell("null-field", wt_update(solver, NULL, &current, &next, 1), solver);
	tell("null-current", wt_update(solver, &field, NULL, &next, 1), solver);
	tell("null-next", wt_update(solver, &field, &current, NULL, 1), solver);
	field.cells = NULL, tell("null-cells", ask(), solver);
	field.cells = (const uint8_t *)(size_t)8, tell("wild-low", ask(), solver);
	field.cells = (const uint8_t *)(size_t)0x123456789000, tell("wild-cells", ask(), solver);
	field.cells = (const uint8_t *)(size_t)0xdead123456789000, tell("wild-high", ask(), solver);
	tell("wild-field", wt_update(solver, (const wt_field *)(size_t)0x10000, &current, &next, 1), solver);
	tell("low-field", wt_update(solver, (const wt_field *)(size_t)1, &current, &next, 1), solver);
	tell("low-current", wt_update(solver, &field, (const wt_block *)(size_t)4095, &next, 1), solver);
	tell("high-next", wt_update(solver, &field, &current, (const wt_block *)(size_t)-1, 1), solver);
	field.size = 0, tell("size-zero", ask(), solver);
	field.size--, tell("size-short", ask(), solver);
	field.size += 8, tell("size-later", ask(), solver);
	field.size++, tell("size-odd", ask(), solver);
	field.size = 0xFFFFFFF8, tell("size-vast", ask(), solver);
	current.size = 4, tell("size-current", ask(), solver);
	next.size = 16, tell("size-next", ask(), solver);
	field.width = 12, tell("width", ask(), solver);
	field.height = -20, tell("height", ask(), solver);
	current.kind = 7, tell("kind", ask(), solver);
	next.kind = -1, tell("kind-next", ask(), solver);
	current.rotation = 4, tell("rotation", ask(), solver);
	current.rotation = -1, tell("rotation-next", ask(), solver);
	current.x = -1, tell("wall", ask(), solver);
	current.x = 0x7fffffff, tell("far", ask(), solver);
	current.y = -0x7fffffff - 1, tell("high", ask(), solver);
	current.y = 19, tell("floor", ask(), solver);
	memset(cells, 1, sizeof cells), tell("full", ask(), solver);
	cells[15] = 255, tell("overlap", ask(), solver);
}

static void handles(void) {
	static const int64_t bad[] = {0, -1, 999, 0x7fffffffffffffff};
	int64_t other;
	size_t i;
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		printf("bad-handle %d %d %d\n", (int)wt_update(bad[i], &field, &current, &next, 1), (int)wt_close(bad[i]),
		       bad[i] == 0 ? -1 : (int)wt_last_error(bad[i], NULL, 0));
		printf("bad-both %d\n", (int)wt_update(bad[i], NULL, NULL, NULL, 1));
	}
	other = wt_open(NULL);
	printf("two %d %d\n", other > 0 && other != solver, (int)wt_update(other, &field, &current, &next, 1));
	printf("close %d\n", (int)wt_close(other));
	printf("again %d\n", (int)wt_close(other));
	printf("closed %d %d\n", (int)wt_update(other, &field, &current, &next, 1), (int)wt_last_error(other, NULL, 0));
}

static void texts(void) {
	static char options[10000];
	char buf[8] = "1234567";
	int32_t whole;
	tell("open-unknown", (long)wt_open("colour=red"), 0);
	tell("open-file", (long)wt_open("evaluator=learned;weights=/no/such/file"), 0);
	memset(options, 'x', sizeof options - 1);
	tell("open-long", (long)wt_open(options), 0);
	tell("open-wild", (long)wt_open((const char *)(size_t)0x10000), 0);
	whole = wt_last_error(0, NULL, 0);
	printf("text-cut %d %s", (int)(whole > 8 && wt_last_error(0, buf, 4) == whole), buf);
	printf(" %c\n", buf[4]);
	printf("text-bad %d %d %d\n", (int)wt_last_error(0, buf, -1), (int)wt_last_error(0, NULL, 4),
	       (int)wt_last_error(0, (char *)(size_t)0x10000, 4));
}

static void crashes(void) {
	static const char *const how[] = {"nil", "index", "panic"};
	char option[32];
	size_t i;
	for (i = 0; i < 3; i++) {
		int32_t answer;
		snprintf(option, sizeof option, "crash=%s", how[i]);
		solver = wt_open(option);
		tell(option, ask(), solver);
		answer = wt_update(solver, &field, &current, &next, 0);
		printf("after-%s %d %d\n", how[i], (int)answer, (int)wt_close(solver));
	}
	tell("crash=open", (long)wt_open("crash=open"), 0);
}

/* Threads: each plays with one solver of all, while others close it. */

static int64_t shared;

static void *work(void *odd) {
	uint8_t mine[200] = {0};
	wt_field f = {sizeof f, 10, 20, mine};
	wt_block b = {sizeof b, WT_L, 0, 3, 0};
	long i, wrong = 0, closed = 0;
	for (i = 0; i < 400; i++) {
		int64_t own = wt_open("parts=2");
		int32_t a = wt_update(own, &f, &b, &b, 1), c = wt_update(own, &f, &b, &b, 0);
		int32_t s = wt_update(shared, &f, &b, &b, i % 3 == 0);
		wrong += a != 0 || c <= 0 || wt_close(own) != 0 || (s < 0 && s != WT_BADHANDLE);
		closed += s < 0;
		if (odd != NULL && i == 200)
			wrong += wt_close(shared) != 0;
	}
	return (void *)(size_t)(wrong * 1000 + (closed > 0));
}

static void threads(void) {
	pthread_t t[8];
	size_t i, wrong = 0, closed = 0;
	void *r;
	shared = wt_open(NULL);
	for (i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, work, i == 3 ? &shared : NULL);
	for (i = 0; i < 8; i++) {
		pthread_join(t[i], &r);
		wrong += (size_t)r / 1000;
		closed += (size_t)r % 1000;
	}
	printf("threads %d %d\n", (int)wrong, closed > 0);
}

/* What a call costs in CPU time by itself: one in which the solver has nothing to think. */
static void cost(long calls) {
	struct timespec from, to;
	long i, sum = 0;
	for (i = 0; i < 4; i++)
		wt_update(solver, &field, &current, &next, i == 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (i = 0; i < calls; i++)
		sum += wt_update(solver, &field, &current, &next, 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	printf("cost %.1f %d\n", (double)(to.tv_sec - from.tv_sec) * 1e9 / (double)calls + (double)(to.tv_nsec - from.tv_nsec) / (double)calls,
	       sum > 0);
}

int main(int argc, char **argv) {
	fresh();
	printf("abi %d\n", (int)wt_abi_version());
	solver = wt_open("");
	if (argc > 1 && strcmp(argv[1], "crash") == 0) {
		crashes();
		return 0;
	}
	if (argc > 2 && strcmp(argv[1], "cost") == 0) {
		cost(atol(argv[2]));
		return 0;
	}
	arguments();
	handles();
	texts();
	threads();
	return 0;
}
