// Package vec steps many environments of one game side by side, on all cores, and writes what
// the seats see into flat slabs of memory that the caller owns. The example shows the loop.
//
// # Terms
//
// Package env explains the terms that are missing here.
//
//	environment   one of the Config.Envs games in progress, i = 0 … Envs-1
//	driven seat   a seat whose actions come from the caller; each other seat has an opponent
//	opponent      what plays a seat that is not driven, in one episode: an agent, or the caller, who is asked
//	asked seat    a seat whose opponent is the caller in this episode: such as a policy in another process
//	row           the observation, mask and action of one driven seat; row r of environment
//	              i is row i*Rows()+r of every slab
//	slab          one array of a Batch, such as the planes of all rows
//
// # Rows
//
// Config.Rows chooses between two forms, which differ in turn-based games only:
//
//	SeatRows     every driven seat has a row: row r is always the r-th driven seat, and shows what
//	             that seat observes, also while others act and when the game is over
//	ActingRows   an environment has as many rows as seats act at once; those that must act take
//	             them in ascending order. In a turn-based game there is one row, of the seat whose
//	             turn it is. A row that nobody takes shows zeros.
//
// Batch.Seat holds the seat of a row that must act, and 0xFF for a row that need not act. Such a row
// has an empty mask, and its action is ignored. (Under ActingRows, rows keep their seats when the
// game is over, so that the final position is that of the seats that acted last.)
//
// # What a step does
//
// A step plays the actions of the driven seats and of the opponents that act at the same time.
// Opponents then play alone until a driven seat must act or the game is over. The reward covers
// all of that. When the game is over, the rows show the final position, with empty masks. When
// Config.StepLimit truncates the episode, the rows show the position as it is, with its masks.
//
// # Asked seats
//
// An asked seat has no row: a step is the same as if an agent had given the same answers, and so are its rewards, logs,
// tallies and snapshots. Before each step, Asked says which of these seats act with the driven ones; Answer gives their
// actions. If a step leads to where only asked seats act, the environment Waits: Answer, and call Step again.
//
// # Randomness
//
// Everything random in an environment follows from its seed: episode 0 is Reset(seed), episode k is
// Reset(Derive(seed, k)), and agents, the draws from a Mixture and random choices use streams derived from the same
// seed. The result depends neither on the number of workers nor on the other environments. One Env of 4096
// environments seeded with s produces the same bytes as four of 1024 seeded with s, s+1024, s+2048 and s+3072.
package vec
