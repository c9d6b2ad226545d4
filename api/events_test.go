package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// listedEvent is an event of the feed with the bytes of its body.
type listedEvent struct {
	ID   string          `json:"id"`
	Body json.RawMessage `json:"body"`
}

// events are those of a page of the feed.
func eventsIn(t *testing.T, answer *apptest.Answer) []listedEvent {
	t.Helper()
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	var page struct {
		Data struct {
			Events []listedEvent `json:"events"`
		} `json:"data"`
	}
	require.NoError(t, json.Unmarshal([]byte(answer.Text), &page))
	return page.Data.Events
}

// waitForEvents reads the feed of a key until it has so many events.
func waitForEvents(t *testing.T, s *apptest.Service, key string, count int) (events []listedEvent) {
	t.Helper()
	poll.Until(t, func() error {
		events = eventsIn(t, get(t, s, key, "/v1/events?limit=200"))
		if len(events) < count {
			return errors.New("events are missing")
		}
		return nil
	})
	require.Len(t, events, count)
	return events
}

// deliveryWithPlace delivers an order with a photo and where it was taken.
func deliveryWithPlace(t *testing.T, orderID, token string) apptest.Request {
	t.Helper()
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	for name, value := range map[string]string{"lat": "-12.1211", "lng": "-77.0299"} {
		require.NoError(t, writer.WriteField(name, value))
	}
	part, err := writer.CreateFormFile("photo", "entrega.png")
	require.NoError(t, err)
	require.NoError(t, png.Encode(part, image.NewGray(image.Rect(0, 0, 8, 8))))
	require.NoError(t, writer.Close())
	return apptest.Request{
		Method: http.MethodPost, Path: "/panel/api/orders/" + orderID + "/deliver", Token: token,
		Raw: form.Bytes(), Header: map[string]string{"Content-Type": writer.FormDataContentType()},
	}
}

var (
	sentTimestamp  = regexp.MustCompile(`"timestamp":"[0-9]+"`)
	photoSignature = regexp.MustCompile(`\?signature=[^"]+`)
)

// withoutTimes is a body without its time of sending and the signature of its photo's address.
func withoutTimes(body []byte) string {
	return photoSignature.ReplaceAllString(sentTimestamp.ReplaceAllString(string(body), `"timestamp":""`), "")
}

// after=latest begins with what happens from then on: an event of a moment ago is not among it,
// although it may not be published yet.
func TestEvents_latestIsNow(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		for range 5 {
			s.CreateOrder(t, tenant.KeyA)
			now := get(t, s, tenant.KeyA, "/v1/events?after=latest")
			require.Empty(t, eventsIn(t, now))
			next := s.CreateOrder(t, tenant.KeyA)
			following := eventsIn(t, get(t, s, tenant.KeyA, "/v1/events?wait=20&after="+now.String("cursor")))
			require.Contains(t, string(following[0].Body), next)
		}
	})
}

// Every event of an order is listed with the body that webhooks get, byte for byte: the operator's
// with where the photo was taken, the store's without.
func TestEvents_haveTheBodiesOfWebhooks(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		ofOperator, ofStore := apptest.NewReceiver(t, nil), apptest.NewReceiver(t, nil)
		s.Register(t, tenant.Key, ofOperator)
		s.Register(t, tenant.KeyA, ofStore)
		id := s.CreateOrder(t, tenant.KeyA, map[string]any{"product": `Caja <"frágil"> & más`})
		s.WaitForWorkflow(t, id)
		panelMove(t, s, token, id, "receive", nil, http.StatusOK)
		panelMove(t, s, token, id, "assign", map[string]any{"rider_id": tenant.Riders[0].ID}, http.StatusOK)
		delivered := s.Do(t, deliveryWithPlace(t, id, token))
		require.Equal(t, http.StatusOK, delivered.Status, delivered.Text)

		for key, receiver := range map[string]*apptest.Receiver{tenant.Key: ofOperator, tenant.KeyA: ofStore} {
			sent, listed := receiver.WaitFor(t, 3), waitForEvents(t, s, key, 3)
			for i := range sent {
				require.Equal(t, withoutTimes(sent[i].Body), withoutTimes(listed[i].Body))
			}
			require.Contains(t, string(listed[2].Body), "?signature=", "the photo can be fetched")
			require.Equal(t, receiver == ofOperator, strings.Contains(string(listed[2].Body), "-12.1211"))
		}
		require.Empty(t, eventsIn(t, get(t, s, tenant.KeyB, "/v1/events")), "another store sees nothing of it")
	})
}

