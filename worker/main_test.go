package worker_test

import (
	"testing"

	"despacho/test/apptest"
)

func TestMain(m *testing.M) {
	apptest.Parallel(8)
	apptest.Main(m)
}
