package monitoring_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// root is the module's directory.
const root = "../.."

// query is an expression in PromQL and where it is.
type query struct{ file, title, expr string }

type rule struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

func readAlerts(t *testing.T) []rule {
	t.Helper()
	var file struct {
		Groups []struct {
			Name  string `yaml:"name"`
			Rules []rule `yaml:"rules"`
		} `yaml:"groups"`
	}
	readYAML(t, "deploy/prometheus/alerts.yml", &file)
	var rules []rule
	for _, group := range file.Groups {
		rules = append(rules, group.Rules...)
	}
	require.NotEmpty(t, rules)
	return rules
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(content, into))
}

// queries are those of the alerts and of all dashboards.
func queries(t *testing.T) []query {
	t.Helper()
	var found []query
	for _, alert := range readAlerts(t) {
		found = append(found, query{"alerts.yml", alert.Alert, alert.Expr})
	}
	dashboards, err := filepath.Glob(filepath.Join(root, "deploy/grafana/dashboards/*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, dashboards)
	for _, path := range dashboards {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		var dashboard struct {
			Panels []struct {
				Type, Title string
				Targets     []struct{ Expr string }
			}
		}
		require.NoError(t, json.Unmarshal(content, &dashboard), path)
		for _, panel := range dashboard.Panels {
			require.True(t, panel.Type == "row" || len(panel.Targets) > 0, "%s: %s shows nothing", path, panel.Title)
			for _, target := range panel.Targets {
				found = append(found, query{filepath.Base(path), panel.Title, target.Expr})
			}
		}
	}
	return found
}

// selector is a metric as a query names it.
type selector struct {
	metric string
	// matchers are the values or patterns by label.
	matchers map[string]string
}

var (
	braces    = regexp.MustCompile(`([a-zA-Z_:][a-zA-Z0-9_:]*)\{([^}]*)\}`)
	matcher   = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_]*)\s*(?:=~|!~|!=|=)\s*"([^"]*)"`)
	grouping  = regexp.MustCompile(`\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)`)
	ranges    = regexp.MustCompile(`\[[^\]]*\]`)
	plainName = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*\s*\(?`)
	operators = []string{"and", "or", "unless", "bool", "offset"}
)

// selectors finds the metrics of an expression. What it reads is the part of PromQL that the alerts
// and dashboards use: names with or without matchers, functions, groupings and ranges.
func selectors(expr string) (found []selector) {
	for _, match := range braces.FindAllStringSubmatch(expr, -1) {
		s := selector{metric: match[1], matchers: map[string]string{}}
		for _, label := range matcher.FindAllStringSubmatch(match[2], -1) {
			s.matchers[label[1]] = label[2]
		}
		found = append(found, s)
	}
	for _, other := range []*regexp.Regexp{braces, grouping, ranges} {
		expr = other.ReplaceAllString(expr, " ")
	}
	for _, name := range plainName.FindAllString(expr, -1) {
		name = strings.TrimSpace(name)
		if !strings.HasSuffix(name, "(") && !slices.Contains(operators, name) {
			found = append(found, selector{metric: name})
		}
	}
	return found
}

func TestSelectors(t *testing.T) {
	t.Parallel()
	require.ElementsMatch(t, []selector{
		{metric: "a_total", matchers: map[string]string{"route": "/v1/.*", "status": "503"}},
		{metric: "b_total"}, {metric: "c_bucket"}, {metric: "d"},
	}, selectors(`sum by (le, x) (rate(a_total{route=~"/v1/.*", status="503"}[5m])) / sum(rate(b_total[5m])) > 0.5
		or histogram_quantile(0.95, rate(c_bucket[$__rate_interval])) unless on (y) max(d) == 10`))
}
