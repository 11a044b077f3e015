/* Calls the functions of blockyard.h in any order and with any arguments, from several threads at once:

       calls SEED THREADS CALLS

   Pointers are NULL or lead to memory of the size that the header asks for; whatever else a caller can pass is drawn.
   It ends the process with a message if a call returns what the header does not say. At the end it plays a game, whose
   hash it prints: nothing that was called before may change it. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blockyard.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))
#define REQUIRE(holds, ...) \
    do { \
        if (!(holds)) { \
            fprintf(stderr, __VA_ARGS__); \
            fputc('\n', stderr); \
            exit(2); \
        } \
    } while (0)

enum { NUMBERS = 12, SLAB = 1 << 18, ROWS = 64 };

static int calls; /* of each thread */
static _Atomic int64_t numbers[NUMBERS]; /* of environments and connections, some of them closed */
static const int64_t strange[] = {0, -1, 1000000, INT64_MAX, INT64_MIN}; /* never opened */
static const int64_t sizes[] = {0, 1, 2, 7, 64, 300, -1, -300, INT64_MIN, INT64_MAX, (int64_t)1 << 41};
static const char *const games[] = {
    "BlockBattle-v0", "WinTetris-v0", "Blocking-v0", "Dropblox-v0", "TetrisDuel-v0", "Chess-v0", "", "\xff\xfe", NULL,
};
static const char *const options[] = {
    NULL, "{}", "null", "{\"num_envs\": 3}", "{\"num_envs\": 3.0, \"seed\": 18446744073709551615}",
    "{\"num_envs\": 2, \"illegal\": \"random\"}", "{\"num_envs\": 4, \"illegal\": \"penalty\", \"packed\": true}",
    "{\"autoreset\": \"SameStep\", \"illegal\": \"random\", \"max_episode_steps\": 3}",
    "{\"fields\": [\"mask\"], \"first\": 18446744073709551615, \"seed\": 1}",
    "", "{", "[]", "7", "\"x\"", "\xff", "{} {}", "{}}", "{\"1\": {}}", "{\"\": {\"2\": 3}}",
    "{\"num_envs\": 0}", "{\"num_envs\": -5}", "{\"num_envs\": 1e300}", "{\"num_envs\": 99999999999999999999}",
    "{\"num_envs\": \"3\"}", "{\"num_envs\": null}", "{\"num_envs\": [[[[]]]]}", "{\"seed\": -1}", "{\"seed\": 1.5}",
    "{\"opponents\": {\"1\": \"hand:ply=1\"}}", "{\"opponents\": {}}", "{\"opponents\": {\"1\": {\"1\": {\"1\": {}}}}}",
    "{\"opponents\": {\"1\": [[\"random\", 1], [\"first\", 2.5]]}}", "{\"opponents\": {\"x\": \"hand\"}}",
    "{\"opponents\": {\"01\": \"hand\"}}", "{\"opponents\": {\"-1\": \"random\"}}", "{\"opponents\": {\"1\": 1e999}}",
    "{\"opponents\": 3}", "{\"opponents\": {\"99999999999999999999\": \"random\"}}", "{\"fields\": [3]}",
    "{\"autoreset\": 2}", "{\"rows\": \"seat\"}", "{\"max_episode_steps\": -1}",
};
enum { GAMES = 5, GOOD = 9 }; /* the first games and options, which can be opened */
static const char *const fields[] = {"mask", "planes", "reward", "planets", "", "\xff", NULL};
typedef struct {
    const char *bytes;
    int64_t size;
} Request;
#define REQUEST(text) {text, sizeof text - 1}
static const Request requests[] = {
    REQUEST("\x94\x00\x03\xa4open\x92\xacWinTetris-v0\x81\xa8num_envs\x03"),
    REQUEST("\x94\x00\x04\xa4open\x91\xadTetrisDuel-v0"),
    REQUEST("\x94\x00\x01\xa5hello\x91\x82\xa5proto\x92\x02\x00\xa6" "client\xa1" "c"),
    REQUEST("\x94\x00\x02\xa4ping\x90"),
    REQUEST("\x93\x02\xa4ping\x90"),
    REQUEST("\x94\x00\x05\xa5reset\x92\x01\x81\xa4seed\x05"),
    REQUEST("\x94\x00\x06\xa8snapshot\x91\x01"),
    REQUEST("\x94\x00\x07\xa5" "close\x91\x01"),
    REQUEST("\x94\x00\x08\xa4recv\x94\x01\x01\x01\x01"),
    REQUEST("\x94\x00\x09\xa4send\x93\x01\xc4\x00\xc4\x00"),
    REQUEST("\x94\x00\x0a\xa9step_slot\x92\x01\x07"),
    REQUEST("\x94\x00\x0b\xa5stats\x90"),
    REQUEST("\xdd\xff\xff\xff\xff"),
    REQUEST("\xdf\x00\x00\x00\x00"),
};
enum { OPENS = 2 }; /* the first requests, which are never changed: they would open more games than SLAB holds */

