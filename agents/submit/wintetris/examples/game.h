/* game.h - WinTetris for a host in C or C++: pieces, the clock tick, the statistics.
 * Rows count from the top, as in wintetris.h. */
#ifndef WT_GAME_H
#define WT_GAME_H

#include <stdint.h>
#include <string.h>

enum { GAME_W = 10, GAME_H = 20 };

typedef struct {
	int kind, rotation, x, y;
} game_block;

typedef struct {
	uint64_t rand;
	uint8_t cells[GAME_W * GAME_H];
	game_block current, next;
	int active, over; /* a piece is falling; the game has ended */
	long lines, pieces, ticks, score, conflicts, blocked;
} game;

/* Rotation 0 of every kind: the columns of its box, a bit each, for the two top rows. */
static const uint8_t game_shape[7][2] = {
	{0x0, 0xF}, {0x1, 0x7}, {0x4, 0x7}, {0x3, 0x3}, {0x6, 0x3}, {0x2, 0x7}, {0x3, 0x6},
};

static inline int game_box(int kind) { return kind == 0 ? 4 : kind == 3 ? 2 : 3; }

/* Whether a box has a cell in row r and column c. */
static inline int game_cell(int kind, int rotation, int r, int c) {
	int n = game_box(kind), i, t;
	for (i = 0; i < rotation; i++) {
		t = r;
		r = n - 1 - c;
		c = t;
	}
	return r < 2 && (game_shape[kind][r] >> c & 1);
}

/* Whether a block has all its cells on empty squares or above the top row. */
static inline int game_fits(const uint8_t *cells, game_block b) {
	int n = game_box(b.kind), r, c;
	for (r = 0; r < n; r++)
		for (c = 0; c < n; c++) {
			int y = b.y + r, x = b.x + c;
			if (!game_cell(b.kind, b.rotation, r, c))
				continue;
			if (x < 0 || x >= GAME_W || y >= GAME_H || (y >= 0 && cells[y * GAME_W + x]))
				return 0;
		}
	return 1;
}

static inline game_block game_draw(game *g) {
	game_block b;
	uint64_t z = g->rand += UINT64_C(0x9E3779B97F4A7C15);
	z ^= z >> 30;
	z *= UINT64_C(0xBF58476D1CE4E5B9);
	z ^= z >> 27;
	z *= UINT64_C(0x94D049BB133111EB);
	z ^= z >> 31;
	b.kind = (int)((z >> 33) % 7);
	b.rotation = 0;
	b.x = (GAME_W - game_box(b.kind)) / 2;
	b.y = b.kind == 0 ? -1 : 0; /* the highest cell in the top row */
	return b;
}

static inline void game_start(game *g, uint64_t seed) {
	memset(g, 0, sizeof *g);
	g->rand = seed;
	g->next = game_draw(g);
}

/* Begins a tick: spawns if no piece is falling. Returns 1 if it did, and sets over if the
 * new piece has no room. */
static inline int game_begin(game *g) {
	if (g->active)
		return 0;
	g->current = g->next;
	g->next = game_draw(g);
	g->active = 1;
	if (game_fits(g->cells, g->current))
		g->pieces++;
	else
		g->over = 1;
	return 1;
}

static inline void game_try(game *g, int turn, int shift) {
	game_block b = g->current;
	b.rotation = (b.rotation + turn) & 3;
	b.x += shift;
	if (game_fits(g->cells, b))
		g->current = b;
	else
		g->blocked++;
}

static inline void game_clear(game *g) {
	static const int points[5] = {0, 40, 100, 300, 1200};
	int from, to = GAME_H - 1, full = 0;
	for (from = GAME_H - 1; from >= 0; from--) {
		if (memchr(g->cells + from * GAME_W, 0, GAME_W) == NULL) {
			full++;
			continue;
		}
		memmove(g->cells + to-- * GAME_W, g->cells + from * GAME_W, GAME_W);
	}
	memset(g->cells, 0, (size_t)(full * GAME_W));
	g->score += points[full] * (1 + g->lines / 10);
	g->lines += full;
}

static inline void game_lock(game *g) {
	game_block b = g->current;
	int n = game_box(b.kind), r, c;
	g->active = 0;
	for (r = 0; r < n; r++)
		for (c = 0; c < n; c++) {
			if (!game_cell(b.kind, b.rotation, r, c))
				continue;
			if (b.y + r < 0)
				g->over = 1;
			else
				g->cells[(b.y + r) * GAME_W + b.x + c] = (uint8_t)(b.kind + 1);
		}
	if (!g->over)
		game_clear(g);
}

/* Ends a tick with the bits that were answered; a negative answer is none. */
static inline void game_finish(game *g, int bits) {
	game_block down;
	int conflict = 0;
	g->ticks++;
	if (bits < 0)
		bits = 0;
	if ((bits & 3) == 3)
		bits &= ~3, conflict = 1;
	if ((bits & 12) == 12)
		bits &= ~12, conflict = 1;
	g->conflicts += conflict;
	if (bits & 12)
		game_try(g, bits & 4 ? 1 : 3, 0);
	if (bits & 3)
		game_try(g, 0, bits & 1 ? -1 : 1);
	for (;;) {
		down = g->current;
		down.y++;
		if (!game_fits(g->cells, down)) {
			game_lock(g);
			return;
		}
		g->current = down;
		if (!(bits & 0x10))
			return;
	}
}

#endif
