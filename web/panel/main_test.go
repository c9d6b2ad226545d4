package panel_test

import (
	"testing"

	"despacho/test/apptest"
)

func TestMain(m *testing.M) {
	apptest.Parallel(6)
	apptest.Main(m)
}
