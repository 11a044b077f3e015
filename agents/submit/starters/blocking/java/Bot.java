// A complete bot of Blocking: it plays the legal placement of the largest shape, nearest to the middle.
// The rules and the protocol are in env/blocking/RULES.md; "§" below means a section of that page.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

class Bot {
    static final BufferedReader in = new BufferedReader(new InputStreamReader(System.in));

    // Returns the next line; nothing more to read ends the program: the game is over.
    static String read() throws IOException {
        String line = in.readLine();
        if (line == null) System.exit(0);
        return line.trim();
    }

    static int number(String text) {
        return Integer.parseInt(text);
    }

    // Returns the cells {x, y} that a move covers (§3.2). A shape is the words of its line: letter cols rows text.
    static List<int[]> covered(String[] shape, int column, int row, String code) {
        List<int[]> cells = new ArrayList<>();
        int columns = number(shape[1]);
        for (int k = 0; k < shape[3].length(); k++) {
            if (shape[3].charAt(k) != '#') continue;
            int x = k % columns, y = k / columns;
            boolean flip = code.charAt(1) == '1';
            int[] cell = flip ? new int[] {y, x} : new int[] {x, y};
            for (int r = code.charAt(2) - '0'; r > 0; r--) cell = new int[] {-cell[1], cell[0]};
            cells.add(cell);
        }
        int[] origin = cells.get(code.charAt(3) - '1').clone(); // the square that lies on the cell (column, row)
        for (int[] cell : cells) {
            cell[0] += column - origin[0];
            cell[1] += row - origin[1];
        }
        return cells;
    }

    public static void main(String[] args) throws IOException {
        Map<Character, String[]> shapes = new HashMap<>();
        for (int count = number(read()); count > 0; count--) {
            String[] words = read().split(" ");
            shapes.put(words[0].charAt(0), words);
        }
        int players = number(read()), me = number(read()), size = number(read());
        String letters = read();
        System.err.println("player " + me + " of " + players + ", letters " + letters); // free for logging

        while (true) {
            String[] board = new String[size];
            for (int y = 0; y < size; y++) board[y] = read();
            for (int count = number(read()); count > 0; count--) read(); // what the others did: the board has it
            int largest = 0, nearest = 0;
            String best = "";
            for (int count = number(read()); count > 0; count--) {
                String line = read();
                String[] m = line.split(" ");
                List<int[]> cells = covered(shapes.get(m[2].charAt(0)), number(m[0]), number(m[1]), m[2]);
                int way = Integer.MAX_VALUE; // twice the way to the middle of the board
                for (int[] c : cells) {
                    way = Math.min(way, Math.abs(2 * c[0] - size + 1) + Math.abs(2 * c[1] - size + 1));
                }
                if (cells.size() > largest || cells.size() == largest && way < nearest) {
                    largest = cells.size();
                    nearest = way;
                    best = line;
                }
            }
            System.out.println(best);
            System.out.flush();
        }
    }
}
