package main

import (
	"fmt"

	"sample/levels"
)

var start = levels.Level()

func main() { fmt.Println(start) }