// Without a webhook the events are listed all the same, and a cursor goes through all of them.
func TestEvents_withoutWebhooks(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		require.Nil(t, get(t, s, tenant.Key, "/v1/events?after=latest").Data["cursor"], "nothing has happened yet")
		var ids []string
		for range 3 {
			ids = append(ids, s.CreateOrder(t, tenant.KeyA))
		}
		s.WaitForWorkflow(t, ids[0])
		require.Equal(t, http.StatusOK, cancelOrder(t, s, tenant.KeyA, ids[0], nil).Status)
		all := waitForEvents(t, s, tenant.Key, 4)
		require.Contains(t, string(all[3].Body), `"event":"order.cancelled"`)

		var walked []listedEvent
		for path := "/v1/events?limit=2"; ; {
			page := get(t, s, tenant.Key, path)
			walked = append(walked, eventsIn(t, page)...)
			require.NotEmpty(t, page.String("cursor"))
			path = "/v1/events?limit=2&after=" + page.String("cursor")
			if page.Data["more"] == false {
				require.Empty(t, page.Data["events"])
				require.Equal(t, all[3].ID, page.String("cursor"), "an empty page keeps the cursor")
				break
			}
		}
		require.Equal(t, all, walked)
		require.Equal(t, all[3].ID, get(t, s, tenant.Key, "/v1/events?after=latest").String("cursor"))
		require.Len(t, eventsIn(t, get(t, s, tenant.Key, "/v1/events?limit=100000")), 4)

		other := s.NewTenant(t)
		for name, key := range map[string]string{"another operator": other.Key, "another store": tenant.KeyB} {
			refused := get(t, s, key, "/v1/events?after="+all[0].ID)
			requireRefused(t, refused, http.StatusBadRequest, "event_cursor_unknown", "after")
			require.Equal(t, refused.Error, get(t, s, key, "/v1/events?after="+uuid.NewString()).Error, "%s is not told that it exists", name)
		}
		requireRefused(t, get(t, s, tenant.Key, "/v1/events?after=x"), http.StatusBadRequest, "event_cursor_unknown", "after")
		requireWrongFields(t, get(t, s, tenant.Key, "/v1/events?limit=0&wait=-1"), "limit", "wait")
		requireWrongFields(t, get(t, s, tenant.Key, "/v1/events?wait=pronto"), "wait")
	})
}

// A request that waits is answered by the next event of its own operator.
func TestEvents_wait(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant, other := s.NewTenant(t), s.NewTenant(t)
		s.CreateOrder(t, tenant.Key)
		cursor := waitForEvents(t, s, tenant.Key, 1)[0].ID
		s.CreateOrder(t, other.Key)
		answered := make(chan *apptest.Answer, 1)
		waiting := uuid.NewString()
		go func() {
			// A wait may end before the event comes if the machine is busy: it is repeated, as clients do.
			for {
				answer, err := s.Try(apptest.Request{
					Method: http.MethodGet, Path: "/v1/events?wait=20&after=" + cursor, Key: tenant.Key, Header: map[string]string{"X-Request-Id": waiting},
				})
				if err != nil || answer.Status != http.StatusOK || answer.String("cursor") != cursor {
					answered <- answer
					return
				}
			}
		}()
		untilWaiting(t, s, waiting)
		id := s.CreateOrder(t, tenant.Key)
		answer := <-answered
		require.NotNil(t, answer)
		events := eventsIn(t, answer)
		require.Len(t, events, 1)
		require.Contains(t, string(events[0].Body), id)
	})
}

