package panel

// shownOnce is a secret on the only page that ever shows it: the one that answers the form. It is
// never in an address or a cookie.
type shownOnce struct {
	// ID is the element that the copy button copies from.
	ID    string
	Value string
}
