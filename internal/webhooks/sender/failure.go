package sender

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"syscall"
	"time"

	"despacho/internal/safehttp"
)

// Reason is the stable code of why an attempt failed; it is empty when the event was delivered.
type Reason string

// The reasons for which an attempt fails.
const (
	ReasonStatus            Reason = "status"
	ReasonRedirect          Reason = "redirect"
	ReasonTimeout           Reason = "timeout"
	ReasonConnectionRefused Reason = "connection_refused"
	ReasonUnreachable       Reason = "unreachable"
	ReasonDNS               Reason = "dns"
	ReasonTLS               Reason = "tls"
	ReasonRefusedAddress    Reason = "refused_address"
	ReasonClosed            Reason = "closed"
	ReasonInterrupted       Reason = "interrupted"
	ReasonInvalid           Reason = "invalid"
)

// Failure is why an attempt failed, as a code and as a Spanish message. The messages are fixed, so
// that they contain neither addresses nor secrets.
type Failure struct {
	Reason  Reason
	Message string
}

var messages = map[Reason]string{
	ReasonConnectionRefused: "El receptor rechazó la conexión.",
	ReasonUnreachable:       "No se pudo llegar al receptor por la red.",
	ReasonDNS:               "El nombre del receptor no se pudo resolver.",
	ReasonTLS:               "No se pudo establecer una conexión segura (TLS) con el receptor.",
	ReasonRefusedAddress:    "La dirección del receptor no está permitida: solo se envía a direcciones públicas.",
	ReasonClosed:            "El receptor cerró la conexión o dio una respuesta incompleta o ilegible.",
	ReasonInterrupted:       "El envío se interrumpió antes de conocer la respuesta.",
	ReasonInvalid:           "El evento no se pudo firmar: el secreto o los datos del webhook no son válidos.",
}

const (
	expiredMessage   = "El certificado TLS del receptor está vencido o aún no es válido."
	wrongNameMessage = "El certificado TLS del receptor no corresponde a su nombre."
	unknownCAMessage = "El certificado TLS del receptor no viene de una autoridad conocida."
)

// unsentMessages are those of the attempts that ended before the request was sent.
var unsentMessages = []string{
	messages[ReasonConnectionRefused], messages[ReasonUnreachable], messages[ReasonDNS], messages[ReasonTLS],
	messages[ReasonRefusedAddress], messages[ReasonInvalid], expiredMessage, wrongNameMessage, unknownCAMessage,
}

// IsUnsent reports whether an attempt that failed with this message sent nothing.
func IsUnsent(message string) bool { return slices.Contains(unsentMessages, message) }

func failureOf(reason Reason) Failure {
	return Failure{Reason: reason, Message: messages[reason]}
}

// failureOfURL is the failure of a URL that may not be called, with the message used at
// registration.
func failureOfURL(err error) Failure {
	var refusal *safehttp.URLError
	switch {
	case !errors.As(err, &refusal):
		return failureOf(ReasonInvalid)
	case refusal.Reason == safehttp.URLRefusedAddress:
		return failureOf(ReasonRefusedAddress)
	default:
		return Failure{Reason: ReasonInvalid, Message: refusal.Message()}
	}
}

// failureOfStatus is the failure of a complete response; none for 2xx.
func failureOfStatus(code int) Failure {
	switch {
	case code >= http.StatusOK && code < http.StatusMultipleChoices:
		return Failure{}
	case code >= http.StatusMultipleChoices && code < http.StatusBadRequest:
		return Failure{Reason: ReasonRedirect,
			Message: fmt.Sprintf("El receptor respondió con una redirección (%d), y no se siguen.", code)}
	default:
		return Failure{Reason: ReasonStatus, Message: fmt.Sprintf("El receptor respondió con el código %d.", code)}
	}
}

// failureOfExchange is the failure of a broken exchange. ctx is the caller's, without the attempt's
// timeout; inHandshake means that the TLS handshake failed.
func failureOfExchange(ctx context.Context, err error, inHandshake bool, limit time.Duration) Failure {
	var (
		refused  *safehttp.AddressError
		lookup   *net.DNSError
		network  net.Error
		dialling *net.OpError
	)
	switch {
	case errors.As(err, &refused):
		return failureOf(ReasonRefusedAddress)
	case ctx.Err() != nil:
		return failureOf(ReasonInterrupted)
	case errors.As(err, &lookup):
		return failureOf(ReasonDNS)
	case errors.As(err, &network) && network.Timeout():
		return failureOfTimeout(limit)
	case errors.Is(err, syscall.ECONNREFUSED):
		return failureOf(ReasonConnectionRefused)
	case inHandshake:
		return failureOfTLS(err)
	case errors.As(err, &dialling) && dialling.Op == "dial":
		return failureOf(ReasonUnreachable)
	default:
		return failureOf(ReasonClosed)
	}
}

func failureOfTimeout(limit time.Duration) Failure {
	seconds := strconv.FormatFloat(limit.Seconds(), 'f', -1, 64)
	return Failure{Reason: ReasonTimeout, Message: "El receptor no respondió por completo en " + seconds + " s."}
}

// failureOfTLS is specific about errors that the receiver's owner can fix.
func failureOfTLS(err error) Failure {
	var (
		invalid   x509.CertificateInvalidError
		wrongName x509.HostnameError
		unknownCA x509.UnknownAuthorityError
	)
	failure := failureOf(ReasonTLS)
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		failure.Message = expiredMessage
	case errors.As(err, &wrongName):
		failure.Message = wrongNameMessage
	case errors.As(err, &unknownCA):
		failure.Message = unknownCAMessage
	}
	return failure
}
