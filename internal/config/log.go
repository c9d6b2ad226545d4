package config

import (
	"io"
	"log/slog"

	"despacho/internal/requestid"
)

// Logger returns the process's logger: text for people, JSON for machines. What is logged on behalf
// of a request carries its id.
func (c *Config) Logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.LogLevel}
	var handler slog.Handler = slog.NewTextHandler(w, options)
	if c.LogFormat == "json" {
		handler = slog.NewJSONHandler(w, options)
	}
	return slog.New(requestid.Handler(handler))
}
