package web

import (
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"despacho/models"
)

// Tracking is what a customer with a guide code may see: never the rider, the address, or the name
// or phone of a person.
type Tracking struct {
	GuideCode string
	Product   string
	Operator  string
	// Store is the store that sends the package; empty if it is the operator's own.
	Store string
	// The contacts of the store; empty if they are not set. The numbers are in E.164.
	StorePhone, StoreWhatsApp, StoreEmail string
	// Photo and Thumbnail are the addresses of the photo of the delivery; empty if it is not shared.
	Photo, Thumbnail string
	// ToCollect is what the customer pays on delivery, as text; empty if there is nothing to pay, or
	// no longer.
	ToCollect string
	// URL is the address of the page.
	URL string
	// LogoURL is empty for an operator without a logo.
	LogoURL string
	// ShareImage is the full address of the logo.
	ShareImage string
	Status     models.Status
	// Substatus is what became of the latest failed attempt, Reason why it failed, and
	// NextAttemptOn the day YYYY-MM-DD of the next one; empty if there is none. Today is the
	// operator's date.
	Substatus            models.Substatus
	Reason               models.FailureReason
	NextAttemptOn, Today string
	// PIN is what the customer tells the rider; empty if nothing is to be told.
	PIN string
	// Revivable means that the package was cancelled for arriving too late: the order continues if
	// it arrives.
	Revivable bool
	// Events are the status changes, oldest first.
	Events []Event
	// Test means that there is no package.
	Test bool
	// Zone is the operator's time zone.
	Zone *time.Location
}

// Event is something that happened to the package. Reason is why an attempt failed, On the day for
// which another one was planned; empty if it is not known.
type Event struct {
	Type   string
	Status models.Status
	Reason models.FailureReason
	On     string
	At     time.Time
}

// trackingView is the data of the tracking template.
type trackingView struct {
	Tracking
	// Title is the status, or what became of a failed attempt.
	Title   string
	Summary string
	Advice  string
	// Initial is shown where there is no logo.
	Initial string
	// Steps are the statuses of a package that was not cancelled.
	Steps []step
	// Entries are the events, latest first.
	Entries []entry
	// Image is the logo, if a chat application may load it.
	Image string
	// Share is the address that shares the page by WhatsApp.
	Share string
	// WhatsApp is the address of a chat with the store.
	WhatsApp string
}

type step struct {
	Label         string
	Done, Current bool
}

type entry struct {
	Text     string
	When     string
	Datetime string
}

// normalPath is every status of an order that is not cancelled.
var normalPath = []models.Status{models.StatusRegistered, models.StatusReceived, models.StatusAssigned, models.StatusDelivered}

func describe(t Tracking) trackingView {
	initial, _ := utf8.DecodeRuneInString(t.Operator)
	words := textsFor(t)
	view := trackingView{
		Tracking: t, Title: words.title, Summary: words.summary, Advice: words.advice, Initial: string(initial),
		Share: "https://wa.me/?text=" + url.QueryEscape("Sigue el paquete "+t.GuideCode+": "+t.URL),
	}
	if t.Status == models.StatusAssigned && t.Substatus == models.SubstatusNone && t.ToCollect != "" {
		view.Advice += " Ten listo el monto."
	}
	if t.StoreWhatsApp != "" {
		view.WhatsApp = "https://wa.me/" + strings.TrimPrefix(t.StoreWhatsApp, "+") + "?text=" +
			url.QueryEscape("Hola, consulto por mi pedido "+t.GuideCode+".")
	}
	if strings.HasPrefix(t.ShareImage, "https://") {
		view.Image = t.ShareImage
	}
	if reached := slices.Index(normalPath, t.Status); reached >= 0 && t.Substatus != models.SubstatusReturning {
		for i, status := range normalPath {
			view.Steps = append(view.Steps, step{Label: status.Label(), Done: i <= reached, Current: i == reached})
		}
	}
	for i, event := range slices.Backward(t.Events) {
		at := event.At.In(t.Zone)
		cameBack := i > 0 && t.Events[i-1].Status == models.StatusAssigned
		view.Entries = append(view.Entries, entry{
			Text: entryText(event, cameBack), When: longDate(at), Datetime: at.Format(time.RFC3339),
		})
	}
	return view
}
