package apperror_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/apperror"
)

func TestError_Is(t *testing.T) {
	t.Parallel()
	notFound := apperror.New(apperror.NotFound, "order_not_found", "El pedido no existe.")
	other := apperror.New(apperror.NotFound, "order_not_found", "El pedido es de otro operador.")

	require.ErrorIs(t, notFound, notFound)
	copied := notFound.Because(io.ErrUnexpectedEOF)
	require.ErrorIs(t, copied, notFound, "a copy is its original")
	require.ErrorIs(t, copied, io.ErrUnexpectedEOF, "the cause is found too")
	require.ErrorIs(t, fmt.Errorf("reading: %w", copied), notFound)

	require.ErrorIs(t, notFound.Saying("No está.").Because(io.EOF), copied, "so is a copy of a copy")
	require.Equal(t, "El pedido no existe.", notFound.Message, "which stays as it was")

	require.NotErrorIs(t, copied, other, "a code is not an error")
	require.NotErrorIs(t, other, notFound)
	require.NotErrorIs(t, notFound, io.ErrUnexpectedEOF)
}
