package deploy_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"helm.sh/helm/v3/pkg/releaseutil"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

const chartDir = deploy + "/helm/despacho"

// needed are the values that have no default.
func needed() map[string]any {
	return map[string]any{
		"existingSecret": "despacho-secrets",
		"config":         map[string]any{"BASE_URL": "https://despacho.example.com", "TEMPORAL_ADDRESS": "temporal.example.com:7233"},
	}
}

// everything switches on what is off by default.
func everything() map[string]any {
	values := needed()
	maps.Copy(values, map[string]any{
		"certsSecret": "despacho-certs",
		"image":       map[string]any{"tag": "1.5.0", "pullSecrets": []any{map[string]any{"name": "registry"}}},
		"api":         map[string]any{"autoscaling": map[string]any{"enabled": true}, "nodeSelector": map[string]any{"disk": "fast"}},
		"worker":      map[string]any{"autoscaling": map[string]any{"enabled": true}, "tolerations": []any{map[string]any{"key": "spot", "operator": "Exists"}}},
		"migrate":     map[string]any{"resources": map[string]any{"limits": map[string]any{"memory": "256Mi"}}},
		"files":       map[string]any{"storageClassName": "shared"},
		"ingress":     map[string]any{"enabled": true, "className": "nginx", "host": "despacho.example.com", "tlsSecret": "despacho-tls", "annotations": map[string]any{"a": "b"}},
		"podMonitor":  map[string]any{"enabled": true, "labels": map[string]any{"release": "prometheus"}},
		"service":     map[string]any{"annotations": map[string]any{"a": "b"}},
		"networkPolicy": map[string]any{
			"apiFrom":     []any{map[string]any{"namespaceSelector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": "ingress"}}}},
			"metricsFrom": []any{map[string]any{"namespaceSelector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": "monitoring"}}}},
			"database":    map[string]any{"to": []any{map[string]any{"ipBlock": map[string]any{"cidr": "192.0.2.0/24"}}}},
			"temporal":    map[string]any{"to": []any{map[string]any{"ipBlock": map[string]any{"cidr": "198.51.100.0/24"}}}},
			"extraEgress": []any{map[string]any{"ports": []any{map[string]any{"port": 4318}}}},
		},
		"serviceAccount": map[string]any{"annotations": map[string]any{"a": "b"}},
	})
	return values
}

// rendered are the objects of the chart, each read strictly as the type of its kind.
type rendered struct {
	manifests   []manifest
	deployments map[string]*apps.Deployment
	jobs        map[string]*batch.Job
	services    []*core.Service
	configs     []*core.ConfigMap
	claims      []*core.PersistentVolumeClaim
	accounts    []*core.ServiceAccount
	budgets     []*policy.PodDisruptionBudget
	scalers     []*autoscaling.HorizontalPodAutoscaler
	policies    []*networking.NetworkPolicy
	ingresses   []*networking.Ingress
	podMonitors []*monitoring.PodMonitor
}

// manifest is an object as the chart writes it.
type manifest struct{ file, text string }

func render(t *testing.T, values map[string]any) (*rendered, error) {
	t.Helper()
	chart, err := loader.Load(chartDir)
	require.NoError(t, err)
	all, err := chartutil.ToRenderValues(chart, values, chartutil.ReleaseOptions{Name: "shop", Namespace: "despacho", IsInstall: true, Revision: 1}, nil)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(chart, all)
	if err != nil {
		return nil, err
	}
	r := &rendered{deployments: map[string]*apps.Deployment{}, jobs: map[string]*batch.Job{}}
	for name, content := range files {
		if strings.HasSuffix(name, ".txt") {
			continue
		}
		for _, manifest := range releaseutil.SplitManifests(content) {
			r.read(t, name, manifest)
		}
	}
	return r, nil
}

