package cash_test

import (
	"testing"

	"despacho/test/apptest"
)

func TestMain(m *testing.M) { apptest.Main(m) }
