package api

import (
	"fmt"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"despacho/db"
	"despacho/internal/apperror"
	"despacho/internal/clock"
	"despacho/internal/credentials"
	"despacho/internal/principal"
	"despacho/models"
	"despacho/operators"
	"despacho/orders"
)

const callerKey = "caller"

// failedKeysPerMinute is how often one address may send an invalid API key.
const failedKeysPerMinute = 60

var errBadKey = apperror.New(apperror.Unauthenticated, "invalid_api_key", "La clave de API falta o no es válida: envíela en la cabecera X-API-Key.")

// withKey requires an API key with the scope. The checks run in this order: the key, the operator's
// suspension and plan and the key's store, the rate limit, the scope. The body is read after all of
// them.
func (s *Server) withKey(scope models.Scope, h handler) gin.HandlerFunc {
	return s.handle(func(c *gin.Context) error {
		holder, err := s.authenticate(c)
		if err != nil {
			return err
		}
		if err := s.limitRate(c, holder); err != nil {
			return err
		}
		if !holder.Key.HasScope(scope) {
			return apperror.New(apperror.Forbidden, "missing_scope", "La clave no tiene el permiso "+string(scope)+".")
		}
		s.identify(c, principal.Principal{KeyID: &holder.Key.ID})
		c.Set(callerKey, orders.Caller{Operator: &holder.Operator, StoreID: holder.Key.StoreID, KeyID: &holder.Key.ID, Test: holder.Key.Test})
		return h(c)
	})
}

func caller(c *gin.Context) orders.Caller { return c.MustGet(callerKey).(orders.Caller) }

func (s *Server) authenticate(c *gin.Context) (*db.KeyHolder, error) {
	presented := c.GetHeader("X-API-Key")
	if presented == "" {
		return nil, s.countFailure(c)
	}
	now := s.clock.Now()
	// The lookup is by hash, so its duration tells nothing about the stored keys.
	holder, err := s.db.Authenticate(c.Request.Context(), credentials.HashKey(presented), now)
	if db.IsNotFound(err) || (err == nil && !holder.Key.Usable(now)) {
		return nil, s.countFailure(c)
	}
	if err != nil {
		return nil, err
	}
	if holder.Operator.Suspended() {
		return nil, apperror.New(apperror.Forbidden, "operator_suspended", "El operador está suspendido.")
	}
	if holder.Operator.Plan.RequestsPerMinute() == 0 {
		return nil, apperror.New(apperror.Forbidden, "plan_without_api", "El plan del operador no incluye la API: requiere el plan Pro o superior.")
	}
	if !holder.StoreActive {
		return nil, operators.ErrStoreInactive
	}
	s.keyUse.note(&holder.Key, c.ClientIP(), now)
	return holder, nil
}

// countFailure returns 401, or 429 for an address with too many invalid keys.
func (s *Server) countFailure(c *gin.Context) error {
	if err := s.limitAddress(c, "auth", failedKeysPerMinute); err != nil {
		return err
	}
	return errBadKey
}

// limitRate applies the plan's rate limit to the key and sets the rate-limit headers.
func (s *Server) limitRate(c *gin.Context, holder *db.KeyHolder) error {
	limit := holder.Operator.Plan.RequestsPerMinute()
	reset := clock.UntilNextMinute(s.clock.Now())
	c.Header("RateLimit-Policy", fmt.Sprintf(`"minute";q=%d;w=60`, limit))
	c.Header("RateLimit", fmt.Sprintf(`"minute";r=%d;t=%s`, max(0, limit-holder.Used), seconds(reset)))
	if holder.Used > limit {
		return tooMany("rate_limited", "Superó el límite de "+strconv.Itoa(limit)+" solicitudes por minuto de su plan.", reset)
	}
	return nil
}

// limitAddress counts a request of the given kind against the client's network.
func (s *Server) limitAddress(c *gin.Context, kind string, limit int) error {
	return s.limitSubject(c, kind+":"+clientNetwork(c), limit, "Demasiadas solicitudes desde su dirección.")
}

func (s *Server) limitSubject(c *gin.Context, subject string, limit int, message string) error {
	now := s.clock.Now()
	used, err := s.db.CountRequest(c.Request.Context(), subject, now)
	if err != nil {
		return err
	}
	if used > limit {
		return tooMany("too_many_requests", message, clock.UntilNextMinute(now))
	}
	return nil
}

func tooMany(code, message string, wait time.Duration) error {
	limited := apperror.New(apperror.TooMany, code, message+" Espere al siguiente minuto.")
	limited.RetryAfter = wait
	return limited
}