typedef struct {
    uint64_t state;
    uint64_t slab[SLAB / 8 + 1];
    uint16_t actions[ROWS];
    char bytes[1024];
} Caller;

static uint32_t draw(Caller *c, size_t n) {
    c->state = c->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((c->state >> 33) % n);
}

static int64_t number(Caller *c) { return draw(c, 8) ? numbers[draw(c, NUMBERS)] : strange[draw(c, LENGTH(strange))]; }

/* Keeps a number for later calls, and closes the one that it replaces. */
static void keep(Caller *c, int64_t number) {
    blockyard_close(atomic_exchange(&numbers[draw(c, NUMBERS)], number));
}

/* Returns memory for a slab, now and then none or one that is not aligned. */
static void *slab(Caller *c) {
    if (draw(c, 16))
        return c->slab;
    return draw(c, 2) ? NULL : (char *)c->slab + 1 + draw(c, 7);
}

static uint16_t *actions(Caller *c) {
    for (int k = 0; k < ROWS; k++)
        c->actions[k] = (uint16_t)(draw(c, 4) ? draw(c, 40) : draw(c, 0x10000));
    return draw(c, 16) ? c->actions : NULL;
}

/* Requires what holds for every returned value: it is in its range, and a failure has a message. */
static void check(const char *function, int64_t of, int64_t value, int64_t most) {
    REQUIRE(value >= -1 && value <= most, "%s(%" PRId64 ") returned %" PRId64, function, of, value);
    char text[64] = "";
    if (value == -1)
        blockyard_error(of, text, sizeof text);
    REQUIRE(value >= 0 || *text, "%s(%" PRId64 ") failed without a message", function, of);
}

static void open_games(Caller *c) {
    int good = draw(c, 2) == 0;
    int64_t opened = blockyard_open(games[draw(c, good ? GAMES : LENGTH(games))],
                                    options[draw(c, good ? GOOD : LENGTH(options))]);
    check("blockyard_open", 0, opened == 0 ? -1 : opened, INT64_MAX);
    if (opened == 0)
        return;
    REQUIRE(blockyard_rows(opened) <= ROWS && blockyard_slab_size(opened) <= SLAB, "the test has too little memory");
    keep(c, opened);
}

static void write_requests(Caller *c) {
    int64_t of = number(c), size = sizes[draw(c, LENGTH(sizes))];
    if (draw(c, 16) == 0) {
        int64_t written = blockyard_write(of, size > (int64_t)sizeof c->bytes ? c->bytes : NULL, size);
        check("blockyard_write", of, written, 0);
        return;
    }
    char *end = c->bytes;
    for (uint32_t left = 1 + draw(c, 3); left > 0; left--) {
        uint32_t k = draw(c, LENGTH(requests));
        memcpy(end, requests[k].bytes, (size_t)requests[k].size);
        if (k >= OPENS && draw(c, 8) == 0)
            end[draw(c, (size_t)requests[k].size)] ^= (char)(1 << draw(c, 8));
        end += requests[k].size;
    }
    size = end - c->bytes - (draw(c, 16) == 0);
    check("blockyard_write", of, blockyard_write(of, c->bytes, size), size);
}

static void read_answers(Caller *c) {
    int64_t of = number(c), room = sizes[draw(c, LENGTH(sizes))];
    void *into = room > (int64_t)sizeof c->bytes || draw(c, 8) ? c->bytes : NULL;
    check("blockyard_read", of, blockyard_read(of, into, room), room < 0 ? 0 : room);
}

