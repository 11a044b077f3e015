package bots

func isSubmission(string) bool  { return false } // a web page has no files that could be sources
func nameOf(path string) string { return path }
