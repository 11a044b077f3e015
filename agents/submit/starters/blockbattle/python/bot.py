"""A complete Block Battle bot: it tries every rotation and column and takes a landing that is low and makes few holes.

The rules and the protocol are in env/blockbattle/RULES.md; "§" below means a section of that page.
"""

import sys

# The cells (column, row) of each piece in its box, in orientation 0, and the side of the box (§3).
PIECES = {
    "I": (4, [(0, 1), (1, 1), (2, 1), (3, 1)]),
    "J": (3, [(0, 0), (0, 1), (1, 1), (2, 1)]),
    "L": (3, [(2, 0), (0, 1), (1, 1), (2, 1)]),
    "O": (2, [(0, 0), (1, 0), (0, 1), (1, 1)]),
    "S": (3, [(1, 0), (2, 0), (0, 1), (1, 1)]),
    "T": (3, [(1, 0), (0, 1), (1, 1), (2, 1)]),
    "Z": (3, [(0, 0), (1, 0), (1, 1), (2, 1)]),
}


def free(field, cells):
    """Whether cells, a list of (x, y), are inside the walls and on empty cells or above the board (§4.1)."""
    return all(0 <= x < len(field[0]) and y < len(field) and (y < 0 or not field[y][x]) for x, y in cells)


def moved(cells, dx, dy):
    return [(x + dx, y + dy) for x, y in cells]


def rating(field, cells):
    """How good it is to lock the piece in these cells: low is good, holes are bad, above the board loses."""
    holes = sum((x, y + 1) not in cells and free(field, [(x, y + 1)]) for x, y in cells)
    return sum(y for _, y in cells) - 8 * holes - 1000 * sum(y < 0 for _, y in cells)


def choose(field, piece, left, top):
    """Returns the answer for a piece whose box has its top left corner at (left, top)."""
    side, box = PIECES[piece]
    best, answer = None, "drop"
    for turns in range(4):
        start = moved(box, left, top)
        if not free(field, start):
            break  # this turn would not happen, and so neither would the next
        for word, step in (("left", -1), ("right", 1)):
            shifts, cells = 0, start
            while free(field, cells):  # a blocked shift would become "down" (§4.2), so stop before it
                landed = cells
                while free(field, moved(landed, 0, 1)):
                    landed = moved(landed, 0, 1)
                value = rating(field, landed)
                if best is None or value > best:
                    best, answer = value, ",".join(["turnright"] * turns + [word] * shifts + ["drop"])
                shifts, cells = shifts + 1, moved(cells, step, 0)
        box = [(side - 1 - y, x) for x, y in box]
    return answer


def main():
    settings, state = {}, {}
    for line in sys.stdin:
        words = line.split()
        if len(words) == 3 and words[0] == "settings":
            settings[words[1]] = words[2]
        elif len(words) == 4 and words[0] == "update":
            state[words[1], words[2]] = words[3]  # such as state["game", "this_piece_type"]
        elif len(words) == 3 and words[0] == "action":
            rows = state[settings["your_bot"], "field"].split(";")
            field = [[int(cell) >= 2 for cell in row.split(",")] for row in rows]  # 1 is the falling piece itself
            left, top = state["game", "this_piece_position"].split(",")
            print(choose(field, state["game", "this_piece_type"], int(left), int(top)), flush=True)


main()
