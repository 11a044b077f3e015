// Package viewer shows recorded games in a web browser. It serves one page from memory, which knows boards,
// pieces and notes but no game. It reads files of records, folders of them, and Dropblox history
// folders, and follows them while they are being written.
//
// # Addresses
//
//	GET  /                the page; #GAME/TURN opens a game at a turn, #GAME/TURN.STEP at a frame of it
//	GET  /api/games       ?q=WORDS&from=N&count=N  the list of games
//	GET  /api/game        ?id=GAME&known=N         description of a game: info; the page knows the first N turns
//	GET  /api/frames      ?id=GAME&from=N&count=N  frames, at most 256 per request
//	GET  /api/analysis    ?id=GAME&turn=N&agent=A  what the seats could have played: analysis.Position
//	GET  /api/marked      ?id=GAME&turn=N&seat=N&action=N  the frame of a turn that shows another action
//
// A game has an id in the list, never a path. A request cannot name a file, only a game in the list, and only the
// agents that the analyst offers. The analyst is handed in: this package knows no agents.
//
// # Time and memory
//
// Every response reads files for at most a fraction of a second and says whether there is more; the page
// then asks again. A few games stay open, each with its choices (at most a million) and a few thousand
// positions. Frames are painted on request.
package viewer