func (r *rendered) read(t *testing.T, file, text string) {
	t.Helper()
	if strings.TrimSpace(text) == "" {
		return
	}
	r.manifests = append(r.manifests, manifest{file, text})
	var head struct{ APIVersion, Kind string }
	require.NoError(t, yaml.Unmarshal([]byte(text), &head), "%s\n%s", file, text)
	switch head.APIVersion + " " + head.Kind {
	case "apps/v1 Deployment":
		deployment := strict[apps.Deployment](t, file, text)
		r.deployments[deployment.Labels["app.kubernetes.io/component"]] = deployment
	case "batch/v1 Job":
		job := strict[batch.Job](t, file, text)
		r.jobs[job.Labels["app.kubernetes.io/component"]] = job
	case "v1 Service":
		r.services = append(r.services, strict[core.Service](t, file, text))
	case "v1 ConfigMap":
		r.configs = append(r.configs, strict[core.ConfigMap](t, file, text))
	case "v1 PersistentVolumeClaim":
		r.claims = append(r.claims, strict[core.PersistentVolumeClaim](t, file, text))
	case "v1 ServiceAccount":
		r.accounts = append(r.accounts, strict[core.ServiceAccount](t, file, text))
	case "policy/v1 PodDisruptionBudget":
		r.budgets = append(r.budgets, strict[policy.PodDisruptionBudget](t, file, text))
	case "autoscaling/v2 HorizontalPodAutoscaler":
		r.scalers = append(r.scalers, strict[autoscaling.HorizontalPodAutoscaler](t, file, text))
	case "networking.k8s.io/v1 NetworkPolicy":
		r.policies = append(r.policies, strict[networking.NetworkPolicy](t, file, text))
	case "networking.k8s.io/v1 Ingress":
		r.ingresses = append(r.ingresses, strict[networking.Ingress](t, file, text))
	case "monitoring.coreos.com/v1 PodMonitor":
		r.podMonitors = append(r.podMonitors, strict[monitoring.PodMonitor](t, file, text))
	default:
		t.Fatalf("%s: %s %s is not checked", file, head.APIVersion, head.Kind)
	}
}

// strict refuses members that the type does not have, members that come twice, and values of
// another type.
func strict[T any](t *testing.T, file, manifest string) *T {
	t.Helper()
	object := new(T)
	require.NoError(t, yaml.UnmarshalStrict([]byte(manifest), object), "%s\n%s", file, manifest)
	return object
}

// eachValues runs a check on the smallest installation and on one with everything.
func eachValues(t *testing.T, check func(t *testing.T, r *rendered)) {
	t.Parallel()
	for name, values := range map[string]map[string]any{"needed": needed(), "everything": everything()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := render(t, values)
			require.NoError(t, err)
			check(t, r)
		})
	}
}

func TestChart_lint(t *testing.T) {
	t.Parallel()
	for name, values := range map[string]map[string]any{"needed": needed(), "everything": everything()} {
		linter := lint.AllWithKubeVersion(chartDir, values, "despacho", nil)
		for _, message := range linter.Messages {
			// An icon is only recommended.
			require.Less(t, message.Severity, support.WarningSev, "%s: %v", name, message)
		}
	}
}

func TestChart_rendersEveryKind(t *testing.T) {
	t.Parallel()
	r, err := render(t, everything())
	require.NoError(t, err)
	require.Len(t, r.deployments, 2)
	for _, count := range []int{len(r.services), len(r.configs), len(r.claims), len(r.accounts), len(r.ingresses)} {
		require.Equal(t, 1, count)
	}
	for _, count := range []int{len(r.jobs), len(r.budgets), len(r.scalers), len(r.podMonitors)} {
		require.Equal(t, 2, count)
	}
	require.Len(t, r.policies, 4)
}

func TestChart_saysWhatIsMissing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(map[string]any){
		"existingSecret":          func(v map[string]any) { delete(v, "existingSecret") },
		"config.BASE_URL":         func(v map[string]any) { delete(v["config"].(map[string]any), "BASE_URL") },
		"config.TEMPORAL_ADDRESS": func(v map[string]any) { delete(v["config"].(map[string]any), "TEMPORAL_ADDRESS") },
		"ingress.host":            func(v map[string]any) { v["ingress"] = map[string]any{"enabled": true} },
		"replicas":                func(v map[string]any) { v["api"] = map[string]any{"replicas": 0} },
	} {
		values := needed()
		change(values)
		_, err := render(t, values)
		require.ErrorContains(t, err, name)
	}
}

