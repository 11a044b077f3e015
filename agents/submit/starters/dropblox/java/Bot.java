// A complete program for Dropblox: it tries every rotation and column and takes the place that leaves the best board.
// The rules and the protocol are in env/dropblox/RULES.md; "§" below means a section of that page. The host starts the
// program for every turn, with the state as JSON and the seconds that are left.

import java.util.*;
import java.util.regex.*;

class Bot {
    int[][] bitmap; // rows, then columns
    int score;
    List<Object> blocks; // the first is in play, the others are the previews
    int i, j; // row, from the top, and column of its centre
    int[][] offsets;

    static final Pattern TOKEN = Pattern.compile("[\\[{}\\]]|\"[^\"]*\"|[^\\s,:\\[{}\\]]+");
    // Reads a value of JSON from its tokens: an object as a Map, a list as a List, all others as a String.
    static Object parse(Matcher in) {
        in.find();
        String first = in.group();
        if (!first.equals("{") && !first.equals("[")) return first;
        Map<Object, Object> members = new HashMap<>();
        List<Object> items = new ArrayList<>();
        for (Object v = parse(in); !v.equals("}") && !v.equals("]"); v = parse(in)) {
            if (first.equals("[")) items.add(v);
            else members.put(((String) v).replace("\"", ""), parse(in));
        }
        return first.equals("{") ? members : items;
    }

    static int number(Object value, String... keys) {
        for (String key : keys) value = ((Map<?, ?>) value).get(key);
        return Integer.parseInt((String) value);
    }

    @SuppressWarnings("unchecked")
    static List<Object> list(Object value, String key) { return (List<Object>) ((Map<?, ?>) value).get(key); }

    Bot(int[][] bitmap, int score, List<Object> blocks) {
        this.bitmap = bitmap;
        this.score = score;
        this.blocks = blocks;
        Object block = blocks.get(0);
        i = number(block, "center", "i"); j = number(block, "center", "j");
        offsets = list(block, "offsets").stream()
            .map(o -> new int[] {number(o, "i"), number(o, "j")}).toArray(int[][]::new);
    }

    boolean isFree(int i, int j) {
        return i >= 0 && i < bitmap.length && j >= 0 && j < bitmap[0].length && bitmap[i][j] == 0;
    }

    // Carries out a command; returns false, and changes nothing, if it is not legal (§4.2).
    boolean move(String command) {
        int ni = i + (command.equals("down") ? 1 : command.equals("up") ? -1 : 0);
        int nj = j + (command.equals("right") ? 1 : command.equals("left") ? -1 : 0);
        int[][] turned = offsets.clone();
        if (command.equals("rotate")) Arrays.setAll(turned, k -> new int[] {offsets[k][1], -offsets[k][0]});
        for (int[] o : turned) if (!isFree(ni + o[0], nj + o[1])) return false;
        i = ni; j = nj; offsets = turned;
        return true;
    }

    // Returns the game after the drop (§5): full rows are gone and scored (§6), the next block is in play.
    Bot drop() {
        while (move("down")) {}
        int[][] after = Arrays.stream(bitmap).map(int[]::clone).toArray(int[][]::new);
        for (int[] o : offsets) after[i + o[0]][j + o[1]] = 1;
        List<int[]> rows = new ArrayList<>(Arrays.asList(after));
        rows.removeIf(row -> Arrays.stream(row).allMatch(cell -> cell != 0));
        int gone = after.length - rows.size();
        for (int k = 0; k < gone; k++) rows.add(0, new int[after[0].length]);
        return new Bot(rows.toArray(after), score + (1 << gone) - 1, blocks.subList(1, blocks.size()));
    }

    // Returns how good the position is: points and low squares are good, empty cells directly below others are bad.
    int rating() {
        int value = score - (move("stay") ? 0 : 1000000); // the block has no room: the game is over (§7)
        for (int i = 0; i < bitmap.length; i++)
            for (int j = 0; j < bitmap[i].length; j++)
                if (bitmap[i][j] != 0) value -= bitmap.length - i + (isFree(i + 1, j) ? 8 : 0);
        return value;
    }

    // Returns the commands that move the block as far to the left as it goes.
    String leftmost() {
        String commands = "";
        while (move("left")) commands += "left\n";
        return commands;
    }

    // Returns the commands of the best landing that turns in place, goes sideways and drops.
    String best() {
        String answer = "", turned = "";
        int best = Integer.MIN_VALUE, top = i, middle = j;
        for (int turns = 0; turns == 0 || turns < 4 && move("rotate"); turns++, turned += "rotate\n") {
            for (String side : new String[] {"left", "right"}) {
                String commands = turned;
                for (boolean legal = true; legal; legal = move(side), commands += side + "\n") {
                    int value = drop().rating();
                    i = top;
                    if (value > best) answer = commands;
                    best = Math.max(best, value);
                }
                j = middle;
            }
        }
        return answer;
    }

    // The state is the last argument but one. "java Bot left" as the command puts a word before it.
    @SuppressWarnings("unchecked")
    public static void main(String[] args) {
        Map<String, Object> state = (Map<String, Object>) parse(TOKEN.matcher(args[args.length - 2]));
        int[][] bitmap = list(state, "bitmap").stream()
            .map(row -> ((List<Object>) row).stream().mapToInt(cell -> number(cell)).toArray()).toArray(int[][]::new);
        List<Object> blocks = list(state, "preview");
        blocks.add(0, state.get("block"));
        Bot game = new Bot(bitmap, number(state.get("score")), blocks);
        System.out.print(args[0].equals("left") ? game.leftmost() : game.best());
    }
}
