package main

// netText is a value net as package netpack writes it. While it is empty the bot plays by
// the classic weights; bundling puts a net here.
const netText = ""
