// A complete Block Battle bot: it tries every rotation and column and takes the lowest landing with the fewest holes.
// The rules and the protocol are in env/blockbattle/RULES.md; "§" below means a section of that page.

#include <algorithm>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

struct Cell { int x, y; };  // column, row; the top row is 0
using Cells = std::vector<Cell>;
using Field = std::vector<std::vector<bool>>;  // rows of cells that are taken
struct Piece { int side; Cells cells; };

// The cells of each piece in its box, in orientation 0, and the side of the box (§3).
const std::map<std::string, Piece> pieces = {
    {"I", {4, {{0, 1}, {1, 1}, {2, 1}, {3, 1}}}}, {"J", {3, {{0, 0}, {0, 1}, {1, 1}, {2, 1}}}},
    {"L", {3, {{2, 0}, {0, 1}, {1, 1}, {2, 1}}}}, {"O", {2, {{0, 0}, {1, 0}, {0, 1}, {1, 1}}}},
    {"S", {3, {{1, 0}, {2, 0}, {0, 1}, {1, 1}}}}, {"T", {3, {{1, 0}, {0, 1}, {1, 1}, {2, 1}}}},
    {"Z", {3, {{0, 0}, {1, 0}, {1, 1}, {2, 1}}}},
};

// Whether all cells are inside the walls and on empty cells or above the board (§4.1).
bool isFree(const Field &field, const Cells &cells) {
    return std::all_of(cells.begin(), cells.end(), [&](Cell c) {
        return c.x >= 0 && c.x < int(field[0].size()) && c.y < int(field.size()) && (c.y < 0 || !field[c.y][c.x]);
    });
}

Cells moved(Cells cells, int dx, int dy) {
    for (Cell &c : cells) c.x += dx, c.y += dy;
    return cells;
}

// How good it is to lock the piece in these cells: low is good, holes are bad, above the board loses.
int rating(const Field &field, const Cells &cells) {
    int sum = 0;
    for (Cell c : cells) {
        bool own = std::any_of(cells.begin(), cells.end(), [&](Cell d) { return d.x == c.x && d.y == c.y + 1; });
        sum += c.y - (!own && isFree(field, {{c.x, c.y + 1}}) ? 8 : 0) - (c.y < 0 ? 1000 : 0);
    }
    return sum;
}

// Returns the answer for a piece whose box has its top left corner at (left, top).
std::string choose(const Field &field, Piece piece, int left, int top) {
    std::string answer = "drop", turned;
    int best = -1000000;
    for (int turns = 0; turns < 4; turns++, turned += "turnright,") {
        Cells start = moved(piece.cells, left, top);
        if (!isFree(field, start)) break;  // this turn would not happen, and so neither would the next
        for (int step : {-1, 1}) {
            std::string keys = turned;
            // A blocked shift would become "down" (§4.2), so stop before it.
            for (Cells cells = start; isFree(field, cells); cells = moved(cells, step, 0)) {
                Cells landed = cells;
                while (isFree(field, moved(landed, 0, 1))) landed = moved(landed, 0, 1);
                int value = rating(field, landed);
                if (value > best) best = value, answer = keys + "drop";
                keys += step < 0 ? "left," : "right,";
            }
        }
        for (Cell &c : piece.cells) c = {piece.side - 1 - c.y, c.x};
    }
    return answer;
}

int main() {
    std::map<std::string, std::string> settings, state;
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        std::string kind, first, second, third;
        words >> kind >> first >> second >> third;
        if (kind == "settings") settings[first] = second;
        if (kind == "update") state[first + " " + second] = third;  // such as state["game this_piece_type"]
        if (kind != "action") continue;
        Field field;
        std::istringstream rows(state[settings["your_bot"] + " field"]);
        for (std::string row; std::getline(rows, row, ';');) {
            field.emplace_back();
            for (char c : row)
                if (c != ',') field.back().push_back(c >= '2');  // 1 is the falling piece itself
        }
        int left = 0, top = 0;
        char comma;
        std::istringstream(state["game this_piece_position"]) >> left >> comma >> top;
        std::cout << choose(field, pieces.at(state["game this_piece_type"]), left, top) << std::endl;  // flushes
    }
}
