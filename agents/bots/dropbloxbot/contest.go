package dropbloxbot

import "blockyard/agents/contest"

// hosted is the contest of Dropblox: rules §8 (protocol), §9 (time), §13 (history files) and §15 (server).
var hosted = &contest.Contest{
	About: `Mode local plays a game on this machine, practice a practice game at a contest's
server, and compete the next round of that server's competition. Several programs or seeds make a tournament
on this machine, which keeps no histories by default; --history "" keeps none in any mode.

The program is started for every turn, with the state as JSON and the remaining seconds
as its two arguments. It writes left, right, up, down and rotate, one per line; then the
block drops. A game has 300 seconds in all. One second before the time runs out, the
program is ended; the commands that it has written until then count.

The history of a game is a folder history/<id>_<time> with files state0, move0, state1,
... and meta. "agents host dropblox local 50" plays seed 50 with ./dropblox_ai. A
tournament prints the mean score of every program with its 95 % interval, and its gain
over the first program on the same seeds; with --points also how many seconds of
the clock the score took. After Ctrl-C, the files of a game are
complete, and a tournament prints the result of the games played.`,
	Uploads: contest.Uploads{Program: "dropblox_ai", Kit: []string{"client.py", "history.py", "history_server.py",
		"messaging.py", "urllib2_file.py", "viewer.py", "viewer_server.py"}},
	Options: []contest.Option{
		{Name: "seeds", Takes: "N,...", Help: "Play these seeds."},
		{Name: "seconds", Takes: "N", Default: "300", Clock: true, Help: "Time of a local game, in seconds."},
		{Name: "turns", Takes: "N", Default: "0", Clock: true, Help: "End a local game after so many turns; 0 is no limit."},
		{Name: "points", Takes: "N", Default: "0", Help: "End a local game at this score; 0 is no limit."},
		{Name: "history", Takes: "DIR", Empty: true, Help: "Folder for the games' histories; by default history."},
		{Name: "own-dir", Help: "Run every program in its own folder."},
		{Name: "workers", Takes: "N", Default: "1", Help: "Games at the same time, which share the processor."},
		{Name: "server", Takes: "URL", Help: "Address of the contest's server, for practice and compete."},
		{Name: "config", Takes: "FILE", Default: "config.txt", Help: "File of two lines: the team's name and its password."},
	},
}
