/* host.c - a WinTetris host in C: loads any solver's library and plays seeds.
 *
 *     cc -o host host.c -ldl
 *     ./host ./libwintetris_solver.so 1 20 "evaluator=hand;parts=4"
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "../wintetris.h"
#include "game.h"

static int32_t (*abi_version)(void);
static int64_t (*open_solver)(const char *);
static int32_t (*update)(int64_t, const wt_field *, const wt_block *, const wt_block *, int32_t);
static int32_t (*close_solver)(int64_t);
static int32_t (*last_error)(int64_t, char *, int32_t);

static void *symbol(void *library, const char *name) {
	void *p = dlsym(library, name);
	if (p == NULL) {
		fprintf(stderr, "host: no %s in it\n", name);
		exit(1);
	}
	return p;
}

static void load(const char *file) {
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL) {
		fprintf(stderr, "host: %s\n", dlerror());
		exit(1);
	}
	*(void **)&abi_version = symbol(library, "wt_abi_version");
	*(void **)&open_solver = symbol(library, "wt_open");
	*(void **)&update = symbol(library, "wt_update");
	*(void **)&close_solver = symbol(library, "wt_close");
	*(void **)&last_error = symbol(library, "wt_last_error");
	if (abi_version() != WT_ABI) {
		fprintf(stderr, "host: interface %d, want %d\n", (int)abi_version(), WT_ABI);
		exit(1);
	}
}

static wt_block flat(game_block b) {
	wt_block w = {sizeof w, b.kind, b.rotation, b.x, b.y};
	return w;
}

static int64_t begin(const char *options) {
	char why[256] = "";
	int64_t solver = open_solver(options);
	if (solver == 0) {
		last_error(0, why, sizeof why);
		fprintf(stderr, "host: wt_open: %s\n", why);
		exit(1);
	}
	return solver;
}

static void play(unsigned long seed, const char *options) {
	game g;
	long failures = 0;
	int64_t solver = begin(options);
	game_start(&g, seed);
	while (!g.over) {
		int fresh = game_begin(&g);
		if (g.over)
			break;
		wt_field f = {sizeof f, GAME_W, GAME_H, g.cells};
		wt_block current = flat(g.current), next = flat(g.next);
		int32_t bits = update(solver, &f, &current, &next, fresh);
		if (bits < 0 && failures++ == 0) {
			char why[256] = "";
			last_error(solver, why, sizeof why);
			fprintf(stderr, "host: seed %lu: wt_update: %d: %s\n", seed, (int)bits, why);
		}
		game_finish(&g, bits);
	}
	close_solver(solver);
	printf("seed %lu lines %ld level %ld pieces %ld ticks %ld score %ld conflicts %ld blocked %ld\n", seed, g.lines,
	       1 + g.lines / 10, g.pieces, g.ticks, g.score, g.conflicts, g.blocked);
}

int main(int argc, char **argv) {
	unsigned long seed, last;
	if (argc < 4) {
		fprintf(stderr, "usage: host LIBRARY FIRST-SEED LAST-SEED [OPTIONS]\n");
		return 2;
	}
	load(argv[1]);
	last = strtoul(argv[3], NULL, 10);
	for (seed = strtoul(argv[2], NULL, 10); seed <= last; seed++)
		play(seed, argc > 4 ? argv[4] : NULL);
	return 0;
}
