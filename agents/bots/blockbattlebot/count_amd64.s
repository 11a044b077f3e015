//go:build amd64 && !noasm

#include "go_asm.h"
#include "textflag.h"
#include "numbers_amd64.h"
#include "terms_amd64.h"

#define V0 Y0
#define V1 Y1
#define V2 Y2
#define V3 Y3
#define V4 Y4
#define V5 Y5
#define V6 Y6
#define V7 Y7
#define V8 Y8
#define V9 Y9
#define V10 Y10
#define T0 Y14
#define T1 Y15

#define MOV VMOVDQU
#define AND VPAND
#define ANDN VPANDN
#define OR VPOR
#define XOR VPXOR

// Bits are counted in bytes: POP sets acc, MORE adds to it, SUM makes one number per board of it.
#define NIBBLES Y11
#define COUNTS Y12
#define HALVES(x) \
	VPAND   NIBBLES, x, T0; \
	VPSRLW  $4, x, T1; \
	VPAND   NIBBLES, T1, T1; \
	VPSHUFB T0, COUNTS, T0; \
	VPSHUFB T1, COUNTS, T1
#define POP(x, acc) \
	HALVES(x); \
	VPADDB T1, T0, acc
#define MORE(x, acc) \
	HALVES(x); \
	VPADDB T1, T0, T0; \
	VPADDB T0, acc, acc
#define SUM(acc) VPSADBW ZERO, acc, acc
#define NONE(x, label) \
	VPTEST x, x; \
	JZ     label
#define PACK(r, y) \
	VMOVDQU (64*r)(DI), y; \
	VSHUFPS $0x88, (64*r+32)(DI), y, y; \
	VPERMQ  $0xd8, y, y

// func count4(b *batch, work *uint64, terms *int32, least, n int)
TEXT ·count4(SB), NOSPLIT, $0-40
	MOVQ    b+0(FP), AX
	MOVQ    work+8(FP), BX
	MOVQ    n+32(FP), CX
	MOVQ    BX, DI
	VMOVDQU nibble<>(SB), NIBBLES
	VMOVDQU ones<>(SB), COUNTS
	VPXOR   ZERO, ZERO, ZERO

half:
#include "count_amd64.h"
	ADDQ    $32, AX
	ADDQ    $32, BX
	SUBQ    $4, CX
	JG      half

	TERMS
	VZEROUPPER
	RET
