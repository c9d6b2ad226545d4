package worker_test

import (
	"fmt"
	"os"
	"testing"

	"despacho/test/apptest"
)

func TestMain(m *testing.M) {
	if release := os.Getenv(releaseVariable); release != "" {
		if err := runReleaseWorker(release); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	apptest.Main(m)
}
