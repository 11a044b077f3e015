// A complete program for Dropblox: it tries every rotation and column and takes the place that leaves the best board.
// The rules and the protocol are in env/dropblox/RULES.md; "§" below means a section of that page. The host starts the
// program for every turn, with the state as JSON and the seconds that are left.

#include <algorithm>
#include <cctype>
#include <climits>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

struct Json {  // a value of the state: items, with keys if it is an object, or a text
    std::vector<std::string> keys;
    std::vector<Json> items;
    std::string text;
    const Json &at(const char *key) const { return items.at(find(keys.begin(), keys.end(), key) - keys.begin()); }
    int number() const { return std::stoi(text); }
};

Json parse(std::istream &in) {
    Json v;
    char first, c;
    in >> first;
    if (first == '{' || first == '[') {
        while (in >> std::ws && in.peek() != '}' && in.peek() != ']') {
            if (in.peek() == ',') { in.get(); continue; }  // some are missing or too many in the introduction's example
            if (first == '{') v.keys.push_back(parse(in).text), in >> c;  // the colon
            v.items.push_back(parse(in));
        }
        in.get();
    } else if (first != '"') {
        for (v.text = first; std::isalnum(in.peek()) || in.peek() == '.';) v.text += char(in.get());
    } else std::getline(in, v.text, '"');  // no text has a backslash
    return v;
}

struct Square { int i, j; };  // row from the top, column

struct Block {
    Square center;
    std::vector<Square> offsets;
    explicit Block(const Json &v) : center{v.at("center").at("i").number(), v.at("center").at("j").number()} {
        for (const Json &o : v.at("offsets").items) offsets.push_back({o.at("i").number(), o.at("j").number()});
    }
};

struct Game {  // the state (§8.2)
    std::vector<std::vector<int>> bitmap;  // rows
    int score;
    std::vector<Block> blocks;  // the first is in play, the others are the previews
    bool isFree(int i, int j) const {
        return i >= 0 && i < int(bitmap.size()) && j >= 0 && j < int(bitmap[0].size()) && bitmap[i][j] == 0;
    }
    // Carries out a command; returns false, and changes nothing, if it is not legal (§4.2).
    bool move(const std::string &command) {
        Block to = blocks[0];
        if (command == "rotate") for (Square &o : to.offsets) o = {o.j, -o.i};
        to.center.j += (command == "right") - (command == "left");
        to.center.i += (command == "down") - (command == "up");
        for (Square o : to.offsets) if (!isFree(to.center.i + o.i, to.center.j + o.j)) return false;
        blocks[0] = to;
        return true;
    }
    // Drops the block (§5): full rows are gone and scored (§6), the next block is in play.
    void drop() {
        while (move("down")) {}
        for (Square o : blocks[0].offsets) bitmap[blocks[0].center.i + o.i][blocks[0].center.j + o.j] = 1;
        size_t rows = bitmap.size(), columns = bitmap[0].size();
        auto full = [](const std::vector<int> &row) { return std::count(row.begin(), row.end(), 0) == 0; };
        bitmap.erase(std::remove_if(bitmap.begin(), bitmap.end(), full), bitmap.end());
        score += (1 << (rows - bitmap.size())) - 1;
        bitmap.insert(bitmap.begin(), rows - bitmap.size(), std::vector<int>(columns));
        blocks.erase(blocks.begin());
    }
};

// Prints the commands that move the block as far to the left as it goes.
void leftmost(Game game) {
    while (game.move("left")) std::cout << "left\n";
}

// How good a position is: points and low squares are good, empty cells directly below others are bad.
int rating(Game game) {
    int rows = game.bitmap.size(), value = game.score - (game.move("stay") ? 0 : 1000000);  // no room: over (§7)
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < int(game.bitmap[i].size()); j++)
            if (game.bitmap[i][j] != 0) value -= rows - i + 8 * game.isFree(i + 1, j);
    return value;
}

// Prints the commands of the best landing that turns in place, goes sideways and drops.
void best(Game game) {
    int most = INT_MIN;
    std::string answer, turned;
    for (int turns = 0; turns == 0 || (turns < 4 && game.move("rotate")); turns++, turned += "rotate\n") {
        for (std::string side : {"left", "right"}) {
            std::string commands = turned;
            for (Game next = game, landed = game; commands == turned || next.move(side); commands += side + "\n") {
                (landed = next).drop();
                if (rating(landed) > most) most = rating(landed), answer = commands;
            }
        }
    }
    std::cout << answer;
}

// The state is the last argument but one. "./bot left" as the command puts a word before it.
int main(int count, char **arguments) {
    std::istringstream text(arguments[count - 2]);
    Json state = parse(text);
    Game game{{}, state.at("score").number(), {Block(state.at("block"))}};
    for (const Json &row : state.at("bitmap").items) {
        game.bitmap.emplace_back();
        for (const Json &cell : row.items) game.bitmap.back().push_back(cell.number());
    }
    for (const Json &block : state.at("preview").items) game.blocks.emplace_back(block);
    std::string(arguments[1]) == "left" ? leftmost(game) : best(game);
}
