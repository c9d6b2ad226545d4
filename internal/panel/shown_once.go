package panel

// shownOnce is a secret on the only page that shows it: the answer to the form, which is stored
// encrypted and shown once. It is never in a URL or a cookie.
type shownOnce struct {
	// ID is the element that the copy button copies from.
	ID    string
	Value string
}
