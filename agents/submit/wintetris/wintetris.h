/* wintetris.h - what a WinTetris solver in a shared library looks like from outside.
 *
 * One header for both sides: a host that loads or links a solver, and a solver that is
 * built as a library (define WT_BUILD before including it, so that its functions are
 * exported). Plain C89 declarations with C99 integers; usable from C++.
 *
 * Memory: everything a pointer here leads to belongs to the caller, is read during the
 * call only, and is never kept or freed by the library. Texts are copied into a buffer of
 * the caller's.
 *
 * Threads: any thread may call anything at any time. Calls on one solver happen one after
 * the other; different solvers do not wait for each other.
 */
#ifndef WINTETRIS_H
#define WINTETRIS_H

#include <stdint.h>

#if defined(_WIN32) && defined(WT_BUILD)
#define WT_API __declspec(dllexport)
#elif defined(__GNUC__) && defined(WT_BUILD)
#define WT_API __attribute__((visibility("default")))
#else
#define WT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. It is raised when a host or a library of the old one
 * could no longer work; members added at the end of a struct do not raise it. */
#define WT_ABI 1

/* Bits of an answer. Left with right, and clockwise with counter-clockwise, exclude each
 * other: a host ignores both of such a pair. No bit at all leaves the piece to gravity. */
enum {
	WT_MOVELEFT = 0x01,
	WT_MOVERIGHT = 0x02,
	WT_ROTATECW = 0x04,
	WT_ROTATECCW = 0x08,
	WT_DROP = 0x10
};

/* Kinds of pieces. */
enum { WT_I, WT_J, WT_L, WT_O, WT_S, WT_T, WT_Z };

/* Failures. A host takes any negative answer as no bits. */
enum {
	WT_BADHANDLE = -1, /* no such solver, or it has been closed */
	WT_BADARGUMENT = -2, /* null pointer, wrong size, field, kind or place not supported */
	WT_INTERNAL = -3 /* the solver failed; it may be called again */
};

/* A field of 10 columns and 20 rows. */
typedef struct {
	uint32_t size; /* sizeof(wt_field) */
	int32_t width, height;
	const uint8_t *cells; /* height*width bytes, row by row, the top row first; 0 is empty */
} wt_field;

/* A piece and where it is. Each kind has a square box: 4x4 for I, 2x2 for O, 3x3 for the
 * others; turning clockwise adds one to the rotation and leaves the box where it is. */
typedef struct {
	uint32_t size; /* sizeof(wt_block) */
	int32_t kind; /* WT_I ... WT_Z */
	int32_t rotation; /* 0 ... 3 */
	int32_t x; /* column of the box's left edge, may be negative */
	int32_t y; /* row of the box's top edge, counted from the top row 0; may be negative */
} wt_block;

/* The WT_ABI the library was built with. */
WT_API int32_t wt_abi_version(void);

/* A new solver, or 0 if it cannot be had; then wt_last_error(0, ...) says why. options is
 * text the solver defines, such as "evaluator=hand;parts=1"; NULL and "" are the same. */
WT_API int64_t wt_open(const char *options);

/* One tick: the bits to press, or a failure. The field does not hold the current piece.
 * current is where the piece is now, next where it will appear. new_piece is 1 in the
 * first tick of a piece and 0 in the others. */
WT_API int32_t wt_update(int64_t solver, const wt_field *field, const wt_block *current,
                         const wt_block *next, int32_t new_piece);

/* Ends a solver, after a call on it that is under way. Returns 0 or a failure. */
WT_API int32_t wt_close(int64_t solver);

/* Copies what went wrong last with a solver, in English, at most len-1 bytes and a final
 * 0; solver 0 is for wt_open. Returns the length of the whole text without the final 0
 * (0 if nothing went wrong), or a failure. buf may be NULL if len is 0. */
WT_API int32_t wt_last_error(int64_t solver, char *buf, int32_t len);

#ifdef __cplusplus
}
#endif

#endif
