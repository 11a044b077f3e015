"""A complete bot of Blocking: it plays the legal placement of the largest shape, nearest to the middle.

The rules and the protocol are in env/blocking/RULES.md; "§" below means a section of that page.
"""

import sys


def cells(shape, column, row, code):
    """Returns the cells (x, y) that the move "column row code" covers (§3.2)."""
    columns, _, text = shape
    squares = [(i % columns, i // columns) for i, character in enumerate(text) if character == "#"]
    if code[1] == "1":
        squares = [(y, x) for x, y in squares]
    for _ in range(int(code[2])):
        squares = [(-y, x) for x, y in squares]
    x0, y0 = squares[int(code[3]) - 1]  # the square that lies on the cell (column, row)
    return [(column + x - x0, row + y - y0) for x, y in squares]


def main():
    read = sys.stdin.readline
    shapes = {}
    for _ in range(int(read())):
        letter, columns, rows, text = read().split()
        shapes[letter] = int(columns), int(rows), text
    players, me, size = int(read()), int(read()), int(read())
    letters = read().strip()
    print(f"player {me} of {players}, letters {letters}", file=sys.stderr)  # standard error is free for logging

    while first := read():  # nothing more to read: the game is over
        board = [first.strip()] + [read().strip() for _ in range(size - 1)]
        for _ in range(int(read())):
            player, column, row, code = read().split()  # what the others did; the board has it already
        moves = [read().split() for _ in range(int(read()))]

        def rating(move):
            covered = cells(shapes[move[2][0]], int(move[0]), int(move[1]), move[2])
            return len(covered), -min(abs(2 * x - size + 1) + abs(2 * y - size + 1) for x, y in covered)

        print(*max(moves, key=rating), flush=True)


main()
