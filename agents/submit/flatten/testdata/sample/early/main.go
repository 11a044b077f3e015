package main

import "fmt"

var start int

func init() { start = 1 }

func main() { fmt.Println(start) }
