/* Plays random legal actions in 16 games of Block Battle against the baseline.

   cc -I rpc/library -o example rpc/library/example/main.c -L . -lblockyard */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blockyard.h"

enum { GAMES = 16, STEPS = 500 };

static int fail(int64_t env) {
    char message[300];
    blockyard_error(env, message, sizeof message);
    fprintf(stderr, "%s\n", message);
    return 1;
}

/* Returns a random action of those whose bits are set in a mask, 0 if there is none. */
static uint16_t choose(const uint8_t *mask, int64_t bytes) {
    uint16_t chosen = 0;
    int found = 0;
    for (int64_t action = 0; action < 8 * bytes; action++)
        if (mask[action / 8] >> action % 8 & 1 && rand() % ++found == 0)
            chosen = (uint16_t)action;
    return chosen;
}

int main(void) {
    int64_t env = blockyard_open("BlockBattle-v0", "{\"num_envs\": 16, \"opponents\": {\"1\": \"hand\"}}");
    if (env == 0)
        return fail(0);
    int64_t masks, ends;
    int64_t mask_at = blockyard_field(env, "mask", &masks);
    int64_t reward_at = blockyard_field(env, "reward", NULL);
    int64_t end_at = blockyard_field(env, "terminated", &ends);
    uint8_t *slab = aligned_alloc(64, (size_t)(blockyard_slab_size(env) + 63) / 64 * 64);
    uint16_t actions[GAMES];
    int won = 0, ended = 0;

    if (blockyard_reset(env, 7, slab) != 0)
        return fail(env);
    for (int step = 0; step < STEPS; step++) {
        for (int game = 0; game < GAMES; game++)
            actions[game] = choose(slab + mask_at + game * (masks / GAMES), masks / GAMES);
        if (blockyard_step(env, actions, slab) != 0)
            return fail(env);
        for (int game = 0; game < GAMES; game++) {
            float reward; /* of seat 0; each game has two */
            memcpy(&reward, slab + reward_at + 2 * sizeof reward * game, sizeof reward);
            ended += slab[end_at + game];
            won += slab[end_at + game] && reward > 0;
        }
    }
    printf("%d games ended, %d won\n", ended, won);
    blockyard_close(env);
    free(slab);
    return 0;
}
