package attacks_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"despacho/internal/credentials"
	"despacho/test/apptest"
)

// A key that is nearly right is handled like one that is all wrong, down to the statements: only
// hashes are compared, so the time of a comparison says nothing about the key.
func TestTiming_aKeyThatIsNearlyRight(t *testing.T) {
	apptest.EachOwn(t, apptest.Options{NoWorker: true}, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		asked := &statementLog{asked: map[string]string{}}
		require.NoError(t, s.App.DB.Use(asked))
		another, err := credentials.NewAPIKey(credentials.LiveKeyPrefix)
		require.NoError(t, err)
		right, last := tenant.Key, len(tenant.Key)-1
		var first *apptest.Answer
		var statements int64
		for name, key := range map[string]string{
			"all wrong":          another,
			"wrong at the end":   right[:last] + other(right[last]),
			"wrong at the start": credentials.LiveKeyPrefix + other(right[len(credentials.LiveKeyPrefix)]) + right[len(credentials.LiveKeyPrefix)+1:],
			"one too short":      right[:last],
			"one too long":       right + "A",
			"in another case":    strings.ToUpper(right),
		} {
			id := "timing-" + strings.ReplaceAll(name, " ", "-")
			answer := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders", Key: key, Header: map[string]string{"X-Request-Id": id}})
			require.Equal(t, http.StatusUnauthorized, answer.Status, name)
			if first == nil {
				first, statements = answer, s.Statements(id)
			}
			require.Equal(t, first.Text, answer.Text, name)
			require.Equal(t, statements, s.Statements(id), name)
			asked.requireNever(t, key[:len(key)-1])
		}
		require.Positive(t, statements)
	})
}

// other is a letter that is not this one.
func other(letter byte) string {
	if letter == 'x' {
		return "y"
	}
	return "x"
}

// statementLog records the statements and their arguments.
type statementLog struct {
	mu    sync.Mutex
	asked map[string]string
}

func (q *statementLog) Name() string { return "statementLog" }

func (q *statementLog) Initialize(database *gorm.DB) error {
	listen := func(statement *gorm.DB) {
		q.mu.Lock()
		defer q.mu.Unlock()
		var arguments bytes.Buffer
		for _, argument := range statement.Statement.Vars {
			fmt.Fprintf(&arguments, "%s %v\n", argument, argument)
		}
		q.asked[statement.Statement.SQL.String()] += arguments.String()
	}
	on := database.Callback()
	return errors.Join(
		on.Raw().After("gorm:raw").Register(q.Name(), listen), on.Row().After("gorm:row").Register(q.Name(), listen),
		on.Query().After("gorm:query").Register(q.Name(), listen),
	)
}

// requireNever fails if a statement or an argument of one had the text in it.
func (q *statementLog) requireNever(t *testing.T, text string) {
	t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	require.NotEmpty(t, q.asked)
	for statement, arguments := range q.asked {
		require.NotContains(t, statement, text)
		require.NotContains(t, arguments, text)
	}
}
