// Package deploy_test checks what is in deploy with the code of those who read it.
package deploy_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

const deploy = "../../deploy"

func TestDashboards_areValid(t *testing.T) {
	t.Parallel()
	dashboards, err := filepath.Glob(filepath.Join(deploy, "grafana/dashboards/*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, dashboards)
	for _, path := range dashboards {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		var dashboard struct {
			Panels []struct {
				Title   string
				Targets []struct{ Expr string }
			}
		}
		require.NoError(t, json.Unmarshal(content, &dashboard))
		for _, panel := range dashboard.Panels {
			for _, target := range panel.Targets {
				requireQuery(t, path+": "+panel.Title, strings.ReplaceAll(target.Expr, "$__rate_interval", "5m"))
			}
		}
	}
}

// The queries of the adapter are PromQL once its placeholders are filled in.
func TestAdapter_isValid(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join(deploy, "prometheus/adapter.yml"))
	require.NoError(t, err)
	type rule struct {
		SeriesQuery  string `json:"seriesQuery"`
		MetricsQuery string `json:"metricsQuery"`
	}
	var adapter struct {
		Rules struct{ Custom, External []rule }
	}
	require.NoError(t, yaml.Unmarshal(content, &adapter))
	rules := append(adapter.Rules.Custom, adapter.Rules.External...)
	require.Len(t, rules, 2)
	placeholders := strings.NewReplacer("<<.Series>>", "series", "<<.LabelMatchers>>", `pod="a"`)
	for _, r := range rules {
		requireQuery(t, "adapter.yml", r.SeriesQuery)
		requireQuery(t, "adapter.yml", placeholders.Replace(r.MetricsQuery))
	}
	for _, r := range adapter.Rules.External {
		require.Contains(t, r.MetricsQuery, `{job="despacho-worker",<<.LabelMatchers>>}`, "the placeholder names the namespace alone, where others may run as well")
	}
}

func requireQuery(t *testing.T, where, query string) {
	t.Helper()
	_, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	require.NoError(t, err, "%s: %s", where, query)
}
