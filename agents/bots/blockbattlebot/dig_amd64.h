// What the kernels of digs share. They keep the holes and open cells of each column, HOLES and OPEN, where count4 left
// other things, and what later8 needs of dig8, KEPT: the digits of how many cells rows lack, the rows with holes, and
// those that cover the topmost one.
#define DIG(i) (32*(const_digsAt+i))(DI)
#define HOLES(x) (64*(const_Terms+4)+32*(x))(BX)
#define OPEN(x) (64*(const_Terms+4)+32*(10+x))(BX)
#define KEPT(i) (64*(const_Terms+4)+32*(20+i))(BX)

CONSTANT(one, $0x0000000100000001)
CONSTANT(ten, $0x0000000a0000000a)

// COLUMNS does m for each column.
#define COLUMNS(m) \
	m(0); \
	m(1); \
	m(2); \
	m(3); \
	m(4); \
	m(5); \
	m(6); \
	m(7); \
	m(8); \
	m(9)

// LOW sets y to the lower halves of 64 bytes, shifted to the right.
#define LOW(k, at, shift, y, t) \
	VMOVDQU (64*(k))(at), y; \
	VMOVDQU (64*(k)+32)(at), t; \
	VPSRLQ  shift, y, y; \
	VPSRLQ  shift, t, t; \
	VSHUFPS $0x88, t, y, y; \
	VPERMQ  $0xd8, y, y

// POP sets Y10 to the number of bits of each number in x.
#define POP(x) \
	VPAND      Y12, x, Y10; \
	VPSRLW     $4, x, Y11; \
	VPAND      Y12, Y11, Y11; \
	VPSHUFB    Y10, Y13, Y10; \
	VPSHUFB    Y11, Y13, Y11; \
	VPADDB     Y11, Y10, Y10; \
	VPMADDUBSW Y14, Y10, Y10; \
	VPMADDWD   Y15, Y10, Y10

// POPS is what dig8 and later8 load for POP.
#define POPS \
	VMOVDQU nibble<>(SB), Y12; \
	VMOVDQU ones<>(SB), Y13; \
	VMOVDQU bytes<>(SB), Y14; \
	VMOVDQU words<>(SB), Y15

// COVERED takes the part of column x in the topmost row with a hole, Y7: Y6 counts holes, Y9 has the rows that are open
// wherever there is one.
#define COVERED(x) \
	VPAND    HOLES(x), Y7, Y10; \
	VPCMPEQD Y5, Y10, Y10; \
	VPADDD   Y10, Y6, Y6; \
	VPOR     OPEN(x), Y10, Y10; \
	VPAND    Y10, Y9, Y9

// LESS keeps the rows in Y9 without digit n, if there are some, and adds 1 to Y6, times two, otherwise.
#define LESS(n) \
	VPANDN    Y9, n, Y10; \
	VPCMPEQD  Y5, Y10, Y11; \
	VPBLENDVB Y11, Y9, Y10, Y9; \
	VPADDD    Y6, Y6, Y6; \
	VPSUBD    Y11, Y6, Y6

// FREE sets Y7 to the topmost row with a hole in Y4, and Y9 to the rows that are open wherever that has one. It takes 1
// off Y6 for each column without a hole there.
#define FREE \
	VPSUBD   Y4, Y5, Y7; \
	VPAND    Y4, Y7, Y7; \
	VPCMPEQD Y9, Y9, Y9; \
	COLUMNS(COVERED)

// GAPS sets Y6 to how many cells rows lack together, from their digits in Y0 to Y3.
#define GAPS(rows) \
	VPAND  rows, Y3, Y7; \
	POP(Y7); \
	VPADDD Y10, Y10, Y6; \
	VPAND  rows, Y2, Y7; \
	POP(Y7); \
	VPADDD Y10, Y6, Y6; \
	VPADDD Y6, Y6, Y6; \
	VPAND  rows, Y1, Y7; \
	POP(Y7); \
	VPADDD Y10, Y6, Y6; \
	VPADDD Y6, Y6, Y6; \
	VPAND  rows, Y0, Y7; \
	POP(Y7); \
	VPADDD Y10, Y6, Y6

// COVERS sets Y10 to how many rows Y9 has; the number of cells they lack and the least that one does go where they are
// told. There are none where there are no rows. It uses up Y9; Y8 must not be in use.
#define COVERS(rows, gaps, least) \
	POP(Y9); \
	VMOVDQU  Y10, rows; \
	GAPS(Y9); \
	VMOVDQU  Y6, gaps; \
	VPCMPEQD Y5, Y9, Y8; \
	VPXOR    Y6, Y6, Y6; \
	LESS(Y3); \
	LESS(Y2); \
	LESS(Y1); \
	LESS(Y0); \
	VPANDN   Y6, Y8, Y6; \
	VMOVDQU  Y6, least