// The values of config are in a ConfigMap and in Helm's record of the release, for everybody to
// read who may read those.
func TestChart_takesNoSecrets(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"DATABASE_URL", "MIGRATE_DATABASE_URL", "PGPASSWORD", "PGSSLPASSWORD", "SECRET_KEY", "SECRET_KEY_OLD", "HISTORY_KEYS", "DNI_TOKEN",
		"AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_SESSION_TOKEN", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
		"TEMPORAL_API_KEY", "TEMPORAL_TLS_CLIENT_KEY_DATA", "TEMPORAL_CODEC_AUTH", "TEMPORAL_GRPC_META_AUTHORIZATION",
	} {
		values := needed()
		values["config"].(map[string]any)[name] = "in the values"
		_, err := render(t, values)
		require.ErrorContains(t, err, name)
	}
}

// Every selector finds the pods that it is about, and only those.
func TestChart_selectors(t *testing.T) {
	eachValues(t, func(t *testing.T, r *rendered) {
		pods := map[string]map[string]string{}
		for name, job := range r.jobs {
			pods[name] = job.Spec.Template.Labels
		}
		for name, deployment := range r.deployments {
			pods[name] = deployment.Spec.Template.Labels
			requireSelects(t, pods, deployment.Spec.Selector.MatchLabels, name)
			for _, spread := range deployment.Spec.Template.Spec.TopologySpreadConstraints {
				requireSelects(t, pods, spread.LabelSelector.MatchLabels, name)
			}
		}
		requireSelects(t, pods, r.services[0].Spec.Selector, "api")
		for _, budget := range r.budgets {
			requireSelects(t, pods, budget.Spec.Selector.MatchLabels, budget.Labels["app.kubernetes.io/component"])
		}
		for _, rule := range r.policies {
			requireSelects(t, pods, rule.Spec.PodSelector.MatchLabels, rule.Labels["app.kubernetes.io/component"])
		}
		for _, monitor := range r.podMonitors {
			requireSelects(t, pods, monitor.Spec.Selector.MatchLabels, monitor.Labels["app.kubernetes.io/component"])
		}
		for _, scaler := range r.scalers {
			deployment := r.deployments[scaler.Labels["app.kubernetes.io/component"]]
			require.Equal(t, deployment.Name, scaler.Spec.ScaleTargetRef.Name)
			require.Nil(t, deployment.Spec.Replicas, "an upgrade must not undo what the autoscaler did")
		}
	})
}

func requireSelects(t *testing.T, pods map[string]map[string]string, selector map[string]string, only string) {
	t.Helper()
	require.NotEmpty(t, selector)
	for name, labelled := range pods {
		require.Equal(t, name == only, labels.SelectorFromSet(selector).Matches(labels.Set(labelled)), "%v on %s", selector, name)
	}
}

func TestChart_pods(t *testing.T) {
	eachValues(t, func(t *testing.T, r *rendered) {
		templates := map[string]core.PodTemplateSpec{}
		for name, job := range r.jobs {
			templates[name] = job.Spec.Template
		}
		for name, deployment := range r.deployments {
			templates[name] = deployment.Spec.Template
		}
		for name, template := range templates {
			pod := template.Spec
			require.True(t, *pod.SecurityContext.RunAsNonRoot, name)
			require.False(t, *pod.AutomountServiceAccountToken, name)
			require.Len(t, pod.Containers, 1)
			container := pod.Containers[0]
			require.True(t, *container.SecurityContext.ReadOnlyRootFilesystem, name)
			require.False(t, *container.SecurityContext.AllowPrivilegeEscalation, name)
			require.Equal(t, []core.Capability{"ALL"}, container.SecurityContext.Capabilities.Drop, name)
			require.Equal(t, name, container.Name)
			if name != "rollout" { // which is not ours
				require.Equal(t, name, container.Args[0])
			}
			ports := map[string]bool{}
			for _, port := range container.Ports {
				ports[port.Name] = true
			}
			for _, probe := range []*core.Probe{container.LivenessProbe, container.ReadinessProbe, container.StartupProbe} {
				switch {
				case probe == nil:
				case probe.HTTPGet != nil:
					require.True(t, ports[probe.HTTPGet.Port.StrVal], name)
				default:
					require.True(t, ports[probe.TCPSocket.Port.StrVal], name)
				}
			}
			require.Equal(t, r.deployments[name] != nil, container.ReadinessProbe != nil && container.LivenessProbe != nil, name)
			volumes := map[string]bool{}
			for _, volume := range pod.Volumes {
				volumes[volume.Name] = true
			}
			for _, mount := range container.VolumeMounts {
				require.True(t, volumes[mount.Name], name)
			}
		}
		require.Equal(t, "pre-install,pre-upgrade", r.jobs["migrate"].Annotations["helm.sh/hook"])
	})
}

