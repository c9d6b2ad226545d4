package operators_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/jsonbody"
	"despacho/internal/operators"
	"despacho/models"
	"despacho/test/testenv"
)

func readSignIn(t *testing.T, email, password string) operators.SignInRequest {
	t.Helper()
	in, err := jsonbody.FromForm(map[string][]string{"email": {email}, "password": {password}}, nil)
	require.NoError(t, err)
	request, err := operators.ReadSignIn(in)
	require.NoError(t, err)
	return request
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		h := openWithCatalog(t, databaseURL)
		operator := h.create(t, "Rayo Envíos")
		added, password, err := h.AddUser(t.Context(), operators.NewUser{Operator: "Rayo Envíos", Email: "ana@rayo.example", Name: "Ana"})
		require.NoError(t, err)

		for _, wrong := range []operators.SignInRequest{
			readSignIn(t, "ana@rayo.example", "otra contraseña"), readSignIn(t, "nadie@rayo.example", password),
		} {
			_, err := h.SignIn(t.Context(), wrong)
			require.ErrorIs(t, err, operators.ErrBadSignIn)
		}
		request := readSignIn(t, " ANA@Rayo.example ", password)
		require.Equal(t, "ana@rayo.example", request.Email)
		signed, err := h.SignIn(t.Context(), request)
		require.NoError(t, err)
		require.Equal(t, added.ID, signed.User.ID)
		token := signed.Token

		who, _, err := h.Authorize(t.Context(), token, models.CounterWrite, uuid.Nil)
		require.NoError(t, err)
		require.Equal(t, []uuid.UUID{added.ID, operator.ID}, []uuid.UUID{who.User.ID, who.Operator.ID})
		for _, other := range []models.Permission{models.DispatchWrite, models.CashWrite, models.SettingsWrite, models.AdminRead} {
			_, _, err = h.Authorize(t.Context(), token, other, uuid.Nil)
			require.ErrorIs(t, err, operators.ErrNotAllowed)
		}
		_, _, err = h.Authorize(t.Context(), "inventado", models.AnyUser, uuid.Nil)
		require.ErrorIs(t, err, operators.ErrNoSession)

		_, err = h.Suspend(t.Context(), operator.ID.String())
		require.NoError(t, err)
		signed, err = h.SignIn(t.Context(), request)
		require.NoError(t, err, "the users of a suspended operator may read")
		reading := signed.Token
		_, _, err = h.Authorize(t.Context(), reading, models.AnyUser, uuid.Nil)
		require.NoError(t, err)
		_, _, err = h.Authorize(t.Context(), reading, models.NewOrderWrite, uuid.Nil)
		require.ErrorIs(t, err, operators.ErrSuspended)
		_, _, err = h.Authorize(t.Context(), reading, models.OwnAccount, uuid.Nil)
		require.NoError(t, err, "and protect their accounts")

		require.NoError(t, h.SignOut(t.Context(), who))
		_, _, err = h.Authorize(t.Context(), token, models.AnyUser, uuid.Nil)
		require.ErrorIs(t, err, operators.ErrNoSession)
		h.clock.Advance(operators.SessionDuration)
		_, _, err = h.Authorize(t.Context(), reading, models.AnyUser, uuid.Nil)
		require.ErrorIs(t, err, operators.ErrNoSession, "a session ends by itself")
	})
}
