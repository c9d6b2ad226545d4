package api

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"
	"go.temporal.io/api/common/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"despacho/internal/apperror"
	"despacho/internal/orders"
	"despacho/models"
)

// maxCodecBody is the largest body that the codec endpoint reads, and only from a signed-in user:
// the payloads of one page of a history, which the Temporal UI and CLI send at once.
const maxCodecBody = 8 << 20

// payloadCoder decodes or encodes payloads for a caller.
type payloadCoder func(c *gin.Context, caller orders.Caller, payloads []*common.Payload) ([]*common.Payload, error)

// codec answers in the protocol of Temporal's codec servers: a Payloads message as JSON in the
// request and in the response. The operator's people may use it, by a Bearer token from the
// Temporal CLI or by the session cookie from the Temporal UI, which is the only other origin that
// is answered.
func (s *Server) codec(code payloadCoder) gin.HandlerFunc {
	return s.handle(func(c *gin.Context) error {
		s.allowTemporalUI(c)
		who, err := s.authorizeFrom(c, models.OperatorRead, s.temporalUI)
		if err != nil {
			return err
		}
		raw, err := readBytes(c)
		if err != nil {
			return err
		}
		var request common.Payloads
		if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(raw, &request); err != nil {
			return apperror.New(apperror.Invalid, "invalid_json",
				"El cuerpo no es un mensaje Payloads de Temporal en JSON.").Because(err)
		}
		payloads, err := code(c, callerOf(who), request.GetPayloads())
		if err != nil {
			return err
		}
		body, err := protojson.Marshal(&common.Payloads{Payloads: payloads})
		if err != nil {
			return err
		}
		sendJSON(c, http.StatusOK, body)
		return nil
	})
}

func (s *Server) decodePayloads(c *gin.Context, caller orders.Caller, payloads []*common.Payload) ([]*common.Payload, error) {
	return s.orders.DecodeHistory(c.Request.Context(), caller, payloads)
}

func (s *Server) encodePayloads(_ *gin.Context, caller orders.Caller, payloads []*common.Payload) ([]*common.Payload, error) {
	return s.orders.EncodeHistory(caller, payloads)
}

// codecPreflight tells the browser that the Temporal UI may call the codec endpoint.
func (s *Server) codecPreflight(c *gin.Context) error {
	if !s.allowTemporalUI(c) {
		return errOtherSite
	}
	c.Header("Access-Control-Allow-Methods", http.MethodPost)
	c.Header("Access-Control-Allow-Headers", "Authorization, Content-Type, X-Namespace")
	c.Header("Access-Control-Max-Age", "600")
	c.Status(http.StatusNoContent)
	return nil
}

// allowTemporalUI lets the browser show the response to the Temporal UI, if the request comes from
// it.
func (s *Server) allowTemporalUI(c *gin.Context) bool {
	c.Header("Vary", "Origin")
	origin := c.GetHeader("Origin")
	if origin == "" || origin != s.temporalUIOrigin {
		return false
	}
	c.Header("Access-Control-Allow-Origin", origin)
	c.Header("Access-Control-Allow-Credentials", "true")
	return true
}

// trustTemporalUI prepares the check of the requests that come from the Temporal UI.
func (s *Server) trustTemporalUI() error {
	s.temporalUI = http.NewCrossOriginProtection()
	if s.config.TemporalUIURL == "" {
		return nil
	}
	address, err := url.Parse(s.config.TemporalUIURL)
	if err == nil {
		s.temporalUIOrigin = address.Scheme + "://" + address.Host
		err = s.temporalUI.AddTrustedOrigin(s.temporalUIOrigin)
	}
	if err != nil {
		return fmt.Errorf("TEMPORAL_UI_URL: %w", err)
	}
	return nil
}
