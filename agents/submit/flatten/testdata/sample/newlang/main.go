package main

func main() { run(3) }

func run(n int) {}

func first[T any](xs []T) T { return xs[0] }

type box[T any] struct{ of T }

type stack struct{ cells [4]int }

func (s *stack) push() {}
