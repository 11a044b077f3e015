//go:build amd64 && !noasm

#include "go_asm.h"
#include "textflag.h"
#include "numbers_amd64.h"
#include "terms_amd64.h"

// With AVX-512, eight boards are measured at a time, and one instruction counts the bits of each.

#define V0 Z0
#define V1 Z1
#define V2 Z2
#define V3 Z3
#define V4 Z4
#define V5 Z5
#define V6 Z6
#define V7 Z7
#define V8 Z8
#define V9 Z9
#define V10 Z10
#define T0 Z14
#define T1 Z15
#define MOV VMOVDQU64
#define AND VPANDQ
#define ANDN VPANDNQ
#define OR VPORQ
#define XOR VPXORQ
#define POP(x, acc) VPOPCNTQ x, acc
#define MORE(x, acc) \
	VPOPCNTQ x, T0; \
	VPADDQ   T0, acc, acc
#define SUM(acc)
#define NONE(x, label) \
	VPTESTMQ x, x, K1; \
	KORTESTW K1, K1; \
	JZ       label
#define PACK(r, y) \
	VMOVDQU64 (64*r)(DI), Z3; \
	VPMOVQD   Z3, y

// func count8(b *batch, work *uint64, terms *int32, least int)
TEXT ·count8(SB), NOSPLIT, $0-32
	MOVQ  b+0(FP), AX
	MOVQ  work+8(FP), BX
	MOVQ  BX, DI
	VPXOR ZERO, ZERO, ZERO
#include "count_amd64.h"
	TERMS
	VZEROUPPER
	RET
