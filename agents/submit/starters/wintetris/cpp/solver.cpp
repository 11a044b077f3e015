// A complete WinTetris solver: for every new piece it tries all turns and columns and takes the place straight down that
// costs least: 10 for each empty cell that it covers, and the height of each of its cells. The rules and the interface are in env/wintetris/RULES.md.

#define WINTETRIS_SOLVER // makes the library of the function update
#include "../../../wintetris/wintetris.hpp"

// The cells of each kind in its box, rotation 0, two rows from the top, and the side of the box (rules §3).
const char *const shapes[7][2] = {
	{"....", "####"}, {"#..", "###"}, {"..#", "###"}, {"##", "##"}, {".##", "##."}, {".#.", "###"}, {"##.", ".##"},
};
const int sides[7] = {4, 3, 3, 2, 3, 3, 3};

// Calls with(column, row) for the cells of a block, row 0 on top of the field.
template <typename With> void cells(const Block &b, With with) {
	for (int r = 0; r < 2; r++)
		for (int c = 0; c < sides[b.kind]; c++) {
			int row = r, column = c;
			for (int turn = 0; turn < b.rotation; turn++) { // a quarter turn clockwise of the box
				const int old = row;
				row = column;
				column = sides[b.kind] - 1 - old;
			}
			if (shapes[b.kind][r][c] == '#')
				with(b.x + column, b.y + row);
		}
}

bool taken(const Field &field, int column, int row) {
	return column < 0 || column >= Field::Width || row >= Field::Height || (row >= 0 && field.get(column, row) != 0);
}

bool fits(const Field &field, const Block &b) {
	bool all = true;
	cells(b, [&](int column, int row) { all = all && !taken(field, column, row); });
	return all;
}

// What a resting block costs: less is better.
int cost(const Field &field, const Block &b) {
	int sum = 0;
	cells(b, [&](int column, int row) {
		sum += Field::Height - row;
		bool lowest = true;
		cells(b, [&](int other, int below) { lowest = lowest && (other != column || below <= row); });
		for (int y = row + 1; lowest && !taken(field, column, y); y++)
			sum += 10;
	});
	return sum;
}

Block choose(const Field &field, const Block &current) {
	Block best = current;
	int least = 1 << 30;
	for (int turn = 0; turn < 4; turn++)
		for (int x = -2; x < Field::Width; x++) {
			Block at = {current.kind, turn, x, current.y};
			if (!fits(field, at))
				continue;
			while (fits(field, at))
				at.y++;
			at.y--;
			if (cost(field, at) < least) {
				least = cost(field, at);
				best = at;
			}
		}
	return best;
}

int update(const Field &field, const Block &current, const Block &, bool newPiece) {
	static Block target;
	if (newPiece)
		target = choose(field, current);
	if (target.rotation == current.rotation && target.x == current.x)
		return WT_DROP;
	return (target.rotation != current.rotation ? WT_ROTATECW : 0) | (target.x < current.x ? WT_MOVELEFT : 0) |
	       (target.x > current.x ? WT_MOVERIGHT : 0);
}
