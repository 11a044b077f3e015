/* The games of Blockyard in the process of a C program. Link or load the shared library of ./rpc/library.

   Any thread may call any function at any time. Calls for the same environment or connection take turns: the second
   waits until the first has returned. After fork, the child must not call any.

   Every argument is checked: a number that is not open, an option, a size or a pointer that is NULL or not aligned is
   an error, whose message blockyard_error writes, and changes nothing. What cannot be checked is the caller's: memory
   must be as large as these comments say, and strings end with 0. */
#ifndef BLOCKYARD_H
#define BLOCKYARD_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens games. The name is such as "BlockBattle-v0"; options are a JSON object of the options of the method "open" in
   rpc/PROTOCOL.md, such as {"num_envs": 64, "opponents": {"1": "hand"}}, or NULL. Returns a number above 0 for the
   other functions, or 0 after an error, of which blockyard_error(0, ...) tells the last of all threads. */
int64_t blockyard_open(const char *game, const char *options);

/* Rows: an action and an observation each. Bytes of a slab: what a step writes. -1 after an error. */
int64_t blockyard_rows(int64_t env);
int64_t blockyard_slab_size(int64_t env);

/* Where an array of the slab begins, in bytes, and, unless size is NULL, how many bytes it has; -1 after an error,
   such as no array of this name. "planes", "globals", "mask" and "seat" have an entry per row, "reward" (float),
   "score" (int32_t), "terminated" and "truncated" (uint8_t) one per game and, for the first two, seat.
   rpc/PROTOCOL.md describes them. */
int64_t blockyard_field(int64_t env, const char *name, int64_t *size);

/* Starts new games from a seed and writes their first positions to a slab. The slab is the caller's, aligned to 8
   bytes. It may be another one in each call, but must stay as it is until the next call for the environment. */
int32_t blockyard_reset(int64_t env, uint64_t seed, void *slab);

/* Plays an action in each row and writes the next positions to a slab, as reset does. This and reset return 0, or -1
   after an error. */
int32_t blockyard_step(int64_t env, const uint16_t *actions, void *slab);

/* Writes the message of the last error for a number as a string of at most size bytes with its 0; an empty one if
   there was none. Writes nothing if message is NULL or size is not above 0. */
void blockyard_error(int64_t number, char *message, int64_t size);

/* Frees an environment or a connection, after the calls for it that have begun. Does nothing for another number. */
void blockyard_close(int64_t number);

/* All methods of the protocol: a connection is a session of rpc/PROTOCOL.md that has not said hello. An environment
   is none. Requests are written whole, one or more in a call, and answered in it; returns size, or -1 after an error:
   one in the requests ends the session. blockyard_read returns how many bytes of the answers it has copied, at most
   room, 0 if there are no more, -1 after an error. blockyard_step_handle is blockyard_step for a handle; after -1,
   blockyard_read returns why, as the answer to request 0. */
int64_t blockyard_connect(void);
int64_t blockyard_write(int64_t connection, const void *requests, int64_t size);
int64_t blockyard_read(int64_t connection, void *into, int64_t room);
int32_t blockyard_step_handle(int64_t connection, uint32_t handle, const uint16_t *actions, void *slab);

#ifdef __cplusplus
}
#endif
#endif
