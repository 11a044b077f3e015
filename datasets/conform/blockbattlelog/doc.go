// Package blockbattlelog compares transcripts of the original engines of AI Block Battle
// with the rules of package blockbattle. A file is JSON lines of four kinds, distinguished by
// their keys:
//
//	game       a whole game of the classic engine or the port: "rounds"
//	round      a single round of the classic engine from a given position: "in" and "res"
//	log        the lines one bot and its host exchanged: "log"
//
// Inputs of a replay are the pieces, the answers and the hole columns; every other value
// that a transcript gives is compared. Of the classic engine's transcripts it is compared
// as well what the published rules would have made of the same answers, where the
// transcript states it.
//
// Of a log, every line the host sent is compared with the line that our side would have
// sent. What the bot's own answers decide is played on from them: its board, points, combo
// and skips. What the opponent did is not in the log: there must be an answer that
// explains the change of the opponent's board and counters, and the rows that arrived must
// be as many, and have as many holes, as the opponent's points say. If the game of a log
// is among the files as well, all its lines are compared with the game's values.
package blockbattlelog
