package main

import (
	"context"
	"net/url"
	"syscall/js"

	"blockyard/datasets/program/web/ask"
)

// main gives the page the function answer(what, query, body, done), which calls done(status, text). It never returns.
func main() {
	h, err := newHall()
	if err != nil {
		panic(err)
	}
	js.Global().Set("answer", js.FuncOf(func(_ js.Value, args []js.Value) any {
		values, _ := url.ParseQuery(args[1].String()) // the page has written it
		body := make([]byte, args[2].Length())
		js.CopyBytesToGo(body, args[2])
		what, done := args[0].String(), args[3]
		go func() {
			status, text := h.Answer(context.Background(), what, &ask.Request{Values: values, Body: body})
			done.Invoke(status, string(text))
		}()
		return nil
	}))
	select {}
}
