// Package viewer shows recorded games in a web browser: one page, served from memory with
// everything it needs, that knows cells, pieces and notes but no game. It reads files of
// records, folders of them, and Dropblox history folders, also while they are written.
//
// # Addresses
//
//	GET  /                the page; #GAME/FRAME in its address leads to a frame
//	GET  /api/games       ?q=WORDS&from=N&count=N  the list: games
//	GET  /api/game        ?id=GAME                 what there is of a game: info
//	GET  /api/frames      ?id=GAME&from=N&count=N  frames, 256 at most at once
//	POST /post_game       a Dropblox game in the form of the contest's own viewer; answers a number
//	GET  /view_game       ?id=NUMBER               leads to the page of a game posted so
//
// A game is named by a list's own words, never by a path: what is not in the list does not
// exist, and nothing a browser says becomes the name of a file.
//
// # Time and memory
//
// Every answer reads for a fraction of a second at most and says whether there is more;
// the page asks again. A few games are held open, each with its choices (a million at
// most) and a few thousand positions; frames are painted when they are asked for.
package viewer
