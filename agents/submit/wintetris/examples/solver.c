/* solver.c - a small WinTetris solver in C, to start an own one from. It looks at the
 * current piece alone: of all places straight down it takes the one that costs least, 10 for
 * each empty square that is covered and the height of each square of the piece.
 *
 *     cc -shared -fPIC -O2 -o solver.so solver.c
 */
#define WT_BUILD
#include <stdio.h>
#include <stdlib.h>

#include "../wintetris.h"
#include "game.h"

enum { SOLVERS = 64 };

static struct {
	int used;
	game_block target;
} solvers[SOLVERS];

static char why_not[128]; /* of wt_open; this small example leaves threads to its host */

int32_t wt_abi_version(void) { return WT_ABI; }

int64_t wt_open(const char *options) {
	int i;
	if (options != NULL && options[0] != 0) {
		snprintf(why_not, sizeof why_not, "there are no options, not even %.64s", options);
		return 0;
	}
	for (i = 0; i < SOLVERS; i++)
		if (!solvers[i].used) {
			solvers[i].used = 1;
			return i + 1;
		}
	snprintf(why_not, sizeof why_not, "more than %d solvers", SOLVERS);
	return 0;
}

/* What a resting block costs: less is better. */
static int cost(const uint8_t *cells, game_block b) {
	int n = game_box(b.kind), r, c, covered = 0, height = 0;
	for (c = 0; c < n; c++) {
		int y, bottom = -1;
		for (r = 0; r < n; r++)
			if (game_cell(b.kind, b.rotation, r, c)) {
				bottom = b.y + r;
				height += GAME_H - bottom;
			}
		for (y = bottom + 1; bottom >= 0 && y < GAME_H && !cells[y * GAME_W + b.x + c]; y++)
			covered++;
	}
	return 10 * covered + height;
}

static game_block choose(const uint8_t *cells, game_block b) {
	game_block best = b;
	int least = 1 << 30, turn, x;
	for (turn = 0; turn < 4; turn++)
		for (x = -2; x < GAME_W; x++) {
			game_block at = {b.kind, turn, x, b.y};
			if (!game_fits(cells, at))
				continue;
			while (game_fits(cells, at))
				at.y++;
			at.y--;
			if (cost(cells, at) < least) {
				least = cost(cells, at);
				best = at;
			}
		}
	return best;
}

static int bad(const wt_block *b) {
	return b == NULL || b->size < sizeof *b || b->kind < 0 || b->kind > 6 || b->rotation < 0 || b->rotation > 3;
}

int32_t wt_update(int64_t solver, const wt_field *field, const wt_block *current, const wt_block *next,
                  int32_t new_piece) {
	game_block target;
	if (solver < 1 || solver > SOLVERS || !solvers[solver - 1].used)
		return WT_BADHANDLE;
	if (field == NULL || field->size < sizeof *field || field->cells == NULL || field->width != GAME_W ||
	    field->height != GAME_H || bad(current) || bad(next))
		return WT_BADARGUMENT;
	game_block now = {current->kind, current->rotation, current->x, current->y};
	if (new_piece)
		solvers[solver - 1].target = choose(field->cells, now);
	target = solvers[solver - 1].target;
	if (target.rotation == now.rotation && target.x == now.x)
		return WT_DROP;
	return (target.rotation != now.rotation ? WT_ROTATECW : 0) | (target.x < now.x ? WT_MOVELEFT : 0) |
	       (target.x > now.x ? WT_MOVERIGHT : 0);
}

int32_t wt_close(int64_t solver) {
	if (solver < 1 || solver > SOLVERS || !solvers[solver - 1].used)
		return WT_BADHANDLE;
	solvers[solver - 1].used = 0;
	return 0;
}

int32_t wt_last_error(int64_t solver, char *buf, int32_t len) {
	if (solver != 0 || len < 0 || (buf == NULL && len > 0))
		return solver != 0 ? 0 : WT_BADARGUMENT;
	return snprintf(buf, (size_t)len, "%s", why_not);
}
