package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/orders"
	"despacho/internal/principal"
	"despacho/internal/riders"
)

const (
	riderCookie         = "despacho_rider"
	riderCookieDuration = 400 * 24 * time.Hour // as long as browsers keep one
	riderKey            = "rider"
	// riderRequestsPerMinute bounds each phone.
	riderRequestsPerMinute = 240
)

// riderSession is the rider whose phone makes the request, and until when it needs no PIN.
type riderSession struct {
	Rider         riderOfSession    `json:"rider"`
	Operator      operatorOfSession `json:"operator"`
	UnlockedUntil *time.Time        `json:"unlocked_until"`
}

type riderOfSession struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
}

type operatorOfSession struct {
	Name     string `json:"name"`
	Currency string `json:"currency"`
	Timezone string `json:"timezone"`
}

func viewOfRiderSession(who *db.RiderOnPhone) riderSession {
	view := riderSession{
		Rider:    riderOfSession{who.Rider.ID, who.Rider.Name},
		Operator: operatorOfSession{who.Operator.Name, who.Operator.Currency, who.Operator.Timezone},
	}
	if until := who.Device.UnlockedUntil; until != nil {
		utc := until.UTC()
		view.UnlockedUntil = &utc
	}
	return view
}

// activatePhone makes the phone that opened a link the rider's. Links count like sign-ins.
func (s *Server) activatePhone(c *gin.Context) error {
	if err := requireOwnSite(c); err != nil {
		return err
	}
	s.identify(c, principal.Principal{})
	if err := s.limitSignInAddress(c); err != nil {
		return err
	}
	in, err := readBody(c)
	if err != nil {
		return err
	}
	activated, err := s.riders.Activate(c.Request.Context(), in)
	if err != nil {
		return err
	}
	s.setRiderCookie(c, activated.Token)
	return ok(c, viewOfRiderSession(activated.RiderOnPhone))
}

// setRiderCookie sets the cookie for the page of riders, which is not under the panel's path.
func (s *Server) setRiderCookie(c *gin.Context, token string) {
	http.SetCookie(c.Writer, &http.Cookie{
		Name: riderCookie, Value: token, Path: "/", MaxAge: int(riderCookieDuration.Seconds()), HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: strings.HasPrefix(s.config.BaseURL, "https://"),
	})
}

// unlockPhone checks the PIN. PINs count like sign-ins.
func (s *Server) unlockPhone(c *gin.Context) error {
	if err := s.limitSignInAddress(c); err != nil {
		return err
	}
	in, err := readBody(c)
	if err != nil {
		return err
	}
	who := riderOf(c)
	until, err := s.riders.Unlock(c.Request.Context(), who, in)
	if err != nil {
		return err
	}
	who.Device.UnlockedUntil = &until
	return ok(c, viewOfRiderSession(who))
}

func (s *Server) currentRiderSession(c *gin.Context) error {
	return ok(c, viewOfRiderSession(riderOf(c)))
}

func (s *Server) lockPhone(c *gin.Context) error {
	if err := s.riders.Lock(c.Request.Context(), riderOf(c).Device.ID); err != nil {
		return err
	}
	return respond(c, http.StatusOK, envelope{Message: "Este celular pedirá el PIN otra vez."})
}

// withRider requires a rider's phone that was unlocked with the PIN. What writes is refused while
// the operator is suspended.
func (s *Server) withRider(writes bool, h handler) gin.HandlerFunc {
	return s.withPhone(riders.Needs{PIN: true, Writes: writes}, h)
}

// withPhone requires a rider's phone and what else the request needs. The checks run in this order:
// the phone, the rate limit, the PIN, the operator's suspension. A large body is read after them.
func (s *Server) withPhone(needs riders.Needs, h handler) gin.HandlerFunc {
	return s.handle(func(c *gin.Context) error {
		if err := s.admitPhone(c, needs); err != nil {
			return err
		}
		return h(c)
	})
}

func (s *Server) admitPhone(c *gin.Context, needs riders.Needs) error {
	token, err := c.Cookie(riderCookie)
	if err != nil {
		return riders.ErrNoDevice
	}
	if err := requireOwnSite(c); err != nil {
		return err
	}
	who, err := s.riders.Authorize(c.Request.Context(), token)
	if err != nil {
		return err
	}
	if err := s.limitPhone(c, who); err != nil {
		return err
	}
	if err := s.riders.Admit(who, needs); err != nil {
		return err
	}
	s.identify(c, principal.Principal{})
	c.Set(riderKey, who)
	c.Set(callerKey, orders.Caller{Operator: &who.Operator, RiderID: &who.Rider.ID})
	return s.admitted(c, func(ctx context.Context) error { return s.riders.Reauthorize(ctx, token, needs) })
}

// limitPhone applies the rate limit of a phone and sets the rate-limit headers.
func (s *Server) limitPhone(c *gin.Context, who *db.RiderOnPhone) error {
	return s.limitUsed(c, riderRequestsPerMinute, who.Requests, "Este celular hizo demasiadas solicitudes."+untilNextMinute)
}

// riderOf is the rider whose phone makes the request, with the phone and the operator. The rider
// sees less than the scope of the request's caller, which is the operator's.
func riderOf(c *gin.Context) *db.RiderOnPhone { return c.MustGet(riderKey).(*db.RiderOnPhone) }
