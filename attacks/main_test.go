package attacks

import (
	"testing"

	"despacho/internal/apptest"
)

func TestMain(m *testing.M) { apptest.Main(m) }
