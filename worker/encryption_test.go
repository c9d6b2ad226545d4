package worker_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/failure/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/proxy"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/reflect/protoreflect"

	"despacho/internal/config"
	"despacho/internal/historycodec"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
	"despacho/workflows"
)

// withHistoryKeys encrypts histories with the first key; the others only decrypt.
func withHistoryKeys(entries ...string) func(*config.Config) {
	return func(c *config.Config) {
		c.HistoryKeys = entries
		if len(entries) > 0 {
			c.HistoryKeyID, _, _ = strings.Cut(entries[0], ":")
		}
	}
}

const (
	keyA      = "a:el primer secreto de treinta y dos letras"
	keyB      = "b:el segundo secreto de treinta y dos letras"
	wrongKeyA = "a:otro secreto cualquiera de treinta y dos"
)

// What people write and where they are when they move an order.
const (
	cancelReason = "Se mudó a Arequipa"
	cancelNote   = "Avisar a su hermana Yolanda, 955 111 222"
	proofLat     = -12.345678
	proofLng     = -77.765432
)

var moveData = []string{cancelReason, cancelNote, fmt.Sprint(proofLat), fmt.Sprint(proofLng)}

// run is one run of a workflow.
type run struct{ workflowID, runID string }

// Whole lives with everything that is personal. Nothing of it is in the stored histories when they
// are encrypted; without encryption they hold what people wrote and the proof's point.
func TestEncryption_noPersonalValueIsStored(t *testing.T) {
	t.Parallel()
	for name, encrypts := range map[string]bool{"encrypted": true, "plain": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var keys func(*config.Config)
			if encrypts {
				keys = withHistoryKeys(keyA)
			}
			s := boot(t, "", apptest.Options{Configure: keys})
			searched, found := append(personalValues(s), moveData...), map[string]bool{}
			for _, r := range runOrdersWithEveryMessage(t, s, keys) {
				events := s.historyOf(t, r.workflowID, r.runID)
				rewrite(events.ProtoReflect(), func(_ protoreflect.FieldDescriptor, text string) string {
					lower := strings.ToLower(text)
					for _, value := range searched {
						found[value] = found[value] || strings.Contains(lower, strings.ToLower(value))
					}
					return text
				})
				if encrypts {
					requireEncrypted(t, events, r.workflowID)
				}
			}
			for _, value := range personalValues(s) {
				require.False(t, found[value], value)
			}
			for _, value := range moveData {
				require.Equal(t, !encrypts, found[value], value)
			}
		})
	}
}

// personalValues must never be in a history, encrypted or not.
func personalValues(s *service) []string {
	values := []string{"944555666", "-12.1234", "-77.0345", "45678912", "CasaDeHermelinda", s.Key, s.KeyA, "whsec_", "/hook"}
	for _, value := range personalData {
		if text, is := value.(string); is && len(text) > 2 {
			values = append(values, text)
		}
	}
	for _, rider := range s.Riders {
		values = append(values, rider.Name, rider.Phone)
	}
	return values
}

