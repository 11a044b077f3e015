/* caller.c - throws random calls at a solver's library from several threads for some time:
 *
 *     caller SECONDS SEED
 *
 * It fails if an answer is none that can be, a good call fails, a text leaves its buffer,
 * what was passed as const changes, or memory grows without bound. The library is linked. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "../wintetris.h"

enum { THREADS = 4, SHARED = 16, MEGABYTES = 400 };

static int64_t shared[SHARED];
static time_t until;

typedef struct {
	uint64_t rand;
	long calls, answered;
} thread;

static uint64_t draw(thread *t, uint64_t below) {
	t->rand ^= t->rand << 13;
	t->rand ^= t->rand >> 7;
	t->rand ^= t->rand << 17;
	return t->rand % below;
}

static int32_t number(thread *t, int32_t likely) {
	static const int32_t odd[] = {-1, -2, -100, 7, 8, 64, 127, 128, 1 << 20, 0x7fffffff, -0x7fffffff - 1};
	if (draw(t, 60) == 0)
		return odd[draw(t, sizeof odd / sizeof *odd)];
	return (int32_t)draw(t, (uint64_t)likely);
}

static void fail(const char *what, long value) {
	printf("%s: %ld\n", what, value);
	fflush(stdout);
	abort();
}

static wt_block block(thread *t) {
	wt_block b;
	b.size = draw(t, 40) ? sizeof b : (uint32_t)draw(t, 64);
	b.kind = number(t, 7);
	b.rotation = number(t, 4);
	b.x = number(t, 11) - 2;
	b.y = number(t, 22) - 3;
	return b;
}

static void paint(thread *t, uint8_t *cells) {
	size_t i, rows = draw(t, 21), most = draw(t, 11);
	memset(cells, 0, 200);
	for (i = 200 - 10 * rows; i < 200; i++)
		cells[i] = draw(t, 10) < most ? (uint8_t)draw(t, 256) : 0;
}

static const void *pointer(thread *t, const void *good) {
	static const size_t bad[] = {0, 1, 8, 4096, 0x10000, 0x123456789000, 0x7fffffffffff, 0xdeaddeaddeaddead, (size_t)-1};
	return draw(t, 80) ? good : (const void *)bad[draw(t, sizeof bad / sizeof *bad)];
}

static void update(thread *t, int64_t solver) {
	uint8_t cells[200], kept[200];
	wt_field f = {sizeof f, 10, 20, cells}, was;
	wt_block a = block(t), b = block(t);
	int32_t answer;
	paint(t, cells);
	if (draw(t, 40) == 0)
		f.size = (uint32_t)draw(t, 1 << (draw(t, 32)));
	if (draw(t, 40) == 0)
		f.width = number(t, 30), f.height = number(t, 30);
	f.cells = pointer(t, cells);
	was = f;
	memcpy(kept, cells, 200);
	answer = wt_update(solver, pointer(t, &f), pointer(t, &a), pointer(t, &b), number(t, 2));
	if (answer > 31 || answer < -2)
		fail("answer", answer);
	if (memcmp(kept, cells, 200) || memcmp(&was, &f, sizeof f))
		fail("what was const changed", answer);
	t->answered += answer >= 0;
}

/* A good call on a solver of the thread's own must be answered. */
static void good(thread *t) {
	uint8_t cells[200];
	wt_field f = {sizeof f, 10, 20, cells};
	wt_block a = {sizeof a, (int32_t)draw(t, 7), 0, 3, 0}, b = {sizeof b, (int32_t)draw(t, 7), 0, 4, 0};
	int64_t solver = wt_open(draw(t, 50) ? "parts=1" : "evaluator=learned");
	paint(t, cells);
	if (solver > 0) { /* there may be too many */
		int32_t answer = wt_update(solver, &f, &a, &b, 1);
		if (answer < 0 || answer > 31)
			fail("a good call", answer);
		if (wt_close(solver) != 0)
			fail("close", solver);
	}
}

static void text(thread *t, int64_t solver) {
	char buf[256];
	int32_t len = number(t, 200), n, i;
	memset(buf, '#', sizeof buf);
	n = wt_last_error(solver, len > 200 ? (char *)(size_t)pointer(t, NULL) : buf, len);
	if (n < -2)
		fail("last_error", n);
	for (i = len < 0 ? 0 : len; len <= 200 && i < (int32_t)sizeof buf; i++)
		if (buf[i] != '#')
			fail("past the buffer", i);
	if (n >= 0 && len > 0 && len <= 200 && memchr(buf, 0, (size_t)len) == NULL)
		fail("no end", n);
}

static int64_t start(thread *t) {
	static const char *const parts[] = {"evaluator=", "hand", "learned", ";", "parts=", "4", "holes", "=", "-500", "top=1",
	                                    "weights=/dev/null", "1e99", "\xff\x1b", " ", "slots=2;", "parts=1;", "nan"};
	char options[512] = "";
	int n = (int)draw(t, 9), i;
	if (draw(t, 2))
		return wt_open(draw(t, 30) ? "parts=2;slots=3" : "evaluator=learned");
	for (i = 0; i < n; i++)
		strcat(options, parts[draw(t, sizeof parts / sizeof *parts)]);
	return wt_open(pointer(t, options));
}

static void *run(void *arg) {
	thread *t = arg;
	while (time(NULL) < until) {
		int i;
		for (i = 0; i < 500; i++, t->calls++) {
			int64_t *at = &shared[draw(t, SHARED)];
			int64_t solver = draw(t, 50) ? __atomic_load_n(at, __ATOMIC_SEQ_CST) : (int64_t)draw(t, 1 << 20) - 5;
			switch (draw(t, 60)) {
			case 0: {
				int64_t old = __atomic_exchange_n(at, start(t), __ATOMIC_SEQ_CST);
				int32_t closed = wt_close(old);
				if (closed != 0 && closed != WT_BADHANDLE)
					fail("close", closed);
				break;
			}
			case 1:
				text(t, draw(t, 2) ? solver : 0);
				break;
			case 2:
				good(t);
				break;
			default:
				update(t, solver);
			}
		}
	}
	return NULL;
}

int main(int argc, char **argv) {
	pthread_t ids[THREADS];
	static thread threads[THREADS];
	struct rusage use;
	long calls = 0, answered = 0;
	int i;
	if (argc < 3)
		return 2;
	until = time(NULL) + atol(argv[1]);
	for (i = 0; i < THREADS; i++) {
		threads[i].rand = strtoull(argv[2], NULL, 10) * 0x9E3779B97F4A7C15u + (uint64_t)i + 1;
		pthread_create(&ids[i], NULL, run, &threads[i]);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(ids[i], NULL);
		calls += threads[i].calls;
		answered += threads[i].answered;
	}
	getrusage(RUSAGE_SELF, &use);
	if (use.ru_maxrss / 1024 > MEGABYTES)
		fail("megabytes", use.ru_maxrss / 1024);
	printf("calls %ld answered %ld megabytes %ld\n", calls, answered, use.ru_maxrss / 1024);
	return 0;
}
