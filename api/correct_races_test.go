package api_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
	"despacho/workflows"
)

// slowLink is a service with a short map link, whose host does something before it answers: after a
// correction with the link was read, and before the order's row is locked.
type slowLink struct {
	*apptest.Service
	host      string
	meanwhile atomic.Value
}

func eachSlowLink(t *testing.T, run func(t *testing.T, s *slowLink)) {
	t.Helper()
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		s := &slowLink{}
		host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if act, ok := s.meanwhile.Swap(func() {}).(func()); ok {
				act()
			}
			http.Redirect(w, r, "https://www.google.com/maps?q=-12.125,-77.029", http.StatusFound)
		}))
		t.Cleanup(host.Close)
		s.host = host.URL
		s.Service = apptest.Boot(t, databaseURL, apptest.Options{NoWorker: true, ShortLinkHosts: []string{host.URL}})
		run(t, s)
	})
}

// correctAfter corrects an order that another request has changed since the correction was read.
func (s *slowLink) correctAfter(t *testing.T, key, id string, body fields, meanwhile func()) *apptest.Answer {
	t.Helper()
	body["delivery_maps_url"] = s.host + "/" + uuid.NewString()
	s.meanwhile.Store(meanwhile)
	return correct(t, s.Service, key, id, body)
}

// An order that is delivered while its correction is being read is not corrected.
func TestCorrect_losesToAMove(t *testing.T) {
	eachSlowLink(t, func(t *testing.T, s *slowLink) {
		tenant := s.NewTenant(t)
		row := assignedRow(tenant)
		row.Seq = 3
		tenant.InsertRows(t, []models.Order{row})
		id := row.ID.String()
		followed := s.correctAfter(t, tenant.Key, id, fields{}, func() {})
		require.EqualValues(t, -12.125, followed.Data["delivery_lat"], "a short link is followed: %s", followed.Text)

		late := s.correctAfter(t, tenant.Key, id, fields{"notes": "tarde"}, func() {
			_, err := s.App.Orders.Apply(t.Context(), workflows.ApplyMoveInput{
				OrderID: row.ID, EntryID: uuid.New(), Seq: 4, Move: models.MoveDeliver, To: models.StatusDelivered, By: models.ByOperator, At: time.Now(), Message: models.Message{},
			})
			if err != nil {
				t.Error(err)
			}
		})
		requireRefused(t, late, http.StatusConflict, "correction_not_allowed")
		require.Contains(t, late.Error, "su estado es Entregado")
		read := get(t, s.Service, tenant.Key, "/v1/orders/"+id)
		require.Equal(t, "delivered", read.String("status"))
		require.Nil(t, read.Data["notes"])
	})
}

// A correction follows from what another one has left that came while it was being read: the price,
// the risk zone, the doubt about the point and the destination itself.
func TestCorrect_followsFromTheOneBefore(t *testing.T) {
	eachSlowLink(t, func(t *testing.T, s *slowLink) {
		tenant := s.NewTenant(t)
		name := func(order *apptest.Answer) any { return order.Data["location"].(map[string]any)["name"] }
		sendTo := func(id string, place uuid.UUID) func() {
			return func() {
				if answer, err := s.Try(apptest.Request{Method: http.MethodPatch, Path: "/v1/orders/" + id, Key: tenant.KeyA, Body: fields{"location_id": place}}); err != nil || answer.Status != http.StatusOK {
					t.Error(answer, err)
				}
			}
		}
		id := insertedRow(t, tenant)
		larger := s.correctAfter(t, tenant.KeyA, id, fields{"size": "L"}, sendTo(id, apptest.Surco))
		require.Equal(t, http.StatusOK, larger.Status, larger.Text)
		require.Equal(t, "Santiago de Surco", name(larger))
		require.EqualValues(t, 17.5, larger.Data["shipping_cost"], "size L to Surco")
		require.Contains(t, larger.Message, "de 12.00 a 17.50")

		id = insertedRow(t, tenant)
		back := s.correctAfter(t, tenant.KeyA, id, fields{"location_id": apptest.Miraflores}, sendTo(id, apptest.Surco))
		require.Equal(t, "Miraflores", name(back), "the place that the order had when the request came")
		require.EqualValues(t, 9, back.Data["shipping_cost"])
		require.Equal(t, back.Data, get(t, s.Service, tenant.KeyA, "/v1/orders/"+id).Data)

		id = insertedRow(t, tenant)
		risky := s.correctAfter(t, tenant.KeyA, id, fields{"delivery_address": "Paradero 10"}, sendTo(id, apptest.SanJuan))
		require.Contains(t, risky.Warning, "zona de riesgo")

		id = insertedRow(t, tenant)
		far := s.correctAfter(t, tenant.KeyA, id, fields{}, sendTo(id, apptest.Pucusana))
		require.Regexp(t, `a unos \d+ km de Pucusana`, far.Warning)
	})
}

// An order that becomes cash on delivery while its delivery waits for the workflow is not delivered
// without the amount that was collected.
func TestDeliver_needsTheAmountOfACorrection(t *testing.T) {
	apptest.EachOwn(t, apptest.Options{NoWorker: true}, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token, row := tenant.SignIn(t, nil), assignedRow(tenant)
		row.Seq = 3
		tenant.InsertRows(t, []models.Order{row})
		id := row.ID.String()
		answers := make(chan *apptest.Answer, 1)
		go func() {
			defer close(answers)
			answer, err := s.Try(apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + id + "/deliver", Token: token, Body: fields{}})
			if err != nil {
				t.Error(err)
				return
			}
			answers <- answer
		}()
		s.WaitForWorkflow(t, id) // the delivery has asked for its move, which no worker makes yet
		require.Equal(t, "cash_on_delivery", correct(t, s, tenant.Key, id, fields{"amount_to_collect": 30}).String("payment_type"))
		s.StartWorker(t)
		refused := <-answers
		require.NotNil(t, refused)
		require.Equal(t, http.StatusBadRequest, refused.Status, refused.Text)
		requireWrongFields(t, refused, "actual_amount_collected")
		require.Equal(t, "assigned", get(t, s, tenant.Key, "/v1/orders/"+id).String("status"))

		paid := panelMove(t, s, token, id, "deliver", fields{"actual_amount_collected": 30}, http.StatusOK)
		require.EqualValues(t, 30, paid.Data["actual_amount_collected"])
		requireRefused(t, correct(t, s, tenant.Key, id, fields{"amount_to_collect": 40}), http.StatusConflict, "correction_not_allowed")
	})
}

// Two corrections of the same order at once are both made, one after the other.
func TestCorrect_concurrentCorrectionsBothCount(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := insertedRow(t, tenant)
		answers := make(chan error, 2)
		for _, body := range []fields{{"notes": "uno"}, {"delivery_reference": "dos"}} {
			go func() {
				_, err := s.Try(apptest.Request{Method: http.MethodPatch, Path: "/v1/orders/" + id, Key: tenant.Key, Body: body})
				answers <- err
			}()
		}
		require.NoError(t, <-answers)
		require.NoError(t, <-answers)
		read := get(t, s, tenant.Key, "/v1/orders/"+id)
		require.Equal(t, "uno", read.String("notes"))
		require.Equal(t, "dos", read.String("delivery_reference"))
	})
}