// Workers are upgraded before the api: they know everything that an older api sends, not the other
// way round.
func TestChart_upgradesWorkersFirst(t *testing.T) {
	t.Parallel()
	values := needed()
	values["image"] = map[string]any{"repository": "registry.example.com/despacho", "tag": "1.5.0"}
	images := func() map[string]string {
		r, err := render(t, values)
		require.NoError(t, err)
		found := map[string]string{"migrate": r.jobs["migrate"].Spec.Template.Spec.Containers[0].Image}
		for name, deployment := range r.deployments {
			found[name] = deployment.Spec.Template.Spec.Containers[0].Image
		}
		return found
	}
	const before, after = "registry.example.com/despacho:1.4.0", "registry.example.com/despacho:1.5.0"
	require.Equal(t, map[string]string{"migrate": after, "worker": after, "api": after}, images())
	values["api"] = map[string]any{"tag": "1.4.0"}
	require.Equal(t, map[string]string{"migrate": after, "worker": after, "api": before}, images())
}

// The workers of a version are a Deployment of their own that Helm leaves when the next one comes:
// they have the tasks until the hook gives them to the next version's, and get them again from the
// hook of a rollback.
func TestChart_aVersionBecomesCurrentOnceItRuns(t *testing.T) {
	t.Parallel()
	rollout := func(tag string) (*apps.Deployment, *batch.Job) {
		values := needed()
		values["image"] = map[string]any{"tag": tag}
		r, err := render(t, values)
		require.NoError(t, err)
		return r.deployments["worker"], r.jobs["rollout"]
	}
	before, _ := rollout("1.4.0")
	after, job := rollout("1.5.0")
	require.NotEqual(t, before.Name, after.Name)
	require.False(t, labels.SelectorFromSet(after.Spec.Selector.MatchLabels).Matches(labels.Set(before.Spec.Template.Labels)))
	require.Equal(t, "keep", after.Annotations["helm.sh/resource-policy"])
	require.Equal(t, "post-install,post-upgrade,post-rollback", job.Annotations["helm.sh/hook"])
	container := job.Spec.Template.Spec.Containers[0]
	require.Contains(t, container.Args[0], "temporal worker deployment set-current-version")
	require.Contains(t, container.Env, core.EnvVar{Name: "VERSION", Value: "1.5.0"})
	compose, err := os.ReadFile("../../docker-compose.yml")
	require.NoError(t, err)
	require.Contains(t, string(compose), "image: "+container.Image+"\n", "compose and chart have the same CLI")
	_, job = rollout("dev")
	require.Nil(t, job, "workers without a version")
}

// Workers of orders alone need no way out; those of what leaves the house do.
func TestChart_workersOfOnePart(t *testing.T) {
	t.Parallel()
	public := func(only string) bool {
		values := needed()
		values["worker"] = map[string]any{"only": only}
		r, err := render(t, values)
		require.NoError(t, err)
		want := []string{"worker"}
		if only != "" {
			want = append(want, "--only", only)
		}
		require.Equal(t, want, r.deployments["worker"].Spec.Template.Spec.Containers[0].Args)
		worker := slices.IndexFunc(r.policies, func(p *networking.NetworkPolicy) bool { return p.Labels["app.kubernetes.io/component"] == "worker" })
		return slices.ContainsFunc(r.policies[worker].Spec.Egress, func(rule networking.NetworkPolicyEgressRule) bool {
			return slices.ContainsFunc(rule.To, func(peer networking.NetworkPolicyPeer) bool { return peer.IPBlock != nil })
		})
	}
	require.True(t, public(""))
	require.True(t, public("out"))
	require.False(t, public("orders"))
}

