// A complete bot of the Tetris duel: of the legal placements, it takes one that lies low and makes few holes.
// The rules and the protocol are in env/tetrisduel/RULES.md; "§" below means a section of that page.

#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <vector>

struct Cell {
    int y, x;  // row, column
    bool operator==(const Cell &other) const { return y == other.y && x == other.x; }
};
using Cells = std::array<Cell, 4>;

// The cells of blocks 1 to 7 around their centre, in direction 0 (§3).
const Cells blocks[] = {
    {{{0, -1}, {0, 0}, {0, 1}, {0, 2}}},  {{{-1, -1}, {0, -1}, {0, 0}, {0, 1}}},
    {{{-1, 1}, {0, -1}, {0, 0}, {0, 1}}}, {{{-1, 0}, {-1, 1}, {0, 0}, {0, 1}}},
    {{{-1, 0}, {-1, 1}, {0, -1}, {0, 0}}}, {{{-1, 0}, {0, -1}, {0, 0}, {0, 1}}},
    {{{-1, -1}, {-1, 0}, {0, 0}, {0, 1}}},
};
const int rows = 25, lowest = 15;  // blocks stay above row 15 of our frame

struct Move { int y, x, direction; };

// Returns the cells that a placement covers.
Cells covered(int block, Move m) {
    Cells cells = blocks[block - 1];
    for (Cell &c : cells) {
        for (int k = 0; k < m.direction; k++) c = {c.x, -c.y};  // a quarter turn clockwise about the centre
        c = {c.y + m.y, c.x + m.x};
    }
    return cells;
}

// How good a placement is: low is good, empty cells directly below it are bad.
int rating(const std::vector<std::string> &board, int block, Move m) {
    Cells cells = covered(block, m);
    int sum = 0;
    for (Cell c : cells) {
        bool own = std::find(cells.begin(), cells.end(), Cell{c.y + 1, c.x}) != cells.end();
        bool hole = c.y + 1 < lowest && board[c.y + 1][c.x] == '.' && !own;
        sum += c.y - (hole ? 8 : 0);
    }
    return sum;
}

int main() {
    std::string word;
    while (std::cin >> word) {
        if (word == "blocks") {  // the last line of the start
            std::cin >> word;    // the whole sequence
            std::cout << "ready" << std::endl;  // std::endl flushes
        } else if (word == "turn") {
            // §8.2: half-turn, round, block, my points, the opponent's, combo, flag, milliseconds that are left
            int numbers[8];
            for (int &n : numbers) std::cin >> n;
            std::string last;
            std::cin >> word >> std::ws;
            std::getline(std::cin, last);  // the opponent's last placement, which is on the board already
            std::vector<std::string> board(rows);
            for (std::string &row : board) std::cin >> row;
            int count, most = -1000000;
            std::cin >> word >> count;
            Move best{};
            for (Move m; count > 0; count--) {
                std::cin >> m.y >> m.x >> m.direction;
                int value = rating(board, numbers[2], m);
                if (value > most) most = value, best = m;
            }
            std::cout << best.y << " " << best.x << " " << best.direction << std::endl;
        } else if (word == "end") {
            return 0;
        }  // "tetrisduel", "seat", "time" and their numbers are not needed here
    }
}
