package config

import (
	"io"
	"log/slog"

	"despacho/internal/redact"
	"despacho/internal/requestid"
)

// Logger returns the process's logger, as text or JSON. Lines that are logged for a request carry
// its id. Errors are logged without the values that they quote.
func (c *Config) Logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.LogLevel}
	var handler slog.Handler = slog.NewTextHandler(w, options)
	if c.LogFormat == "json" {
		handler = slog.NewJSONHandler(w, options)
	}
	return slog.New(requestid.Handler(redact.Handler(handler)))
}
