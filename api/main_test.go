package api_test

import (
	"testing"

	"despacho/internal/apptest"
)

func TestMain(m *testing.M) {
	apptest.Parallel(6)
	apptest.Main(m)
}
