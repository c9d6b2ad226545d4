package worker_test

import (
	"testing"

	"despacho/internal/apptest"
)

func TestMain(m *testing.M) {
	apptest.Parallel(8)
	apptest.Main(m)
}
