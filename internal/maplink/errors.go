package maplink

import "errors"

// Why a link gives no point. Those after the blank line come from Resolve alone.
var (
	// ErrNotMapLink is for text that is no link, or a link to a host that is not a known map.
	ErrNotMapLink = errors.New("not a map link")
	// ErrNoPoint is for a map link without coordinates, such as an address or a place id.
	ErrNoPoint = errors.New("map link without coordinates")
	// ErrList is an ErrNoPoint: the link contains several places.
	ErrList error = &reason{"map link to a list of places", ErrNoPoint}
	// ErrOutOfRange is for coordinates that are not on Earth; the error is an *OutOfRange.
	ErrOutOfRange = errors.New("coordinates out of range")
	// ErrShortLink is for a link that needs the network; the error is a *ShortLink.
	ErrShortLink = errors.New("short map link")
	// ErrOutsideCountry is for a point outside the country it was asked for; the error is an
	// *OutsideCountry.
	ErrOutsideCountry = errors.New("point outside the country")

	// ErrDeadLink is for a short link its host no longer knows.
	ErrDeadLink = errors.New("dead short link")
	// ErrLeftMapHosts is for a short link that leads away from the known map hosts.
	ErrLeftMapHosts = errors.New("short link leads out of the known map hosts")
	// ErrTooManyHops is for a short link that is still short after the last hop allowed, as one that
	// leads back to itself.
	ErrTooManyHops = errors.New("short link with too many hops")
)

// ShortLink is the error of a link whose point needs the network.
type ShortLink struct {
	URL string // where to ask: https, on a known short-link host
}

func (e *ShortLink) Error() string { return ErrShortLink.Error() }
func (e *ShortLink) Unwrap() error { return ErrShortLink }

// OutOfRange is the error of coordinates that are not on Earth. It has them, because they may be
// valid when swapped.
type OutOfRange struct {
	Lat, Lng float64
	Source   Source
}

func (e *OutOfRange) Error() string { return ErrOutOfRange.Error() }
func (e *OutOfRange) Unwrap() error { return ErrOutOfRange }

// OutsideCountry is the error of a point outside the country. It has the point, so that a person
// can decide.
type OutsideCountry struct {
	Point Point
}

func (e *OutsideCountry) Error() string { return ErrOutsideCountry.Error() }
func (e *OutsideCountry) Unwrap() error { return ErrOutsideCountry }

// reason is an error with its own text that unwraps to a kind.
type reason struct {
	text string
	kind error
}

func (e *reason) Error() string { return e.text }
func (e *reason) Unwrap() error { return e.kind }