// runOrdersWithEveryMessage sends orders every kind of message and returns their runs.
func runOrdersWithEveryMessage(t *testing.T, s *service, keys func(*config.Config)) []run {
	t.Helper()
	hasty := s.secondProcess(t, apptest.Options{Configure: func(c *config.Config) {
		c.AutoCancelAfter = time.Second
		if keys != nil {
			keys(c)
		}
	}})
	receiver := apptest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	s.Register(t, s.Key, receiver)
	cancel := map[string]any{"reason": cancelReason, "note": cancelNote}
	var runs []run
	ended := func(id string) {
		workflowID, runID := s.waitForOrderEnd(t, id)
		runs = append(runs, run{workflowID, runID})
	}

	revived := hasty.CreateOrder(t, s.Key, personalData)
	delivered := s.CreateOrder(t, s.KeyA, personalData, map[string]any{
		"recipient_doc_type": "dni", "recipient_doc_number": "45678912",
		"delivery_lat": nil, "delivery_lng": nil, "delivery_maps_url": "https://maps.app.goo.gl/CasaDeHermelinda",
	})
	s.receive(t, delivered)
	unknown := uuid.New()
	refusal, refused := workflows.AsRefusal(s.updateAs(t, uuid.NewString(), delivered, workflows.AssignedName, models.Message{RiderID: &unknown}))
	require.True(t, refused)
	require.Equal(t, "El motorizado no existe o no está activo.", refusal.Reason)
	s.assign(t, delivered, 0)
	content, contentType := deliveryForm(t)
	answer := s.Do(t, apptest.Request{
		Method: http.MethodPost, Path: "/panel/api/orders/" + delivered + "/deliver", Token: s.staff, Raw: content, Header: map[string]string{"Content-Type": contentType},
	})
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)

	cancelled := s.CreateOrder(t, s.KeyA, personalData)
	answer = s.Do(t, apptest.Request{Method: http.MethodPatch, Path: "/v1/orders/" + cancelled + "/cancel", Key: s.KeyA, Body: cancel})
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)

	signalled := s.startedOrder(t, s.Key, personalData)
	require.NoError(t, s.Temporal.SignalWorkflow(t.Context(), workflowOf(signalled), "", workflows.CancelName, cancel))

	continued := s.CreateOrder(t, s.Key, personalData)
	runs = append(runs, s.continueAsNew(t, continued))
	require.Equal(t, http.StatusOK, s.move(t, continued, "cancel", cancel).Status)

	ended(revived)
	s.receive(t, revived)
	require.Equal(t, http.StatusOK, s.move(t, revived, "cancel", cancel).Status)
	for _, id := range []string{delivered, cancelled, signalled, continued, revived} {
		ended(id)
	}
	return runs
}

// continueAsNew sends signals until Temporal suggests that the order continues as a new run, and
// returns the first run.
func (s *service) continueAsNew(t *testing.T, orderID string) run {
	t.Helper()
	first := s.describe(t, workflowOf(orderID)).WorkflowExecutionInfo.Execution.RunId
	for range 4 {
		require.NoError(t, s.Temporal.SignalWorkflow(t.Context(), workflowOf(orderID), "", workflows.CancelName,
			models.Message{Reason: cancelReason, Note: cancelNote + strings.Repeat(".", 1_200_000)}))
	}
	poll.Until(t, func() error {
		described, err := s.Temporal.DescribeWorkflowExecution(t.Context(), workflowOf(orderID), "")
		if err == nil && described.WorkflowExecutionInfo.Execution.RunId == first {
			// The suggestion comes with the start of a workflow task.
			require.NoError(t, s.Temporal.SignalWorkflow(t.Context(), workflowOf(orderID), "", workflows.RefreshName, nil))
			err = fmt.Errorf("the first run goes on with %d bytes", described.WorkflowExecutionInfo.HistorySizeBytes)
		}
		return err
	})
	return run{workflowOf(orderID), first}
}

// deliveryForm is what the panel sends with a photo and its point.
func deliveryForm(t *testing.T) (content []byte, contentType string) {
	t.Helper()
	var out bytes.Buffer
	form := multipart.NewWriter(&out)
	require.NoError(t, form.WriteField("lat", fmt.Sprint(proofLat)))
	require.NoError(t, form.WriteField("lng", fmt.Sprint(proofLng)))
	photo, err := form.CreateFormFile("photo", "foto.png")
	require.NoError(t, err)
	require.NoError(t, png.Encode(photo, image.NewGray(image.Rect(0, 0, 8, 8))))
	require.NoError(t, form.Close())
	return out.Bytes(), form.FormDataContentType()
}

// requireEncrypted checks every payload of a history besides search attributes and headers, which
// are never encoded, and every failure's message.
func requireEncrypted(t *testing.T, events *history.History, workflowID string) {
	t.Helper()
	payloads := 0
	visit(events.ProtoReflect(), func(m protoreflect.Message) (descend bool) {
		switch m.Descriptor().FullName() {
		case "temporal.api.common.v1.SearchAttributes", "temporal.api.common.v1.Header":
			return false
		case "temporal.api.failure.v1.Failure":
			failure := m.Interface().(*failure.Failure)
			if failure.Source == "GoSDK" { // not the server's own
				require.Equal(t, "Encoded failure", failure.Message)
				require.Empty(t, failure.StackTrace)
			}
		case "temporal.api.common.v1.Payload":
			payload := m.Interface().(*common.Payload)
			require.True(t, historycodec.IsEncrypted(payload), "%v", payload)
			require.Equal(t, workflowID, historycodec.Owner(payload))
			payloads++
		}
		return true
	})
	require.Positive(t, payloads)
}

