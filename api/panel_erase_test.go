package api_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/proto"

	"despacho/internal/config"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/dbtest"
	"despacho/test/poll"
)

// recipient is everything that is known of a recipient, and the store's number of the order.
var recipient = map[string]any{
	"recipient_name": "Ofelia Sandoval", "recipient_phone": "+51911222333", "delivery_address": "Jr. Los Cedros 871", "delivery_reference": "Portón granate",
	"recipient_doc_type": "ce", "recipient_doc_number": "004417733", "notes": "Preguntar por Melchora", "delivery_lat": -12.123456, "delivery_lng": -77.054321,
	"delivery_maps_url": "https://www.google.com/maps?q=-12.123456,-77.054321", "external_id": "PED-0117",
}

// traces are the words by which a recipient's data is recognised.
var traces = []string{
	"Ofelia", "ofelia", "911222333", "911 222 333", "Los Cedros 871", "los cedros 871", "Portón granate", "004417733", "Melchora", "12.123456", "77.054321", "Graciela",
}

// requireNoTraces searches for the recipient of erased orders wherever the service keeps anything:
// in the database, which has the document encrypted, in the histories, and in the files.
func requireNoTraces(t *testing.T, s *apptest.Service, ids []string) {
	t.Helper()
	requireNotStored(t, s, traces...)
	var documents int
	require.NoError(t, s.App.DB.SQL().QueryRowContext(t.Context(),
		"SELECT count(*) FROM orders WHERE erased_at IS NOT NULL AND recipient_doc_encrypted IS NOT NULL").Scan(&documents))
	require.Zero(t, documents)
	for _, id := range ids {
		poll.Until(t, func() error { return historyGone(t, s, id) })
	}
	requireNotInHistories(t, s, traces...)
	requireNotInDatabaseFile(t, s, traces...)
	left, err := os.ReadDir(s.Config.FilesDir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// requireNotStored searches every table of the database for words.
func requireNotStored(t *testing.T, s *apptest.Service, words ...string) {
	t.Helper()
	tables, err := dbtest.TableNames(t.Context(), s.App.DB)
	require.NoError(t, err)
	require.Contains(t, tables, "orders")
	for _, table := range tables {
		rows, err := s.App.DB.SQL().QueryContext(t.Context(), "SELECT * FROM "+table)
		require.NoError(t, err)
		columns, err := rows.Columns()
		require.NoError(t, err)
		for rows.Next() {
			values, targets := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				targets[i] = &values[i]
			}
			require.NoError(t, rows.Scan(targets...))
			for i, value := range values {
				for _, word := range words {
					require.False(t, strings.Contains(fmt.Sprintf("%s", value), word), "%s.%s holds %s", table, columns[i], word)
				}
			}
		}
		require.NoError(t, rows.Err())
		require.NoError(t, rows.Close())
	}
}

// requireNotInDatabaseFile searches SQLite's file, whose free space would keep what a row had
// before.
func requireNotInDatabaseFile(t *testing.T, s *apptest.Service, words ...string) {
	t.Helper()
	path, isFile := strings.CutPrefix(s.Config.DatabaseURL, "sqlite:")
	if !isFile {
		return
	}
	poll.Until(t, func() error {
		var busy, pages, moved int
		err := s.App.DB.SQL().QueryRowContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
		if err == nil && busy != 0 {
			err = errors.New("somebody reads an earlier version of the database")
		}
		return err
	})
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, word := range words {
		require.False(t, bytes.Contains(content, []byte(word)), "%s is in the file", word)
	}
}

// requireNotInHistories searches every workflow that the service's workers have run for words.
func requireNotInHistories(t *testing.T, s *apptest.Service, words ...string) {
	t.Helper()
	requireNot := func(message proto.Message) {
		content, err := proto.Marshal(message)
		require.NoError(t, err)
		for _, word := range words {
			require.False(t, bytes.Contains(content, []byte(word)), "a history holds %s", word)
		}
	}
	var next []byte
	for more := true; more; more = len(next) > 0 {
		page, err := s.Temporal.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
			Query: "TaskQueue = '" + s.Config.TaskQueue + "'", NextPageToken: next,
		})
		require.NoError(t, err)
		next = page.GetNextPageToken()
		requireNot(page)
		for _, found := range page.GetExecutions() {
			run := found.GetExecution()
			events := s.Temporal.GetWorkflowHistory(t.Context(), run.GetWorkflowId(), run.GetRunId(), false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
			for events.HasNext() {
				event, err := events.Next()
				var gone *serviceerror.NotFound
				if errors.As(err, &gone) {
					break // the list is behind
				}
				require.NoError(t, err)
				requireNot(event)
			}
		}
	}
}

