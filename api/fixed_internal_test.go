package api

import (
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"despacho/internal/jsonbody"
	"despacho/internal/orders"
)

// A change that names no fixed member costs no read of what it is compared with.
func TestRefuseFixed_readsOnlyForAFixedMember(t *testing.T) {
	t.Parallel()
	c := &gin.Context{}
	c.Set(callerKey, orders.Caller{})
	for body, want := range map[string]int{`{"notes":"Timbre 2"}`: 0, `{}`: 0, `{"notes":"Timbre 2","product":"Zapatos"}`: 1, `{"status":null}`: 1} {
		in, err := jsonbody.Parse([]byte(body))
		require.NoError(t, err)
		reads := 0
		require.NoError(t, refuseFixed(c, in, fixedInOrder, func() (map[string]string, error) {
			reads++
			return map[string]string{"product": "Zapatos"}, nil
		}))
		require.NoError(t, in.Err())
		require.Equal(t, want, reads, body)
	}
}
