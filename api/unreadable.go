package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
)

// net/http refuses a request that it cannot read by itself, in plain text and in English. Nothing
// else is written to a connection while no request of it was given to the handler, so clientConn
// recognises such a refusal without looking at its text, and sends the envelope instead.

// unreadable has the envelope for each status with which net/http refuses a request.
var unreadable = map[int]envelope{
	http.StatusBadRequest:                  {Error: "La solicitud no es HTTP válido. Revise la dirección y las cabeceras.", Code: "malformed_request"},
	http.StatusExpectationFailed:           {Error: "La cabecera Expect solo admite 100-continue.", Code: "expectation_failed"},
	http.StatusRequestHeaderFieldsTooLarge: {Error: fmt.Sprintf("La dirección y las cabeceras superan el máximo de %d KiB.", maxHeaders>>10), Code: "headers_too_large"},
	http.StatusNotImplemented:              {Error: "La cabecera Transfer-Encoding solo admite chunked.", Code: "unsupported_transfer"},
	http.StatusHTTPVersionNotSupported:     {Error: "La versión de HTTP debe ser 1.0 o 1.1.", Code: "unsupported_version"},
}

// connContext marks the new connection as one that waits for its first request.
func connContext(ctx context.Context, connection net.Conn) context.Context {
	if client, ok := connection.(*clientConn); ok {
		client.unanswered.Store(true)
	}
	return context.WithValue(ctx, connKey{}, connection)
}

// connState marks a connection whose response has been sent as one that waits for its next request.
func connState(connection net.Conn, state http.ConnState) {
	if client, ok := connection.(*clientConn); ok && state == http.StateIdle {
		client.unanswered.Store(true)
	}
}

// markAnswered marks the connection of a request as one that the handler writes to.
func markAnswered(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if client := connOf(r.Context()); client != nil {
			client.unanswered.Store(false)
		}
		handler.ServeHTTP(w, r)
	})
}

// refusalOf is the response with the envelope that has the status of net/http's own.
func refusalOf(plain []byte) []byte {
	status := http.StatusBadRequest
	if at := len("HTTP/1.1 "); len(plain) >= at+3 {
		if number, err := strconv.Atoi(string(plain[at : at+3])); err == nil {
			status = number
		}
	}
	content, known := unreadable[status]
	if !known {
		content = unreadable[http.StatusBadRequest]
	}
	body, err := json.Marshal(content)
	if err != nil {
		return plain
	}
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\r\n%s",
		status, http.StatusText(status), jsonType, len(body), body)
}
