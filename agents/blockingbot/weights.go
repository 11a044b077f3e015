package blockingbot

// Tuned are the weights Hand plays with: the best of some thirty tried against each other
// and against Greedy, one choice deep.
var Tuned = Weights{Squares: 1, Corners: 0.5, Allowed: 0.2, Reach4: 0.15}
