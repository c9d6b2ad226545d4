package api

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/clock"
	"despacho/internal/credentials"
	"despacho/internal/db"
	"despacho/internal/operators"
	"despacho/internal/orders"
	"despacho/internal/principal"
	"despacho/models"
)

const callerKey = "caller"

// failedKeysPerMinute is how often one address may send an invalid API key.
const failedKeysPerMinute = 60

var errBadKey = apperror.New(apperror.Unauthenticated, "invalid_api_key",
	"La clave de API falta o no es válida: envíela en la cabecera X-API-Key.")

// withKey requires an API key with the scope. The checks run in this order: the key, the
// operator's suspension and plan and the key's store, the rate limit, the scope. A large body is
// read after all of them.
func (s *Server) withKey(scope models.Scope, h handler) gin.HandlerFunc {
	return s.handle(func(c *gin.Context) error {
		if _, err := s.admit(c, scope, uuid.Nil); err != nil {
			return err
		}
		return h(c)
	})
}

// withKeyAndOrder is withKey for a request about the order of its path: the order comes with the
// key.
func (s *Server) withKeyAndOrder(scope models.Scope, h orderHandler) gin.HandlerFunc {
	return s.handleOrder(func(c *gin.Context, id uuid.UUID) (*models.OrderView, error) { return s.admit(c, scope, id) }, h)
}

// admit checks the request's key and sets its caller. It returns the order with the id, if there is
// one that the key may see.
func (s *Server) admit(c *gin.Context, scope models.Scope, orderID uuid.UUID) (*models.OrderView, error) {
	holder, order, err := s.authenticate(c, orderID)
	if err != nil {
		return nil, err
	}
	if err := s.limitRate(c, holder); err != nil {
		return nil, err
	}
	if !holder.Key.HasScope(scope) {
		return nil, apperror.New(apperror.Forbidden, "missing_scope", "La clave no tiene el permiso "+string(scope)+".")
	}
	s.identify(c, principal.Principal{KeyID: &holder.Key.ID})
	c.Set(callerKey, orders.Caller{Operator: &holder.Operator, StoreID: holder.Key.StoreID, KeyID: &holder.Key.ID,
		Test: holder.Key.Test})
	return order, s.admitted(c, func(ctx context.Context) error { return s.recheckKey(ctx, c) })
}

func caller(c *gin.Context) orders.Caller { return c.MustGet(callerKey).(orders.Caller) }

func (s *Server) authenticate(c *gin.Context, orderID uuid.UUID) (*db.KeyHolder, *models.OrderView, error) {
	presented := c.GetHeader("X-API-Key")
	if len(c.Request.Header.Values("X-API-Key")) > 1 {
		// Who has looked at the request before may have taken another one for the key.
		return nil, nil, s.countFailure(c, errBadKey.Saying("Envíe la cabecera X-API-Key una sola vez."))
	}
	if presented == "" {
		return nil, nil, s.countFailure(c, errBadKey)
	}
	now := s.clock.Now()
	// The lookup is by hash, so its duration tells nothing about the stored keys.
	holder, order, err := s.db.Authenticate(c.Request.Context(), credentials.Hash(presented), now, orderID)
	if db.IsNotFound(err) || (err == nil && !holder.Key.Usable(now)) {
		return nil, nil, s.countFailure(c, errBadKey)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := checkOwner(holder); err != nil {
		return nil, nil, err
	}
	s.noteUse(c, holder, now)
	return holder, order, nil
}

// noteUse stores when and from where a key was used, with its first request of a clock minute. The
// request goes on without it.
func (s *Server) noteUse(c *gin.Context, holder *db.KeyHolder, now time.Time) {
	if holder.Used != 1 {
		return
	}
	ctx := c.Request.Context()
	err := s.db.Query(ctx).Model(&models.APIKey{}).Where("id = ?", holder.Key.ID).
		Updates(map[string]any{"last_used_at": now, "last_used_from": c.ClientIP()}).Error
	if err != nil {
		s.log.WarnContext(ctx, "use of a key not stored", "key_id", holder.Key.ID, "error", err)
	}
}

// checkOwner checks the suspension and the plan of a key's operator, and the key's store.
func checkOwner(holder *db.KeyHolder) error {
	switch {
	case holder.Operator.Suspended():
		return apperror.New(apperror.Forbidden, "operator_suspended", "El operador está suspendido.")
	case holder.Operator.Plan.RequestsPerMinute() == 0:
		return apperror.New(apperror.Forbidden, "plan_without_api",
			"El plan del operador no incluye la API: requiere el plan Pro o superior.")
	case !holder.StoreActive:
		return operators.ErrStoreInactive
	}
	return nil
}

// recheckKey checks the key of a request again. It is not another request, so that it is not
// counted.
func (s *Server) recheckKey(ctx context.Context, c *gin.Context) error {
	holder, err := s.db.KeyHolder(ctx, *caller(c).KeyID)
	if db.IsNotFound(err) || err == nil && !holder.Key.Usable(s.clock.Now()) {
		// Only the answers to a valid key have these.
		c.Header(policyHeader, "")
		c.Header(rateHeader, "")
		return errBadKey
	}
	if err != nil {
		return err
	}
	return checkOwner(holder)
}

const policyHeader, rateHeader = "RateLimit-Policy", "RateLimit"

// countFailure returns the refusal of a key, or 429 for an address with too many invalid ones.
func (s *Server) countFailure(c *gin.Context, refusal error) error {
	return cmp.Or(s.limitAddress(c, "auth", failedKeysPerMinute), refusal)
}

// limitRate applies the plan's rate limit to the key and sets the rate-limit headers.
func (s *Server) limitRate(c *gin.Context, holder *db.KeyHolder) error {
	limit := holder.Operator.Plan.RequestsPerMinute()
	return s.limitUsed(c, limit, holder.Used,
		"Superó el límite de "+strconv.Itoa(limit)+" solicitudes por minuto de su plan."+untilNextMinute)
}

// limitUsed sets the rate-limit headers of a caller and refuses a request over the limit.
func (s *Server) limitUsed(c *gin.Context, limit, used int, message string) error {
	reset := clock.UntilNextMinute(s.clock.Now())
	c.Header(policyHeader, fmt.Sprintf(`"minute";q=%d;w=60`, limit))
	c.Header(rateHeader, fmt.Sprintf(`"minute";r=%d;t=%s`, max(0, limit-used), seconds(reset)))
	if used > limit {
		return apperror.Limited("rate_limited", message, reset)
	}
	return nil
}

// limitAddress counts a request of the given kind against the client's network.
func (s *Server) limitAddress(c *gin.Context, kind string, limit int) error {
	return s.limitSubject(c, kind+":"+clientNetwork(c), limit, tooManyFromAddress)
}

const (
	tooManyFromAddress = "Demasiadas solicitudes desde su dirección."
	untilNextMinute    = " Espere al siguiente minuto."
)

func (s *Server) limitSubject(c *gin.Context, subject string, limit int, message string) error {
	now := s.clock.Now()
	used, err := s.db.CountRequest(c.Request.Context(), subject, now)
	if err != nil {
		return err
	}
	if used > limit {
		return apperror.Limited("too_many_requests", message+untilNextMinute, clock.UntilNextMinute(now))
	}
	return nil
}
