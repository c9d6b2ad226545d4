package web

import (
	"io"
	"time"
)

// Help is the page of a recipient's link: what the next attempt needs. It has nothing that the page
// of the package does not have.
type Help struct {
	Package Tracking
	// Path is where the form is sent to, with the Key of the link.
	Path, Key string
	// Days are those that the recipient may choose, YYYY-MM-DD.
	Days []string
	Form HelpForm
	// Closed is set for a link that does nothing any more.
	Closed *ClosedLink
}

// HelpForm is what was typed, and what is wrong with a field, by its name.
type HelpForm struct {
	Day, Reference, Map, Lat, Lng string
	Wrong                         map[string]string
}

// ClosedLink says why a link does nothing.
type ClosedLink struct{ Title, Text string }

// helpView is the data of the template.
type helpView struct {
	trackingView
	Help
	Choices []dayChoice
}

type dayChoice struct {
	Value, Label string
	Chosen       bool
}

// HelpPolicy is the Content-Security-Policy of the recipient's page. Its one script, which asks the
// phone where it is, is the only one it may run.
func (p *Pages) HelpPolicy() string { return p.helpPolicy }

// Help renders the page of a recipient's link.
func (p *Pages) Help(w io.Writer, h Help) error {
	view := helpView{trackingView: describe(h.Package), Help: h}
	for _, value := range h.Days {
		day, err := time.Parse(time.DateOnly, value)
		if err != nil {
			return err
		}
		view.Choices = append(view.Choices, dayChoice{value, longDay(day), value == h.Form.Day})
	}
	return p.help.Execute(w, view)
}
