package webhooks_test

import (
	"flag"
	"testing"

	"despacho/internal/apptest"
)

// TestMain runs more tests at once than there are processors: most of them wait, for receivers that hang or for the time of the next attempt.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "12"); err != nil {
		panic(err)
	}
	apptest.Main(m)
}
