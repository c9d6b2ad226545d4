package events

import (
	"testing"

	"despacho/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }
