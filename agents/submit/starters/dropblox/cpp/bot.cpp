// A complete program for Dropblox: it tries every rotation and column and takes the lowest place with the fewest holes.
// The rules and the protocol are in env/dropblox/RULES.md; "§" below means a section of that page. The host starts the
// program for every turn, with the state as JSON and the seconds that are left.

#include <algorithm>
#include <cctype>
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
            if (in.peek() == ',') in.get();
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

struct Game {
    const std::vector<Json> *bitmap;  // rows
    Square center;
    std::vector<Square> offsets;
    bool isFree(int i, int j) const {
        return i >= 0 && i < int(bitmap->size()) && j >= 0 && j < int((*bitmap)[i].items.size()) &&
               (*bitmap)[i].items[j].number() == 0;
    }
    // Carries out a command; returns false, and changes nothing, if it is not legal (§4.2).
    bool move(const std::string &command) {
        Square to = center;
        std::vector<Square> turned = offsets;
        if (command == "rotate") for (Square &o : turned) o = {o.j, -o.i};
        to.j += (command == "right") - (command == "left");
        to.i += (command == "down") - (command == "up");
        for (Square o : turned) if (!isFree(to.i + o.i, to.j + o.j)) return false;
        center = to, offsets = turned;
        return true;
    }
    void drop() { while (move("down")) {} }  // moves the block down as far as it goes
};

// Prints the commands that move the block as far to the left as it goes.
void leftmost(Game game) {
    while (game.move("left")) std::cout << "left\n";
}

// How good it is to leave the block there: low is good, empty cells directly below it are bad.
int rating(const Game &g) {
    int sum = 0;
    for (Square o : g.offsets) {
        auto below = [&](Square p) { return p.i == o.i + 1 && p.j == o.j; };
        bool own = std::any_of(g.offsets.begin(), g.offsets.end(), below);
        sum += g.center.i + o.i - (!own && g.isFree(g.center.i + o.i + 1, g.center.j + o.j) ? 8 : 0);
    }
    return sum;
}

// Prints the commands of the best landing that turns in place, goes sideways and drops.
void lowest(Game game) {
    int best = -1000000;
    std::string answer, turned;
    for (int turns = 0; turns == 0 || (turns < 4 && game.move("rotate")); turns++, turned += "rotate\n") {
        for (std::string side : {"left", "right"}) {
            std::string commands = turned;
            for (Game next = game, landed = game; commands == turned || next.move(side); commands += side + "\n") {
                (landed = next).drop();
                if (rating(landed) > best) best = rating(landed), answer = commands;
            }
        }
    }
    std::cout << answer;
}

// The state is the last argument but one. "./bot left" as the command puts a word before it.
int main(int count, char **arguments) {
    std::istringstream text(arguments[count - 2]);
    Json state = parse(text), block = state.at("block"), center = block.at("center");
    Game game{&state.at("bitmap").items, {center.at("i").number(), center.at("j").number()}, {}};
    for (const Json &o : block.at("offsets").items) game.offsets.push_back({o.at("i").number(), o.at("j").number()});
    std::string(arguments[1]) == "left" ? leftmost(game) : lowest(game);
}
