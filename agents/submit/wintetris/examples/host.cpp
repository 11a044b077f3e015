// host.cpp - a WinTetris host in C++ that calls the solver by its historical signature. It
// links the library:
//
//     c++ -std=c++11 -o hostpp host.cpp ./libwintetris_solver.so -Wl,-rpath,.
//     ./hostpp 1 20 "evaluator=hand;parts=4"
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include "../wintetris.hpp"
#include "game.h"

using wintetris::Block;
using wintetris::Field;

static Field field(const game &g) {
	Field f;
	for (int row = 0; row < GAME_H; row++)
		for (int column = 0; column < GAME_W; column++)
			f.set(column, row, g.cells[row * GAME_W + column]);
	return f;
}

static Block block(const game_block &b) { return Block{b.kind, b.rotation, b.x, b.y}; }

// play plays one game with u, which has the signature of update.
template <class Update> static game play(unsigned long seed, Update u) {
	game g;
	game_start(&g, seed);
	while (!g.over) {
		const bool fresh = game_begin(&g) != 0;
		if (!g.over)
			game_finish(&g, u(field(g), block(g.current), block(g.next), fresh));
	}
	return g;
}

int main(int argc, char **argv) {
	if (argc < 3) {
		std::cerr << "usage: hostpp FIRST-SEED LAST-SEED [OPTIONS]\n";
		return 2;
	}
	const unsigned long last = std::strtoul(argv[2], nullptr, 10);
	try {
		for (unsigned long seed = std::strtoul(argv[1], nullptr, 10); seed <= last; seed++) {
			game g;
			if (argc > 3) {
				wintetris::Solver solver(argv[3]);
				g = play(seed, [&](const Field &f, const Block &c, const Block &n, bool fresh) {
					return solver.update(f, c, n, fresh);
				});
			} else {
				g = play(seed, wintetris::update);
			}
			std::cout << "seed " << seed << " lines " << g.lines << " level " << 1 + g.lines / 10 << " pieces "
			          << g.pieces << " ticks " << g.ticks << " score " << g.score << " conflicts " << g.conflicts
			          << " blocked " << g.blocked << "\n";
		}
	} catch (const std::exception &e) {
		std::cerr << "hostpp: " << e.what() << "\n";
		return 1;
	}
}
