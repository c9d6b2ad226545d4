package apperror_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/apperror"
)

func TestError_Is(t *testing.T) {
	t.Parallel()
	notFound := apperror.New(apperror.NotFound, "order_not_found", "El pedido no existe.")
	other := apperror.New(apperror.NotFound, "store_not_found", "La tienda no existe.")

	require.ErrorIs(t, notFound, notFound)
	copied := notFound.Because(io.ErrUnexpectedEOF)
	require.ErrorIs(t, copied, notFound, "a copy has the code of its original")
	require.ErrorIs(t, copied, io.ErrUnexpectedEOF, "the cause is found too")
	require.ErrorIs(t, fmt.Errorf("reading: %w", copied), notFound)

	require.NotErrorIs(t, copied, other)
	require.NotErrorIs(t, errors.New("order_not_found"), notFound, "only an *Error has a code")
	require.NotErrorIs(t, notFound, io.ErrUnexpectedEOF)
}
