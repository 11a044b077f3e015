package main

import "strings"

func main() {
	a, _, _ := strings.Cut("a b", " ")
	println(a)
}
