// Package vec steps many environments of one game side by side, on all cores, and writes what
// the seats see into flat slabs of memory that the caller owns. The example shows the loop.
//
// # Terms
//
// Package env explains the terms that are missing here.
//
//	environment   one of the Config.Envs games in progress, i = 0 … Envs-1
//	driven seat   a seat whose actions come from the caller; each other seat has an agent
//	row           the observation, mask and action of one driven seat; an environment has
//	              Rows() = min(Game.Rows, driven seats) rows, and its row r is row
//	              i*Rows()+r of every slab
//	slab          one array of a Batch, such as the planes of all rows
//
// The driven seats that must act take the rows in ascending order. In a simultaneous game, row r is
// always the r-th driven seat. In a turn-based game there is one row, and Batch.Seat holds the seat
// whose turn it is. A row without a seat has Seat 0xFF, an empty mask and an observation of zeros,
// and its action is ignored. A row needs an action exactly when its mask is not empty.
//
// # What a step does
//
// A step plays the actions of the driven seats and of the agents that act at the same time.
// Agents then play alone until a driven seat must act or the game is over. The reward covers
// all of that. When the game is over, the rows show the final position to the seats they
// belonged to, with empty masks. When Config.StepLimit truncates the episode, the rows show
// the position as it is, with its masks.
//
// # Randomness
//
// Everything random in an environment follows from its seed: episode 0 is Reset(seed), episode
// k is Reset(Derive(seed, k)), and agents and random choices use streams derived from the same
// seed. The result depends neither on the number of workers nor on the other environments. One
// Env of 4096 environments seeded with s produces the same bytes as four of 1024 seeded with
// s, s+1024, s+2048 and s+3072.
package vec