// endedOrders makes one delivered order with a photo and one that was cancelled for a reason, with
// every trace of their recipient that the service keeps.
func endedOrders(t *testing.T, s *apptest.Service, tenant *apptest.Tenant) (ids []string) {
	t.Helper()
	operator := desk{t, s, tenant.SignIn(t, nil)}
	receiver := apptest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("gracias, Ofelia")) })
	s.Register(t, tenant.Key, receiver)
	for range 2 {
		created := s.Do(t, apptest.Request{Method: "POST", Path: "/v1/orders", Key: tenant.Key, Body: apptest.Order(recipient), Header: map[string]string{"Idempotency-Key": uuid.NewString()}})
		require.Equal(t, http.StatusCreated, created.Status, created.Text)
		ids = append(ids, created.String("id"))
		// A start that comes after the history was deleted would make another one.
		s.WaitForWorkflow(t, created.String("id"))
	}
	panelMove(t, s, operator.token, ids[0], "receive", fields{}, 200)
	panelMove(t, s, operator.token, ids[0], "assign", fields{"rider_id": tenant.Riders[0].ID}, 200)
	delivered := s.Do(t, deliveryWithPhoto(t, ids[0], operator.token))
	require.Equal(t, http.StatusOK, delivered.Status, delivered.Text)
	panelMove(t, s, operator.token, ids[1], "cancel", fields{"reason": "Lo pidió Graciela", "note": "Graciela llamó"}, 200)
	for _, id := range ids {
		poll.Until(t, func() error { return workflowEnded(t, s, id) })
	}
	return ids
}

// workflowEnded is an error until the order's workflow has ended.
func workflowEnded(t *testing.T, s *apptest.Service, id string) error {
	described, err := s.Temporal.DescribeWorkflowExecution(t.Context(), "order-"+id, "")
	if err == nil && described.GetWorkflowExecutionInfo().GetCloseTime() == nil {
		err = errors.New("still running")
	}
	return err
}

// historyGone is an error while Temporal has a run of the order's workflow.
func historyGone(t *testing.T, s *apptest.Service, id string) error {
	_, err := s.Temporal.DescribeWorkflowExecution(t.Context(), "order-"+id, "")
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) {
		return nil
	}
	return errors.Join(err, errors.New("the history is still there"))
}

// An erased order leaves no trace of its recipient in the database, in Temporal or among the
// photos.
func TestPanelErase_leavesNoTrace(t *testing.T) {
	apptest.EachOwn(t, apptest.Options{}, func(t *testing.T, s *apptest.Service) {
		d, tenant, _ := adminDesk(t, s)
		open := s.CreateOrder(t, tenant.Key)
		ids := endedOrders(t, s, tenant)
		photos, err := filepath.Glob(filepath.Join(s.Config.FilesDir, "*"))
		require.NoError(t, err)
		require.Len(t, photos, 2, "a photo and its thumbnail")
		clerk := desk{t, s, tenant.SignIn(t, nil)}
		require.Equal(t, http.StatusForbidden, clerk.post("/orders/"+ids[0]+"/erase", nil).Status)
		require.Equal(t, "order_not_ended", d.post("/orders/"+open+"/erase", nil).Code)
		other, _, _ := adminDesk(t, s)
		require.Equal(t, http.StatusNotFound, other.post("/orders/"+ids[0]+"/erase", nil).Status)

		numbered := d.send(http.MethodGet, "/orders?external_id=PED-0117", nil)
		require.Equal(t, 2.0, numbered.Data["total"], numbered.Text)

		erased := d.post("/orders/"+ids[0]+"/erase", nil)
		require.Equal(t, http.StatusOK, erased.Status, erased.Text)
		require.Equal(t, models.ErasedText, erased.String("recipient_name"))
		require.Nil(t, erased.Data["delivery_proof"])
		require.Equal(t, float64(0), other.post("/erasures", fields{"phone": "911222333"}).Data["erased"], "another operator's")
		outcome := d.post("/erasures", fields{"phone": "911 222 333"})
		require.Equal(t, map[string]any{"erased": float64(1), "open": float64(0)}, outcome.Data, outcome.Text)
		require.Equal(t, []string{"phone"}, d.post("/erasures", fields{"phone": "x"}).Fields)

		requireNoTraces(t, s, ids)
		require.Equal(t, 2.0, d.send(http.MethodGet, "/orders?external_id=PED-0117", nil).Data["total"], "the store's number is not the recipient's")
		var found int
		require.NoError(t, s.App.DB.SQL().QueryRowContext(t.Context(), "SELECT count(*) FROM orders WHERE erased_at IS NOT NULL AND search_text LIKE '%ped 0117%'").Scan(&found))
		require.Equal(t, 2, found, "and the panel's search finds it")
		require.Equal(t, http.StatusOK, d.post("/orders/"+ids[0]+"/erase", nil).Status, "again")
		require.Contains(t, strings.Join(actions(d.auditLog("")), " "), "order.erased")
		require.Equal(t, "Rosa Díaz", d.send(http.MethodGet, "/orders/"+open, nil).String("recipient_name"))
	})
}

// The reconcile workflow erases events, and recipients, whose retention is over.
func TestRetention(t *testing.T) {
	apptest.EachOwn(t, apptest.Options{Configure: func(c *config.Config) {
		c.PayloadRetention, c.PersonalDataRetention = time.Nanosecond, time.Nanosecond
	}}, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		ids := endedOrders(t, s, tenant)
		poll.Until(t, func() error {
			erased, err := s.App.Orders.ApplyRetention(t.Context(), func() bool { return false })
			if err == nil && erased > 0 {
				err = errors.New("there was something to erase")
			}
			return err
		})
		requireNoTraces(t, s, ids)
	})
}
