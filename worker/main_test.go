package worker_test

import (
	"flag"
	"testing"

	"despacho/internal/apptest"
)

// TestMain runs more tests at once than there are processors: most of them wait, for timers, for the
// next attempt or for a worker to take over.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	apptest.Main(m)
}