// visit calls see for a message and, while it returns true, for those inside.
func visit(m protoreflect.Message, see func(protoreflect.Message) bool) {
	if !see(m) {
		return
	}
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsMap() && field.MapValue().Kind() == protoreflect.MessageKind:
			value.Map().Range(func(_ protoreflect.MapKey, item protoreflect.Value) bool {
				visit(item.Message(), see)
				return true
			})
		case field.IsList() && field.Kind() == protoreflect.MessageKind:
			for i := range value.List().Len() {
				visit(value.List().Get(i).Message(), see)
			}
		case !field.IsMap() && !field.IsList() && field.Kind() == protoreflect.MessageKind:
			visit(value.Message(), see)
		}
		return true
	})
}

// replaceWorker starts another process with the same database and task queue, and a worker instead
// of the one that runs.
func (s *service) replaceWorker(t *testing.T, configure func(*config.Config)) *service {
	t.Helper()
	s.StopWorker()
	next := *s
	next.Service = s.secondProcess(t, apptest.Options{Configure: configure})
	next.StartWorker(t)
	return &next
}

// Orders that are under way go on when encryption is turned on, when its key is replaced and when
// it is turned off.
func TestEncryption_keysChangeWhileOrdersAreUnderWay(t *testing.T) {
	t.Parallel()
	plain := boot(t, "", apptest.Options{})
	first := plain.startedOrder(t, plain.Key)
	plain.receive(t, first)

	on := plain.replaceWorker(t, withHistoryKeys(keyA))
	on.assign(t, first, 0)
	second := on.startedOrder(t, on.Key)
	on.receive(t, second)

	rotated := on.replaceWorker(t, withHistoryKeys(keyB, keyA))
	rotated.deliver(t, first)
	rotated.assign(t, second, 0)
	third := rotated.startedOrder(t, rotated.Key)

	off := rotated.replaceWorker(t, func(c *config.Config) { c.HistoryKeys = []string{keyA, keyB} })
	off.deliver(t, second)
	require.Equal(t, http.StatusOK, off.move(t, third, "cancel", map[string]any{"reason": cancelReason}).Status)
	for _, id := range []string{first, second, third} {
		off.waitForOrderEnd(t, id)
	}
	off.StopWorker()
}

