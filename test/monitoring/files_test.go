package monitoring_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var alertRow = regexp.MustCompile("(?m)^\\| `(Despacho\\w+)` \\| (page|ticket) \\| ([^|]+) \\| ([^|]+) \\|$")

// Whoever is woken by an alert finds its line in docs/operations.md.
func TestAlerts_areTheDocumentedOnes(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join(root, "docs/operations.md"))
	require.NoError(t, err)
	_, section, found := strings.Cut(string(content), "\n## Alerts\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	var documented, defined []string
	for _, row := range alertRow.FindAllStringSubmatch(section, -1) {
		documented = append(documented, row[1]+" "+row[2])
	}
	for _, alert := range readAlerts(t) {
		require.NotEmpty(t, alert.Alert)
		require.NotEmpty(t, alert.Annotations["summary"], alert.Alert)
		defined = append(defined, alert.Alert+" "+alert.Labels["severity"])
	}
	require.Equal(t, defined, documented)
}

// The processes that Prometheus looks for are the services of docker-compose.yml, at the port of
// their metrics, under the names that the alerts and dashboards know.
func TestPrometheus_scrapesTheServices(t *testing.T) {
	t.Parallel()
	var prometheus struct {
		RuleFiles []string `yaml:"rule_files"`
		Scrape    []struct {
			Job string `yaml:"job_name"`
			DNS []struct {
				Names []string
				Port  string
			} `yaml:"dns_sd_configs"`
		} `yaml:"scrape_configs"`
	}
	readYAML(t, "deploy/prometheus/prometheus.yml", &prometheus)
	require.Equal(t, []string{"alerts.yml"}, prometheus.RuleFiles)
	var compose struct {
		Services map[string]struct {
			Environment map[string]*string
		}
	}
	readYAML(t, "docker-compose.yml", &compose)
	var jobs []string
	for _, scrape := range prometheus.Scrape {
		jobs = append(jobs, scrape.Job)
		require.Len(t, scrape.DNS, 1)
		require.Len(t, scrape.DNS[0].Names, 1)
		name, variable := scrape.DNS[0].Names[0], "ADMIN_ADDR"
		if name == "temporal" {
			variable = "PROMETHEUS_ENDPOINT"
		} else {
			require.Equal(t, "despacho-"+name, scrape.Job)
		}
		require.Contains(t, compose.Services, name)
		admin := compose.Services[name].Environment[variable]
		require.NotNil(t, admin, name)
		require.True(t, strings.HasSuffix(*admin, ":"+scrape.DNS[0].Port), "%s: %s", name, *admin)
	}
	for _, q := range queries(t) {
		for _, s := range selectors(q.expr) {
			if pattern, ok := s.matchers["job"]; ok {
				require.True(t, slices.ContainsFunc(jobs, regexp.MustCompile("^(?:"+pattern+")$").MatchString), "%s: %s: no job is %s", q.file, q.title, pattern)
			}
		}
	}
}

// Grafana finds the dashboards where its container has them, and the data source of the dashboards
// is the Prometheus of docker-compose.yml.
func TestGrafana_findsDashboardsAndData(t *testing.T) {
	t.Parallel()
	var compose struct {
		Services map[string]struct {
			Environment map[string]*string
			Volumes     []string
			Healthcheck struct{ Test []string }
		}
	}
	readYAML(t, "docker-compose.yml", &compose)
	grafana := compose.Services["grafana"]
	var providers struct {
		Providers []struct{ Options struct{ Path string } }
	}
	readYAML(t, "deploy/grafana/provisioning/dashboards/despacho.yml", &providers)
	require.Len(t, providers.Providers, 1)
	path := providers.Providers[0].Options.Path
	require.Contains(t, grafana.Volumes, "./deploy/grafana/dashboards:"+path+":ro")
	require.Contains(t, grafana.Volumes, "./deploy/grafana/provisioning:/etc/grafana/provisioning:ro")
	require.FileExists(t, filepath.Join(root, "deploy/grafana/dashboards", strings.TrimPrefix(*grafana.Environment["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"], path)))

	var sources struct {
		Datasources []struct{ UID, URL string }
	}
	readYAML(t, "deploy/grafana/provisioning/datasources/prometheus.yml", &sources)
	require.Len(t, sources.Datasources, 1)
	address := strings.Replace(sources.Datasources[0].URL, "//prometheus:", "//127.0.0.1:", 1)
	require.Contains(t, compose.Services, "prometheus")
	require.Contains(t, compose.Services["prometheus"].Healthcheck.Test, address+"/-/ready")
	dashboards, err := filepath.Glob(filepath.Join(root, "deploy/grafana/dashboards/*.json"))
	require.NoError(t, err)
	for _, dashboard := range dashboards {
		content, err := os.ReadFile(dashboard)
		require.NoError(t, err)
		require.Contains(t, string(content), `"value": "`+sources.Datasources[0].UID+`"`, dashboard)
	}
}

// The Prometheus that runs is the one whose parsers check its rules.
func TestPrometheus_isTheVersionThatIsTested(t *testing.T) {
	t.Parallel()
	compose, err := os.ReadFile(filepath.Join(root, "docker-compose.yml"))
	require.NoError(t, err)
	image := regexp.MustCompile(`image: prom/prometheus:v3\.(\d+)\.(\d+)\n`).FindStringSubmatch(string(compose))
	require.NotNil(t, image)
	module, err := os.ReadFile(filepath.Join(root, "test/deploy/go.mod"))
	require.NoError(t, err)
	// 3.13.5 is v0.313.5 as a module.
	require.Contains(t, string(module), "github.com/prometheus/prometheus v0.3"+image[1]+"."+image[2]+"\n")
}
