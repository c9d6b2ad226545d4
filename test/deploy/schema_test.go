package deploy_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// kubernetesVersions are the first one that the chart supports and the last one whose OpenAPI
// documents a Go module has.
var kubernetesVersions = []string{"1.29", "1.30"}

// The module with the OpenAPI documents, for its files only: its code does not compile with the
// modules that Helm needs, so that go.mod cannot require it, and go.sum not hold its sum.
const (
	schemaModule = "sigs.k8s.io/kubectl-validate@v0.0.4"
	schemaSum    = "h1:tGKuv0awYHn11Cb6KPsZKxUmHgavF46K3NvVH0Nse9U="
)

// schemaDir is the directory of the OpenAPI documents in the module cache. They are downloaded
// once.
var schemaDir = sync.OnceValues(func() (string, error) {
	download := exec.Command("go", "mod", "download", "-json", schemaModule)
	download.Dir = os.TempDir() // outside of a module
	download.Env = append(os.Environ(), "GONOSUMDB=*")
	output, err := download.Output()
	var module struct{ Dir, Sum, Error string }
	if err := errors.Join(err, json.Unmarshal(output, &module)); err != nil {
		return "", fmt.Errorf("%w: %s", err, module.Error)
	}
	if module.Sum != schemaSum {
		return "", fmt.Errorf("%s has the sum %s", schemaModule, module.Sum)
	}
	return filepath.Join(module.Dir, "pkg/openapiclient/builtins"), nil
})

// schemas are those of the objects of one version of Kubernetes.
type schemas struct {
	compiler *jsonschema.Compiler
	// of has the address of a schema by apiVersion and kind.
	of map[string]string
}

func readSchemas(t *testing.T, version string) schemas {
	t.Helper()
	found := schemas{jsonschema.NewCompiler(), map[string]string{}}
	documents, err := schemaDir()
	require.NoError(t, err)
	for _, path := range []string{"api/v1", "apis/apps/v1", "apis/batch/v1", "apis/policy/v1", "apis/autoscaling/v2", "apis/networking.k8s.io/v1"} {
		content, err := os.ReadFile(filepath.Join(documents, version, path+".json"))
		require.NoError(t, err)
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
		require.NoError(t, err)
		address := "kubernetes:///" + path
		require.NoError(t, found.compiler.AddResource(address, document))
		var names struct {
			Components struct {
				Schemas map[string]struct {
					Kinds []struct{ Group, Version, Kind string } `json:"x-kubernetes-group-version-kind"`
				}
			}
		}
		require.NoError(t, json.Unmarshal(content, &names))
		for name, schema := range names.Components.Schemas {
			if len(schema.Kinds) == 1 {
				kind := schema.Kinds[0]
				group := kind.Group
				if group != "" {
					group += "/"
				}
				found.of[group+kind.Version+" "+kind.Kind] = address + "#/components/schemas/" + name
			}
		}
	}
	return found
}

// validate holds an object to its schema: required members, types, enumerations. Members that the
// schema does not know are found by strict.
func (s schemas) validate(t *testing.T, text string) error {
	t.Helper()
	content, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	var head struct{ APIVersion, Kind string }
	require.NoError(t, json.Unmarshal(content, &head))
	address, known := s.of[head.APIVersion+" "+head.Kind]
	require.True(t, known, "no schema of %s %s", head.APIVersion, head.Kind)
	schema, err := s.compiler.Compile(address)
	require.NoError(t, err)
	object, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	require.NoError(t, err)
	return schema.Validate(object)
}

func TestChart_isValidForTheAPI(t *testing.T) {
	eachValues(t, func(t *testing.T, r *rendered) {
		for _, version := range kubernetesVersions {
			known := readSchemas(t, version)
			for _, m := range r.manifests {
				if isPodMonitor(m.text) {
					continue // the Prometheus operator's; strict read it
				}
				require.NoError(t, known.validate(t, m.text), "Kubernetes %s: %s\n%s", version, m.file, m.text)
			}
		}
	})
}

// The schemas refuse what the API would refuse.
func TestSchemas_refuse(t *testing.T) {
	t.Parallel()
	known := readSchemas(t, kubernetesVersions[0])
	for name, text := range map[string]string{
		"no selector":      "{apiVersion: apps/v1, kind: Deployment, spec: {template: {spec: {containers: [{name: a}]}}}}",
		"a word for a sum": "{apiVersion: apps/v1, kind: Deployment, spec: {replicas: two, selector: {}, template: {}}}",
		"a nameless port":  "{apiVersion: v1, kind: Service, spec: {ports: [{name: http}]}}",
		"no metric's name": "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, spec: {maxReplicas: 2, scaleTargetRef: {kind: a, name: a}, metrics: [{type: Pods, pods: {metric: {}, target: {type: Value}}}]}}",
	} {
		require.Error(t, known.validate(t, text), name)
	}
}
