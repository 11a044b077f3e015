// Package paint draws an env.Frame as SVG, as pixels, and in the colours of a terminal. It has the one palette: the
// style sheet of the viewer and the pictures of the rules take their colours from here, which tests compare.
//
// It stands beside the rules, below everything that shows a game, because the server, the viewer and the tests of the
// rules need it alike, and the last of these may import nothing of datasets. Only the pages of the viewer draw boards
// themselves, on a canvas that follows the pointer; they have the same colours.
package paint

import "blockyard/env"

// A Theme is the colours of pictures on light or on dark pages, each as "#rrggbb".
type Theme struct {
	Surface, Text, Muted, Line string // background, text, text of lesser importance, borders
	Well, Shade                string // background of a board, marked cells
	// Ink has the colours of cells by env.Cell.Ink; 0 is an empty cell.
	Ink  [16]string
	Seat [env.MaxSeats]string // cells by seat, for games whose cells show seats
}

// Light is for light pages and for pixels.
var Light = Theme{
	Surface: "#ffffff", Text: "#171a21", Muted: "#5c6675", Line: "#dfe4eb", Well: "#e9edf3", Shade: "#d3dae4",
	Ink: [16]string{
		"#f7f9fb", "#4fb3e8", "#2f6fd0", "#ee9a1f", "#efcf2f", "#1fa67a", "#c36bb0", "#db5a2a",
		"#98a4b5", "#525e70", "#14808a", "#7c5cd6", "#a0673a", "#ee84ab", "#9dc03c", "#c43d55",
	},
	Seat: [env.MaxSeats]string{"#2f6fd0", "#db5a2a", "#1fa67a", "#e3ab14"},
}

// Dark is for dark pages.
var Dark = Theme{
	Surface: "#161a22", Text: "#e9ecf2", Muted: "#97a1b2", Line: "#262c38", Well: "#11151c", Shade: "#2a3240",
	Ink: [16]string{
		"#1a1f29", "#4fb3e8", "#3f7fe6", "#ee9a1f", "#efcf2f", "#1fa67a", "#c36bb0", "#db5a2a",
		"#6f7b8e", "#3d4757", "#1d96a1", "#8f71e8", "#b0764a", "#ee84ab", "#9dc03c", "#c43d55",
	},
	Seat: [env.MaxSeats]string{"#4a88ef", "#db5a2a", "#1fa67a", "#e3ab14"},
}

// Themes are the themes by name.
var Themes = map[string]*Theme{"light": &Light, "dark": &Dark}

// terminal is the colour of each ink in a terminal of 256; ink 0, the background, keeps the terminal's own.
var terminal = [16]int{0, 51, 21, 208, 226, 46, 201, 196, 250, 240, 33, 213, 118, 220, 99, 15}
