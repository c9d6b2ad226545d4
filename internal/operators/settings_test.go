package operators_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/apperror"
	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/models"
	"despacho/test/testenv"
)

// Of operators that take one name at once, one gets it, and the others are told so.
func TestChangeSettings_ofOperatorsThatTakeOneNameOneGetsIt(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		h := openWithCatalog(t, databaseURL)
		const operators = 8
		outcomes := make([]error, operators)
		var renames sync.WaitGroup
		for i := range operators {
			operator := h.create(t, strings.Repeat("Otro", i+1))
			renames.Add(1)
			go func() {
				defer renames.Done()
				body, err := json.Marshal(map[string]any{"name": "Rayo Envíos", "base_price": i})
				if err != nil {
					outcomes[i] = err
					return
				}
				in, err := jsonbody.Parse(body)
				if err == nil {
					_, err = h.ChangeSettings(t.Context(), &db.SignedIn{Operator: *operator, User: models.User{OperatorID: operator.ID}}, in, nil)
				}
				outcomes[i] = err
			}()
		}
		renames.Wait()
		renamed := 0
		for _, err := range outcomes {
			if err == nil {
				renamed++
				continue
			}
			problem := apperror.From(err)
			require.Equal(t, apperror.Invalid, problem.Kind, err)
			require.Len(t, problem.Fields, 1)
			require.Equal(t, "name", problem.Fields[0].Field)
		}
		require.Equal(t, 1, renamed)
		found, err := h.Find(t.Context(), "rayo envíos")
		require.NoError(t, err)
		require.NotNil(t, found.BasePrice)
	})
}
