// Package monitoring_test holds what Prometheus and Grafana are given in deploy/ to what the
// service exports and to what docs/operations.md says.
package monitoring_test

import (
	"testing"

	"despacho/test/apptest"
)

func TestMain(m *testing.M) { apptest.Main(m) }
