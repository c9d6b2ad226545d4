package main

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// Where the tools of a client cannot be had, the reason is the whole message.
func TestGenerator_saysWhyItCannotRun(t *testing.T) {
	t.Parallel()
	broken := errors.New("npm failed")
	for _, c := range []struct {
		skip string
		err  error
		want string
	}{{"there is no Node", nil, "there is no Node"}, {"", broken, "npm failed"}} {
		g := generator{prepare: func(context.Context) (string, error) { return c.skip, c.err }}
		require.EqualError(t, g.run(t.Context(), true, io.Discard), c.want)
	}
}
