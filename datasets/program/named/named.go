// Package named writes the names of commands, such as "agents play", as the reader has them.
package named

// In is what Text does. An executable of several programs sets it when it starts.
var In = func(text string) string { return text }

// Text returns a text with commands as the reader has them: "blockyard play" in an executable of several programs.
func Text(text string) string { return In(text) }