static void message(Caller *c) {
    char text[301];
    int64_t size = sizes[draw(c, LENGTH(sizes))], most = (int64_t)sizeof text - 1;
    int64_t room = size < 0 || size > most ? 0 : size;
    memset(text, 'x', sizeof text);
    blockyard_error(number(c), size > most ? NULL : text, size);
    REQUIRE(text[room] == 'x' && (room == 0 || memchr(text, 0, (size_t)room)), "a message of %" PRId64 " bytes", size);
}

static void *play_about(void *of) {
    Caller *c = of;
    for (int k = 0; k < calls; k++) {
        int64_t n = number(c), size;
        switch (draw(c, 16)) {
        case 0:
            open_games(c);
            break;
        case 1:
            check("blockyard_rows", n, blockyard_rows(n), ROWS);
            break;
        case 2:
            check("blockyard_slab_size", n, blockyard_slab_size(n), SLAB);
            break;
        case 3:
            size = blockyard_field(n, fields[draw(c, LENGTH(fields))], draw(c, 2) ? &size : NULL);
            check("blockyard_field", n, size, SLAB);
            break;
        case 4:
        case 5:
            check("blockyard_reset", n, blockyard_reset(n, c->state, slab(c)), 0);
            break;
        case 6:
        case 7:
        case 8:
            check("blockyard_step", n, blockyard_step(n, actions(c), slab(c)), 0);
            break;
        case 9:
            message(c);
            break;
        case 10:
            if (draw(c, 8) == 0)
                blockyard_close(n);
            break;
        case 11:
            if (draw(c, 8) == 0)
                keep(c, blockyard_connect());
            break;
        case 12:
            write_requests(c);
            break;
        case 13:
            read_answers(c);
            break;
        case 14:
            check("blockyard_step_handle", n, blockyard_step_handle(n, draw(c, 4), actions(c), slab(c)), 0);
            break;
        default: /* now and then, a connection that has said hello and opened games, as most others have not */
            if (draw(c, 4))
                break;
            n = blockyard_connect();
            blockyard_write(n, requests[OPENS].bytes, requests[OPENS].size);
            blockyard_write(n, requests[0].bytes, requests[0].size);
            blockyard_write(n, requests[5].bytes, requests[5].size);
            keep(c, n);
        }
    }
    return NULL;
}

/* Plays some steps and prints a hash of all that they return. */
static int play(Caller *c) {
    int64_t env = blockyard_open("BlockBattle-v0", "{\"num_envs\": 3, \"illegal\": \"random\"}"), size;
    uint64_t hash = 14695981039346656037u;
    c->state = 1;
    memset(c->slab, 0, sizeof c->slab);
    REQUIRE(env > 0 && blockyard_reset(env, 7, c->slab) == 0, "no games can be opened any more");
    for (int step = 0; step < 50; step++) {
        for (int k = 0; k < ROWS; k++)
            c->actions[k] = (uint16_t)draw(c, 40);
        REQUIRE(blockyard_step(env, c->actions, c->slab) == 0, "a step fails");
        static const char *const all[] = {"planes", "globals", "mask", "seat", "reward", "score"};
        for (size_t f = 0; f < LENGTH(all); f++) {
            const uint8_t *at = (uint8_t *)c->slab + blockyard_field(env, all[f], &size);
            for (int64_t k = 0; k < size; k++)
                hash = (hash ^ at[k]) * 1099511628211u;
        }
    }
    printf("%016" PRIx64 "\n", hash);
    return 0;
}

int main(int count, char **arguments) {
    REQUIRE(count == 4, "want SEED THREADS CALLS");
    int threads = atoi(arguments[2]);
    calls = atoi(arguments[3]);
    Caller *callers = calloc((size_t)threads, sizeof *callers);
    pthread_t *started = calloc((size_t)threads, sizeof *started);
    REQUIRE(callers && started, "no memory for %d threads", threads);
    for (int k = 0; k < threads; k++) {
        callers[k].state = strtoull(arguments[1], NULL, 10) * 1000003u + (uint64_t)k;
        REQUIRE(pthread_create(&started[k], NULL, play_about, &callers[k]) == 0, "no thread");
    }
    for (int k = 0; k < threads; k++)
        pthread_join(started[k], NULL);
    for (int k = 0; k < NUMBERS; k++)
        blockyard_close(numbers[k]);
    return play(callers);
}
