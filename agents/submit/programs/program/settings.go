package program

// Package agents/submit writes this file again for every one-file bot.

// NetText is the network that the program plays with, as package netpack encodes it. Without one the program plays
// with the baseline, a hand-tuned evaluator.
const NetText = ""

// Ply is how many moves the search looks ahead, where a game offers several depths.
const Ply = 2