// A worker that cannot read what is stored fails its workflow tasks, not the orders' workflows.
// They go on where they were once a worker has the key.
func TestEncryption_aWorkerWithoutTheKeyFailsNoOrder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys []string
		says string
	}{
		"no key":         {nil, `encrypted with the key "a", which is not in HISTORY_KEYS`},
		"the key is out": {[]string{keyB}, `encrypted with the key "a", which is not in HISTORY_KEYS`},
		"another secret": {[]string{wrongKeyA}, `cannot be decrypted with the key "a"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The second failure of a task is not reported: it is retried when its time is over.
			good := boot(t, "", apptest.Options{Configure: func(c *config.Config) {
				withHistoryKeys(keyA)(c)
				c.Timeouts.WorkflowTask = 2 * time.Second
			}})
			good.StopWorker()
			fresh := good.CreateOrder(t, good.Key)
			bad := good.replaceWorker(t, withHistoryKeys(c.keys...))
			require.NoError(t, good.Temporal.SignalWorkflow(t.Context(), workflowOf(fresh), "", workflows.ReceivedName, models.Message{}))
			failure := bad.waitForFailedTask(t, fresh)
			require.ErrorContains(t, failure, c.says)
			bad.StopWorker()

			good.StartWorker(t)
			good.waitForStatus(t, fresh, "received")
			good.assign(t, fresh, 0)
			good.deliver(t, fresh)
			good.waitForOrderEnd(t, fresh)
			good.StopWorker()
		})
	}
}

// waitForFailedTask returns the error of a workflow task that failed, of a workflow that is
// running.
func (s *service) waitForFailedTask(t *testing.T, orderID string) (failure error) {
	t.Helper()
	keys, err := historycodec.ParseKeys(s.Config.HistoryKeys, "")
	require.NoError(t, err)
	var options client.Options
	historycodec.New(keys, "").Apply(&options)
	poll.Until(t, func() error {
		for _, event := range s.historyOf(t, workflowOf(orderID), "").Events {
			if failed := event.GetWorkflowTaskFailedEventAttributes(); failed != nil {
				failure = options.FailureConverter.FailureToError(failed.Failure)
				return nil
			}
		}
		require.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_RUNNING, s.describe(t, workflowOf(orderID)).WorkflowExecutionInfo.Status)
		return fmt.Errorf("no workflow task of %s has failed", orderID)
	})
	require.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_RUNNING, s.describe(t, workflowOf(orderID)).WorkflowExecutionInfo.Status)
	return failure
}

// Temporal's tools send signals and show histories through the codec endpoint, with the token of a
// panel session. What another operator's people see stays encrypted. The client of the endpoint is
// the SDK's, which the Temporal CLI uses as well.
func TestEncryption_codecEndpoint(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{Configure: withHistoryKeys(keyA)})
	other := s.secondOperator(t)
	id := s.startedOrder(t, s.Key)
	endpoint := func(token string) converter.PayloadCodec {
		return converter.NewRemotePayloadCodec(converter.RemotePayloadCodecOptions{
			Endpoint: s.BaseURL + "/panel/codec",
			ModifyRequest: func(r *http.Request) error {
				r.Header.Set("Authorization", "Bearer "+token)
				r.Header.Set("X-Namespace", client.DefaultNamespace)
				return nil
			},
		})
	}
	tool := testenv.DialTemporal(t, client.Options{DataConverter: converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), endpoint(s.staff))})
	require.NoError(t, tool.SignalWorkflow(t.Context(), workflowOf(id), "", workflows.CancelName, map[string]any{"reason": cancelReason}))
	cancelled := s.waitForStatus(t, id, "cancelled")
	require.Equal(t, cancelReason, cancelled.Data["cancellation"].(map[string]any)["reason"])
	s.waitForOrderEnd(t, id)

	shown := func(token string) *history.History {
		events := s.historyOf(t, workflowOf(id), "")
		require.NoError(t, proxy.VisitPayloads(t.Context(), events, proxy.VisitPayloadsOptions{
			SkipSearchAttributes: true,
			Visitor: func(_ *proxy.VisitPayloadsContext, payloads []*common.Payload) ([]*common.Payload, error) {
				return endpoint(token).Decode(payloads)
			},
		}))
		return events
	}
	require.False(t, holds(s.historyOf(t, workflowOf(id), ""), cancelReason))
	require.False(t, holds(shown(other.staff), cancelReason))
	require.True(t, holds(shown(s.staff), cancelReason))
}

// holds reports whether a text is in any string or payload of a history.
func holds(events *history.History, wanted string) (found bool) {
	rewrite(events.ProtoReflect(), func(_ protoreflect.FieldDescriptor, text string) string {
		found = found || strings.Contains(text, wanted)
		return text
	})
	return found
}

// The reconcile schedule is not encrypted: a worker without the key replaces and runs it.
func TestEncryption_theScheduleNeedsNoKey(t *testing.T) {
	t.Parallel()
	good := boot(t, "", apptest.Options{Configure: withHistoryKeys(keyA)})
	schedule := workflows.ReconcileScheduleID(good.Config.TaskQueue)
	poll.Until(t, func() error {
		_, err := good.Temporal.ScheduleClient().GetHandle(t.Context(), schedule).Describe(t.Context())
		return err
	})
	bad := good.replaceWorker(t, nil)
	bad.reconcileBySchedule(t)
	handle := bad.Temporal.ScheduleClient().GetHandle(t.Context(), schedule)
	poll.Until(t, func() error {
		described, err := handle.Describe(t.Context())
		if err != nil {
			return err
		}
		actions := described.Info.RecentActions
		if len(actions) == 0 {
			return errors.New("no run was started")
		}
		for _, event := range bad.historyOf(t, actions[len(actions)-1].StartWorkflowResult.WorkflowID, "").Events {
			if event.EventType == enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED {
				return nil
			}
		}
		return errors.New("the run has not begun to reconcile")
	})
	bad.StopWorker()
}
