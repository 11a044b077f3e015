package main

// netText is a value net as package netpack writes it. While it is empty the bot plays by
// the hand-tuned weights; bundling puts a net here.
const netText = ""

// ply is how many choices the bot looks ahead, its own and the opponent's, 2 to 6; bundling sets it.
const ply = 2
