package main

// netText is a value net as package netpack writes it. While it is empty the bot plays by
// the hand-tuned weights; bundling puts a net here.
const netText = ""

// ply is how many own choices the bot looks ahead, 2 to 4; bundling sets it.
const ply = 2
