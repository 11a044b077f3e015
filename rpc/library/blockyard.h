/* The games of Blockyard in the process of a C program. Link or load the shared library of ./rpc/library.

   All functions may be called from any thread. After fork, the child must not call any. */
#ifndef BLOCKYARD_H
#define BLOCKYARD_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens games. The name is such as "BlockBattle-v0"; options are a JSON object of the options of the method "open" in
   rpc/PROTOCOL.md, such as {"num_envs": 64, "opponents": {"1": "hand"}}, or NULL. Returns a number above 0 for the other
   functions, or 0 after an error, of which blockyard_error(0, ...) tells the last. */
int64_t blockyard_open(const char *game, const char *options);

/* Rows: an action and an observation each. Bytes of a slab: what a step writes. */
int64_t blockyard_rows(int64_t env);
int64_t blockyard_slab_size(int64_t env);

/* Where an array of the slab begins, in bytes, and how many bytes it has; -1 if there is no array of this name.
   "planes", "globals", "mask" and "seat" have an entry per row, "reward" (float), "score" (int32_t), "terminated" and
   "truncated" (uint8_t) one per game and, for the first two, seat. rpc/PROTOCOL.md describes them. */
int64_t blockyard_field(int64_t env, const char *name, int64_t *size);

/* Starts new games from a seed and writes their first positions. The slab is the caller's, aligned to 8 bytes. */
int32_t blockyard_reset(int64_t env, uint64_t seed, void *slab);

/* Plays an action in each row. The slab may be another one in each call, but must stay as it is until the next.
   This and reset return 0, or -1 after an error. */
int32_t blockyard_step(int64_t env, const uint16_t *actions, void *slab);

/* Writes the message of the last error as a string of at most size bytes with its 0. */
void blockyard_error(int64_t env, char *message, int64_t size);

/* Frees the games, or a connection. */
void blockyard_close(int64_t env);

/* All methods of the protocol: a connection is a session of rpc/PROTOCOL.md that has not said hello. Each request is
   written whole, in one call, and answered in it; returns its size or -1. blockyard_read returns how many bytes of the
   answers it has copied, 0 if there are no more. blockyard_step_handle is blockyard_step for a handle; after -1,
   blockyard_read returns why, as the answer to request 0. */
int64_t blockyard_connect(void);
int64_t blockyard_write(int64_t connection, const void *request, int64_t size);
int64_t blockyard_read(int64_t connection, void *into, int64_t room);
int32_t blockyard_step_handle(int64_t connection, uint32_t handle, const uint16_t *actions, void *slab);

#ifdef __cplusplus
}
#endif
#endif
