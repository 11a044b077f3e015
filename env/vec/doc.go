// Package vec steps many games of one kind side by side, on all cores, and writes what
// the seats see straight into flat slabs that the caller owns.
//
// # Words
//
//	environment   one of the Config.Envs games in progress, i = 0 … Envs-1
//	driven seat   a seat whose choices come from the caller; the others have an agent here
//	row           what one driven seat sees and must answer; every environment has
//	              Rows() = min(Game.Rows, driven seats) of them, row r of environment i
//	              being row i*Rows()+r of every slab
//	episode       one game of an environment, from its Reset to its end
//
// The driven seats that must act take the rows in ascending order. In a game where all
// act at once row r is the r-th driven seat, always; in a game of turns there is one row
// and Batch.Seat tells whose turn it is. A row without a seat has Seat 0xFF, an empty
// mask and zeros, and its action is ignored: a row asks for an action exactly when its
// mask has a bit.
//
// # One step of one environment
//
// The driven seats' actions and those of the agents acting at the same time are played;
// then agents play on alone until a driven seat must act or the game is over. Reward is
// the change over all of that. Once the game is over the rows show the final position to
// the seats they belonged to, with empty masks. A game cut off by Config.StepLimit shows
// the position as it stands, masks included.
//
// # Randomness
//
// All that is random in an environment follows from its seed: episode 0 is Game.New with
// Reset(seed), episode k is Reset(Derive(seed, k)), and its agents and random choices
// have streams derived from the same. What it does depends neither on the number of
// workers nor on its neighbours, so one Env of 4096 seeded with s does byte for byte what
// four Envs of 1024 seeded with s, s+1024, … do.
package vec
