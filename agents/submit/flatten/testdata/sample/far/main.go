package main

import _ "embed"

//go:embed main.go
var self string

func main() { println(self) }
