/* Makes one mistake after the other and prints the messages. Exits with the number of the line that does not fail. */
#include <stdio.h>
#include <string.h>

#include "blockyard.h"

static void show(int64_t of) {
    char message[300];
    blockyard_error(of, message, sizeof message);
    puts(message);
}

#define REFUSED(of, call) \
    do { \
        if ((call) != -1) \
            return __LINE__; \
        show(of); \
    } while (0)
#define NOT_OPENED(game, options) \
    do { \
        if (blockyard_open(game, options) != 0) \
            return __LINE__; \
        show(0); \
    } while (0)

static int64_t slab[2000];
static uint16_t action = 60000;
static char bytes[64];

int main(void) {
    REFUSED(0, blockyard_step(0, &action, slab));
    NOT_OPENED("Chess-v0", NULL);
    REFUSED(0, blockyard_write(0, bytes, 1)); /* 0 is what a failed open returns */
    REFUSED(0, blockyard_read(0, bytes, 1));
    REFUSED(0, blockyard_step_handle(0, 1, &action, slab));
    REFUSED(0, blockyard_rows(0));
    blockyard_close(0);
    NOT_OPENED(NULL, "{}");
    NOT_OPENED("WinTetris-v0", "{\"num_envs\": ");
    NOT_OPENED("WinTetris-v0", "{\"1\": {}}");
    NOT_OPENED("BlockBattle-v0", "{\"opponents\": {\"first\": \"hand\"}}");
    REFUSED(99, blockyard_step(99, &action, slab));
    REFUSED(99, blockyard_rows(99));

    int64_t env = blockyard_open("WinTetris-v0",
                                 "{\"illegal\": \"error\", \"num_envs\": 1.0, \"seed\": 18446744073709551615}");
    if (blockyard_rows(env) != 1 || blockyard_slab_size(env) > (int64_t)sizeof slab)
        return __LINE__;
    REFUSED(env, blockyard_field(env, "planets", NULL));
    REFUSED(env, blockyard_field(env, NULL, NULL));
    REFUSED(env, blockyard_step(env, &action, slab));
    REFUSED(env, blockyard_reset(env, 1, NULL));
    if (blockyard_reset(env, 1, slab) != 0)
        return __LINE__;
    REFUSED(env, blockyard_step(env, &action, slab));
    REFUSED(env, blockyard_step(env, NULL, slab));
    REFUSED(env, blockyard_step(env, &action, NULL));
    REFUSED(env, blockyard_step(env, &action, (char *)slab + 4));
    REFUSED(env, blockyard_field(env, (const char *)8, NULL)); /* no memory is there */
    REFUSED(env, blockyard_write(env, bytes, 1));
    blockyard_error(env, NULL, 100);
    blockyard_error(env, bytes, -1);
    blockyard_close(env);
    blockyard_close(env);
    REFUSED(env, blockyard_step(env, &action, slab));

    int64_t connection = blockyard_connect();
    REFUSED(connection, blockyard_reset(connection, 1, slab));
    REFUSED(connection, blockyard_write(connection, bytes, -1));
    REFUSED(connection, blockyard_write(connection, NULL, 1));
    REFUSED(connection, blockyard_read(connection, bytes, -1));
    REFUSED(connection, blockyard_read(connection, NULL, 1));
    blockyard_close(connection);

    for (int opened = 0;; opened++) { /* as many games as there is memory for, and no more */
        env = blockyard_open("Blocking-v0", "{\"num_envs\": 10000}");
        if (env == 0)
            break;
        if (opened > 1000)
            return __LINE__;
    }
    show(0);
    return 0;
}
