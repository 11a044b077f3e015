// A complete bot of Blocking: it plays the legal placement of the largest shape, nearest to the middle.
// The rules and the protocol are in env/blocking/RULES.md; "§" below means a section of that page.

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

struct Cell { int x, y; };  // column, row
struct Shape { int columns, rows; std::string text; };
struct Move { int column, row; std::string code; };

std::istream &operator>>(std::istream &in, Move &m) { return in >> m.column >> m.row >> m.code; }

// Returns the cells that a move covers (§3.2).
std::vector<Cell> covered(const Shape &shape, const Move &m) {
    std::vector<Cell> cells;
    for (int k = 0; k < int(shape.text.size()); k++) {
        if (shape.text[k] != '#') continue;
        Cell c{k % shape.columns, k / shape.columns};
        if (m.code[1] == '1') std::swap(c.x, c.y);
        for (int r = m.code[2] - '0'; r > 0; r--) c = {-c.y, c.x};
        cells.push_back(c);
    }
    Cell origin = cells[m.code[3] - '1'];  // the square that lies on the cell (column, row)
    for (Cell &c : cells) c = {m.column + c.x - origin.x, m.row + c.y - origin.y};
    return cells;
}

int main() {
    std::map<char, Shape> shapes;
    int count, players, me, size;
    std::cin >> count;
    for (char letter; count > 0; count--) {
        Shape s;
        std::cin >> letter >> s.columns >> s.rows >> s.text;
        shapes[letter] = s;
    }
    std::string letters;
    std::cin >> players >> me >> size >> letters;
    std::cerr << "player " << me << " of " << players << ", letters " << letters << "\n";  // free for logging

    std::vector<std::string> board(size);
    while (std::cin >> board[0]) {  // nothing more to read: the game is over
        for (int y = 1; y < size; y++) std::cin >> board[y];
        std::cin >> count;
        int player;
        Move m, best{};
        for (; count > 0; count--) std::cin >> player >> m;  // what the others did; the board has it already
        std::cin >> count;
        std::pair<int, int> most{-1, 0};
        for (; count > 0; count--) {
            std::cin >> m;
            std::vector<Cell> cells = covered(shapes.at(m.code[0]), m);
            int nearest = 1000000;  // twice the way to the middle of the board
            for (Cell c : cells)
                nearest = std::min(nearest, std::abs(2 * c.x - (size - 1)) + std::abs(2 * c.y - (size - 1)));
            std::pair<int, int> value{int(cells.size()), -nearest};
            if (value > most) most = value, best = m;
        }
        std::cout << best.column << " " << best.row << " " << best.code << std::endl;  // std::endl flushes
    }
}
