package bench

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/google/uuid"

	"despacho/internal/credentials"
	"despacho/internal/db"
	"despacho/models"
	"despacho/test/lab/cluster"
)

const rowSignIn = "sign-in with an e-mail that nobody has against a wrong password"

func signInRows(scale) []string { return []string{rowSignIn} }

// studySignIn signs in with a wrong password, by turns with a known and an unknown e-mail: the
// duration must not reveal who has an account.
func studySignIn(ctx context.Context, s *stack) ([]Row, error) {
	// One account for each attempt: the attempts of an account are limited.
	known := make([]string, s.scale.samples*(s.scale.rounds+1))
	for i := range known {
		known[i] = newEmail()
	}
	if err := s.addUsers(ctx, known); err != nil {
		return nil, err
	}
	reader, err := s.startReader(ctx, s.main.databaseURL)
	if err != nil {
		return nil, err
	}
	client := cluster.NewConnection(reader.api.Address)
	defer client.Close()
	as := func(email func() string) func(context.Context) (float64, error) {
		return func(ctx context.Context) (float64, error) {
			return medianLatency(ctx, s.scale.samples, func(ctx context.Context) (time.Duration, error) {
				body, err := json.Marshal(map[string]string{"email": email(), "password": "una contraseña equivocada"})
				if err != nil {
					return 0, err
				}
				return timed(func(ctx context.Context) error {
					_, err := client.Expect(ctx, http.StatusUnauthorized, cluster.Request{
						Method: http.MethodPost, Path: "/panel/api/session", Client: randomClientAddress(), Body: body,
					})
					return err
				})(ctx)
			})
		}
	}
	measured, err := alternate(ctx, s.scale.rounds,
		as(func() string { next := known[0]; known = known[1:]; return next }), as(newEmail))
	if err != nil {
		return nil, err
	}
	return []Row{ratioRow(rowSignIn, "ms", ratioWithin(0.5, 2), measured[0], measured[1])}, reader.stop(ctx)
}

func newEmail() string { return uuid.NewString() + "@bench.example" }

// addUsers gives mainOperator users with a password.
func (s *stack) addUsers(ctx context.Context, emails []string) error {
	hash, err := credentials.HashPassword("una contraseña correcta")
	if err != nil {
		return err
	}
	database, err := db.Open(ctx, s.main.databaseURL, db.Options{MaxConns: 2})
	if err != nil {
		return err
	}
	defer database.Close()
	users := make([]models.User, len(emails))
	for i, email := range emails {
		users[i] = models.User{
			ID: uuid.New(), OperatorID: id("operator", mainOperator), Email: email, Name: "Personal", PasswordHash: hash,
			Role: models.RoleOperator, Active: true, CreatedAt: time.Now().UTC(),
		}
	}
	return database.Insert(ctx, &users)
}
