// Package envtest checks that a game keeps the promises of package env. A game's own test
// is three lines:
//
//	func TestConforms(t *testing.T)   { envtest.Run(t, Game) }
//	func FuzzDecode(f *testing.F)     { envtest.Fuzz(f, Game) }
//	func BenchmarkGame(b *testing.B)  { envtest.Bench(b, Game) }
//
// Run plays random games and checks one promise per subtest. It also compares everything that can
// be observed of one seeded game with the recorded text in testdata/playthrough.txt
// (playthrough-<variant>.txt for a variant).
//
// The environment variable BLOCKYARD_SEED=n selects other random games; BLOCKYARD_UPDATE=1
// rewrites the recorded texts.
package envtest
