// Package envtest checks that a game keeps the promises of package env. A game's own test
// is three lines:
//
//	func TestConforms(t *testing.T)   { envtest.Run(t, Game) }
//	func FuzzDecode(f *testing.F)     { envtest.Fuzz(f, Game) }
//	func BenchmarkGame(b *testing.B)  { envtest.Bench(b, Game) }
//
// Run plays random games with an invariant check after every move, one subtest for each
// promise, and compares one seeded game, all that can be observed of it, with the text
// in testdata/playthrough.txt (playthrough-<variant>.txt for a variant).
//
// BLOCKYARD_SEED=n in the environment plays other games than the usual ones;
// BLOCKYARD_UPDATE=1 rewrites the playthroughs, whose diff is then the review.
package envtest