// A pod is killed only after it had time to drain and to finish.
func TestChart_gracePeriods(t *testing.T) {
	eachValues(t, func(t *testing.T, r *rendered) {
		data := r.configs[0].Data
		drain, err := time.ParseDuration(data["DRAIN_DELAY"])
		require.NoError(t, err)
		shutdown, err := time.ParseDuration(data["SHUTDOWN_TIMEOUT"])
		require.NoError(t, err)
		grace := func(name string) time.Duration {
			return time.Duration(*r.deployments[name].Spec.Template.Spec.TerminationGracePeriodSeconds) * time.Second
		}
		require.Greater(t, grace("api"), 3*drain+shutdown)
		require.Greater(t, grace("worker"), shutdown)
	})
}

// A variable that the binary does not know would be ignored.
func TestChart_variablesAreDocumented(t *testing.T) {
	eachValues(t, func(t *testing.T, r *rendered) {
		readme, err := os.ReadFile("../../docs/configuration.md")
		require.NoError(t, err)
		documented := regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\|").FindAllStringSubmatch(string(readme), -1)
		names := slices.Collect(maps.Keys(r.configs[0].Data))
		for _, deployment := range r.deployments {
			for _, variable := range deployment.Spec.Template.Spec.Containers[0].Env {
				names = append(names, variable.Name)
			}
		}
		for _, name := range names {
			known := strings.HasPrefix(name, "TEMPORAL_") || slices.ContainsFunc(documented, func(row []string) bool { return row[1] == name })
			require.True(t, known, name)
		}
	})
}

// What autoscaling asks for is what deploy/prometheus/adapter.yml serves, and the jobs are those of
// the alerts.
func TestChart_metrics(t *testing.T) {
	t.Parallel()
	r, err := render(t, everything())
	require.NoError(t, err)
	content, err := os.ReadFile(filepath.Join(deploy, "prometheus/adapter.yml"))
	require.NoError(t, err)
	for _, scaler := range r.scalers {
		for _, metric := range scaler.Spec.Metrics {
			switch {
			case metric.Pods != nil:
				require.Contains(t, string(content), "as: "+metric.Pods.Metric.Name+"\n")
				require.NotNil(t, metric.Pods.Target.AverageValue)
			default:
				require.Contains(t, string(content), "as: "+metric.External.Metric.Name+"\n")
				require.NotNil(t, metric.External.Target.Value)
			}
		}
	}
	prometheus, err := os.ReadFile(filepath.Join(deploy, "prometheus/prometheus.yml"))
	require.NoError(t, err)
	for _, monitor := range r.podMonitors {
		require.Contains(t, string(prometheus), "job_name: "+*monitor.Spec.PodMetricsEndpoints[0].RelabelConfigs[0].Replacement+"\n")
	}
}

func isPodMonitor(text string) bool { return strings.Contains(text, "\nkind: PodMonitor\n") }

// Helm reads every number of a values file as a float, and prints a large one with an exponent: the
// api would refuse PANEL_OPERATOR_LIMIT=1e+06.
func TestChart_numbersArePrintedInFull(t *testing.T) {
	t.Parallel()
	values, err := chartutil.ReadValues([]byte(`
config: {PANEL_OPERATOR_LIMIT: 1000000, MAX_CONNECTIONS_PER_ADDRESS: 512, OTEL_TRACES_SAMPLER_ARG: 0.000001, WEBHOOKS_PAUSED: true, TEMPORAL_NAMESPACE: "1000000"}
migrate: {activeDeadlineSeconds: 1000000}
`))
	require.NoError(t, err)
	r, err := render(t, chartutil.CoalesceTables(values, needed()))
	require.NoError(t, err)
	for name, want := range map[string]string{
		"PANEL_OPERATOR_LIMIT": "1000000", "MAX_CONNECTIONS_PER_ADDRESS": "512", "OTEL_TRACES_SAMPLER_ARG": "0.000001", "WEBHOOKS_PAUSED": "true",
		"TEMPORAL_NAMESPACE": "1000000", "DRAIN_DELAY": "5s", "BASE_URL": "https://despacho.example.com",
	} {
		require.Equal(t, want, r.configs[0].Data[name], name)
	}
	require.EqualValues(t, 1000000, *r.jobs["migrate"].Spec.ActiveDeadlineSeconds)
}
