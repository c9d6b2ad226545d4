package bench

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/internal/credentials"
	"despacho/lab/cluster"
	"despacho/models"
)

const rowSignIn = "sign-in with an e-mail that nobody has against a wrong password"

func signInRows(scale) []string { return []string{rowSignIn} }

// studySignIn signs in with a wrong password, by turns with a known and an unknown e-mail: the
// duration must not reveal who has an account.
func studySignIn(ctx context.Context, s *stack) ([]Row, error) {
	known := uuid.NewString() + "@bench.example"
	if err := s.addUser(ctx, known); err != nil {
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
		as(func() string { return known }), as(func() string { return uuid.NewString() + "@bench.example" }))
	if err != nil {
		return nil, err
	}
	return []Row{ratioRow(rowSignIn, "ms", ratioWithin(0.5, 2), measured[0], measured[1])}, reader.stop(ctx)
}

// addUser gives mainOperator a user with a password.
func (s *stack) addUser(ctx context.Context, email string) error {
	hash, err := credentials.HashPassword("una contraseña correcta")
	if err != nil {
		return err
	}
	database, err := db.Open(ctx, s.main.databaseURL, db.Options{MaxConns: 2})
	if err != nil {
		return err
	}
	defer database.Close()
	return database.InsertUser(ctx, &models.User{
		ID: uuid.New(), OperatorID: id("operator", mainOperator), Email: email, Name: "Personal", PasswordHash: hash,
		Role: models.RoleOperator, Active: true, CreatedAt: time.Now().UTC(),
	})
}
