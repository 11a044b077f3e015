// Constants and macros of the kernels. A constant has room for a register of AVX-512.

#define CONSTANT(name, value) \
	DATA name<>+0(SB)/8, value; \
	DATA name<>+8(SB)/8, value; \
	DATA name<>+16(SB)/8, value; \
	DATA name<>+24(SB)/8, value; \
	DATA name<>+32(SB)/8, value; \
	DATA name<>+40(SB)/8, value; \
	DATA name<>+48(SB)/8, value; \
	DATA name<>+56(SB)/8, value; \
	GLOBL name<>(SB), RODATA, $64

CONSTANT(bytes, $0x0101010101010101)
CONSTANT(words, $0x0001000100010001)
CONSTANT(nibble, $0x0f0f0f0f0f0f0f0f)

DATA ones<>+0(SB)/8, $0x0302020102010100
DATA ones<>+8(SB)/8, $0x0403030203020201
DATA ones<>+16(SB)/8, $0x0302020102010100
DATA ones<>+24(SB)/8, $0x0403030203020201
GLOBL ones<>(SB), RODATA, $32

#define ZERO4(a, b, c, d) \
	VPXOR a, a, a; \
	VPXOR b, b, b; \
	VPXOR c, c, c; \
	VPXOR d, d, d
