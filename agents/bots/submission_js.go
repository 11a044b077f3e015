package bots

// A web page has no files that could be sources.
func isSubmission(string) bool { return false }

func nameOf(path string) string { return path }
