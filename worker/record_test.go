package worker_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/interceptor"
	sdkworker "go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/reflect/protoreflect"

	"despacho/worker"
	"despacho/workflows"
)

var record = flag.Bool("record", false, "write the recorded histories to workflows/testdata")

var testdata = filepath.Join("..", "workflows", "testdata")

// personalData must not appear in any history.
var personalData = map[string]any{
	"recipient_name": "Hermelinda Quispe", "recipient_phone": "944 555 666", "delivery_address": "Jirón Huiracocha 1234",
	"delivery_reference": "frente al parque", "recipient_doc_type": "ce", "recipient_doc_number": "X00998877",
	"product": "Audífonos", "notes": "tocar dos veces", "delivery_lat": -12.1234, "delivery_lng": -77.0345,
}

// Every path runs on a real server. Its history has no personal data, replays on the current
// workflow and has a recording, which -record writes.
func TestRecord_everyPath(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	var mu sync.Mutex
	recorded := map[string][]byte{}
	t.Run("paths", func(t *testing.T) {
		for _, p := range paths {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				s := i.secondOperator(t)
				workflowID, runID := p.drive(t, i, s)
				events := s.historyOf(t, workflowID, runID)
				requireNoPersonalData(t, s, events)
				replayer, err := sdkworker.NewWorkflowReplayerWithOptions(sdkworker.WorkflowReplayerOptions{
					Interceptors: []interceptor.WorkerInterceptor{&workflows.SignalOrder{}},
				})
				require.NoError(t, err)
				worker.Register(replayer)
				require.NoError(t, replayer.ReplayWorkflowHistory(nil, events))
				content := sanitizedHistory(t, s, events)
				mu.Lock()
				defer mu.Unlock()
				recorded[p.name+".json"] = content
			})
		}
	})
	if *record && !t.Failed() {
		writeRecordings(t, recorded)
	}
	files, err := os.ReadDir(testdata)
	require.NoError(t, err)
	var names, wanted []string
	for _, file := range files {
		if !file.IsDir() { // a folder has those of a release, which stay as they are
			names = append(names, file.Name())
		}
	}
	for name := range recorded {
		wanted = append(wanted, name)
	}
	require.ElementsMatch(t, wanted, names, "run `make record` for paths without a recording")
}

// requireNoPersonalData checks every string of a history, including payloads.
func requireNoPersonalData(t *testing.T, s *service, events *history.History) {
	t.Helper()
	secrets := []string{"944555666", "-12.1234", "-77.0345", s.Key, s.KeyA, "whsec_", "/hook"}
	for _, value := range personalData {
		if text, is := value.(string); is && len(text) > 2 {
			secrets = append(secrets, text)
		}
	}
	for _, rider := range s.Riders {
		secrets = append(secrets, rider.Name, rider.Phone)
	}
	rewrite(events.ProtoReflect(), func(_ protoreflect.FieldDescriptor, text string) string {
		for _, secret := range secrets {
			require.NotContains(t, strings.ToLower(text), strings.ToLower(secret))
		}
		return text
	})
}

// sanitizedHistory removes what identifies the recording machine from a history.
func sanitizedHistory(t *testing.T, s *service, events *history.History) []byte {
	t.Helper()
	host, err := os.Hostname()
	require.NoError(t, err)
	rewrite(events.ProtoReflect(), func(field protoreflect.FieldDescriptor, text string) string {
		text = strings.ReplaceAll(text, s.Config.TaskQueue, "despacho")
		switch {
		case field.Name() == "identity":
			return "recorder"
		case strings.HasPrefix(text, host+":"): // a sticky queue
			return "despacho-sticky"
		}
		return text
	})
	compact, err := temporalproto.CustomJSONMarshalOptions{}.Marshal(events)
	require.NoError(t, err)
	var content bytes.Buffer
	require.NoError(t, json.Indent(&content, compact, "", " "))
	content.WriteByte('\n')
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	directory, err := os.Getwd()
	require.NoError(t, err)
	for _, here := range []string{home + "/", directory, os.TempDir() + "/", "@" + host, `"` + host + ":"} {
		require.NotContains(t, content.String(), here)
	}
	return content.Bytes()
}

func writeRecordings(t *testing.T, recorded map[string][]byte) {
	t.Helper()
	old, err := filepath.Glob(filepath.Join(testdata, "*.json"))
	require.NoError(t, err)
	for _, file := range old {
		require.NoError(t, os.Remove(file))
	}
	for name, content := range recorded {
		require.NoError(t, os.WriteFile(filepath.Join(testdata, name), content, 0o644))
	}
}

// rewrite applies change to every string and byte field of a message.
func rewrite(m protoreflect.Message, change func(protoreflect.FieldDescriptor, string) string) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsMap():
			value.Map().Range(func(key protoreflect.MapKey, item protoreflect.Value) bool {
				if changed, ok := rewritten(field.MapValue(), item, change); ok {
					value.Map().Set(key, changed)
				}
				return true
			})
		case field.IsList():
			for i := range value.List().Len() {
				if changed, ok := rewritten(field, value.List().Get(i), change); ok {
					value.List().Set(i, changed)
				}
			}
		default:
			if changed, ok := rewritten(field, value, change); ok {
				m.Set(field, changed)
			}
		}
		return true
	})
}

// rewritten returns the changed value, or false if there is nothing to set: messages are changed in
// place.
func rewritten(field protoreflect.FieldDescriptor, value protoreflect.Value, change func(protoreflect.FieldDescriptor, string) string) (protoreflect.Value, bool) {
	switch field.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		rewrite(value.Message(), change)
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(change(field, value.String())), true
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(change(field, string(value.Bytes())))), true
	}
	return protoreflect.Value{}, false
}
