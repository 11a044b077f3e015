// A complete bot of the Tetris duel: of the legal placements, it takes one that lies low and makes few holes.
// The rules and the protocol are in env/tetrisduel/RULES.md; "§" below means a section of that page.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;

class Bot {
    // The cells (row, column) of blocks 1 to 7 around their centre, in direction 0 (§3).
    static final int[][][] BLOCKS = {
        {{0, -1}, {0, 0}, {0, 1}, {0, 2}}, {{-1, -1}, {0, -1}, {0, 0}, {0, 1}}, {{-1, 1}, {0, -1}, {0, 0}, {0, 1}},
        {{-1, 0}, {-1, 1}, {0, 0}, {0, 1}}, {{-1, 0}, {-1, 1}, {0, -1}, {0, 0}}, {{-1, 0}, {0, -1}, {0, 0}, {0, 1}},
        {{-1, -1}, {-1, 0}, {0, 0}, {0, 1}}};
    static final int ROWS = 25, FLOOR = 15; // blocks stay above row 15 of our frame

    static final BufferedReader in = new BufferedReader(new InputStreamReader(System.in));

    // Returns the words of the next line; nothing more to read ends the program.
    static String[] read() throws IOException {
        String line = in.readLine();
        if (line == null) System.exit(0);
        return line.split(" ");
    }

    // Returns the cells that a placement covers.
    static int[][] covered(int block, int[] move) {
        int[][] cells = new int[4][];
        for (int k = 0; k < 4; k++) {
            int y = BLOCKS[block - 1][k][0], x = BLOCKS[block - 1][k][1];
            for (int turn = 0; turn < move[2]; turn++) { // a quarter turn clockwise about the centre
                int old = y;
                y = x;
                x = -old;
            }
            cells[k] = new int[] {move[0] + y, move[1] + x};
        }
        return cells;
    }

    // How good a placement is: low is good, empty cells directly below it are bad.
    static int rating(String[] board, int block, int[] move) {
        int[][] cells = covered(block, move);
        int sum = 0;
        for (int[] c : cells) {
            boolean own = false;
            for (int[] d : cells) own |= d[0] == c[0] + 1 && d[1] == c[1];
            if (!own && c[0] + 1 < FLOOR && board[c[0] + 1].charAt(c[1]) == '.') sum -= 8;
            sum += c[0];
        }
        return sum;
    }

    public static void main(String[] args) throws IOException {
        while (true) {
            String[] words = read();
            if (words[0].equals("blocks")) { // the last line of the start; words[1] is the whole sequence
                System.out.println("ready");
            } else if (words[0].equals("turn")) {
                // §8.2: half-turn, round, block, my points, the opponent's, combo, flag, milliseconds that are left
                int block = Integer.parseInt(words[3]);
                read(); // the opponent's last placement, which is on the board already
                String[] board = new String[ROWS];
                for (int y = 0; y < ROWS; y++) board[y] = read()[0];
                int most = Integer.MIN_VALUE;
                String[] best = {};
                for (int count = Integer.parseInt(read()[1]); count > 0; count--) {
                    String[] text = read();
                    int[] move = {Integer.parseInt(text[0]), Integer.parseInt(text[1]), Integer.parseInt(text[2])};
                    int value = rating(board, block, move);
                    if (value > most) {
                        most = value;
                        best = text;
                    }
                }
                System.out.println(String.join(" ", best));
            } else if (words[0].equals("end")) {
                return;
            }
            System.out.flush();
        }
    }
}