// A key that is revoked, or whose operator is suspended, while its request waits gets no event that
// happens afterwards.
func TestEvents_keyThatIsRefusedWhileItWaits(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		for code, c := range map[string]struct {
			refuse func(tenant *apptest.Tenant)
			status int
		}{
			"invalid_api_key":    {func(tenant *apptest.Tenant) { tenant.RevokeKey(t, tenant.KeyA) }, http.StatusUnauthorized},
			"operator_suspended": {func(tenant *apptest.Tenant) { tenant.Suspend(t) }, http.StatusForbidden},
		} {
			tenant := s.NewTenant(t)
			id := s.CreateOrder(t, tenant.KeyA)
			s.WaitForWorkflow(t, id)
			cursor := waitForEvents(t, s, tenant.KeyA, 1)[0].ID
			answered := make(chan *apptest.Answer, 1)
			waiting := uuid.NewString()
			go func() {
				for {
					answer, err := s.Try(apptest.Request{
						Method: http.MethodGet, Path: "/v1/events?wait=20&after=" + cursor, Key: tenant.KeyA, Header: map[string]string{"X-Request-Id": waiting},
					})
					if err != nil || answer.Status != http.StatusOK || answer.String("cursor") != cursor {
						answered <- answer
						return
					}
				}
			}()
			untilWaiting(t, s, waiting)
			c.refuse(tenant)
			require.NoError(t, s.Temporal.SignalWorkflow(t.Context(), "order-"+id, "", string(models.MoveCancel), struct{}{}))
			answer := <-answered
			require.NotNil(t, answer)
			requireRefused(t, answer, c.status, code)
		}
	})
}

// untilWaiting returns when a request with a cursor has found no event: key, cursor and page take
// three statements.
func untilWaiting(t *testing.T, s *apptest.Service, requestID string) {
	t.Helper()
	poll.Until(t, func() error {
		if s.Statements(requestID) < 3 {
			return errors.New("it has not looked for events yet")
		}
		return nil
	})
}

// Requests that wait hold no connection to the database, and end when the process stops.
func TestEvents_waitersKeepNothingAndEndWithTheProcess(t *testing.T) {
	t.Parallel()
	testenv.SkipIfShort(t)
	const waiters = 4
	var ended sync.WaitGroup
	answers := make(chan *apptest.Answer, waiters)
	t.Run("until the process stops", func(t *testing.T) {
		s := apptest.Boot(t, testenv.Postgres(t), apptest.Options{Configure: func(c *config.Config) { c.DatabaseMaxConns, c.Timeouts.Acquire = 2, time.Second }})
		tenant := s.NewTenant(t)
		s.CreateOrder(t, tenant.Key)
		cursor := waitForEvents(t, s, tenant.Key, 1)[0].ID
		stopping := make(chan struct{})
		for range waiters {
			id := uuid.NewString()
			ended.Go(func() {
				for {
					answer, err := s.Try(apptest.Request{
						Method: http.MethodGet, Path: "/v1/events?wait=20&after=" + cursor, Key: tenant.Key, Header: map[string]string{"X-Request-Id": id},
					})
					select {
					case <-stopping:
						if err == nil {
							answers <- answer
						}
						return
					default: // the machine is busy: the wait was over before the process stopped
					}
				}
			})
			untilWaiting(t, s, id)
		}
		require.Equal(t, http.StatusOK, get(t, s, tenant.Key, "/v1/orders").Status, "a connection is free")
		close(stopping)
	})
	ended.Wait()
	require.Len(t, answers, waiters, "all of them were answered")
	for range waiters {
		answer := <-answers
		require.Equal(t, http.StatusOK, answer.Status)
		require.Empty(t, answer.Data["events"])
	}
}

// More seconds than a feed request may wait are as many as it may.
func TestEvents_waitsNoLongerThanItMay(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		s.CreateOrder(t, tenant.Key)
		for _, wait := range []string{"65536", "4294967296"} {
			answer := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/events?wait=" + wait, Key: tenant.Key})
			require.Equal(t, http.StatusOK, answer.Status, answer.Text)
		}
	})
}
