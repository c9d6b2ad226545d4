package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"despacho/models"
	"despacho/test/lab/cluster"
)

const (
	// answerTimeout bounds how long a request may be answered with an error that passes.
	answerTimeout = 2 * time.Minute
	// agreeTimeout bounds how long a restored copy may take until Temporal and the rows agree: the
	// reconcile workflow runs every minute.
	agreeTimeout = 5 * time.Minute
	// resumeTimeout bounds how long events that waited for the end of a pause may take.
	resumeTimeout = 5 * time.Minute
	checkEvery    = time.Second
)

// restoredOrder is an order as the panel API of the restored copy returns it.
type restoredOrder struct {
	ID            string             `json:"id"`
	Status        models.Status      `json:"status"`
	PaymentType   models.PaymentType `json:"payment_type"`
	DeliveryProof *struct {
		PhotoURL string `json:"photo_url"`
	} `json:"delivery_proof"`
	Timeline []restoredEntry `json:"timeline"`
}

type restoredEntry struct {
	Type   string        `json:"type"`
	Status models.Status `json:"status"`
	By     models.Actor  `json:"by"`
	At     time.Time     `json:"at"`
}

// moves are the timeline as the checks of the database read it.
func (o *restoredOrder) moves() (entries []entryRow) {
	for _, entry := range o.Timeline {
		entries = append(entries, entryRow{OrderID: o.ID, Seq: len(entries) + 1, Type: entry.Type, Status: entry.Status, Actor: entry.By, At: entry.At})
	}
	return entries
}

func (o *restoredOrder) open() bool { return slices.Contains(models.OpenStatuses, o.Status) }

// check starts the restored copy with webhooks paused, checks it, and starts it again without the
// pause.
func (d *drill) check(ctx context.Context, restored *installation) error {
	d.stack = restored.stack
	began, called := time.Now(), d.receivers.total()
	if err := restored.serve(ctx, map[string]string{"WEBHOOKS_PAUSED": "true"}); err != nil {
		return err
	}
	c := d.newClient(stream(d.options.Seed, planStream))
	defer c.close()
	orders, err := d.readOrders(ctx, c)
	if err != nil {
		return err
	}
	d.options.logf("the copy has %d orders", len(orders))
	d.checkRestored(orders)
	for i, tracked := range d.acknowledgedBefore(d.copiedUntil()) {
		if i%5 == 0 {
			c.repeat(ctx, tracked)
		}
	}
	if err := d.checkProofs(ctx, c, orders); err != nil {
		return err
	}
	// Half of the moves are made at once, the others when reconcile has started the workflows.
	moved := map[string]models.Move{}
	if err := d.makeNextMoves(ctx, c, orders, moved, 2); err != nil {
		return err
	}
	if err := d.awaitAgreement(ctx, c); err != nil {
		return err
	}
	if err := d.makeNextMoves(ctx, c, orders, moved, 1); err != nil {
		return err
	}
	d.report.checked(invariantPaused, len(moved))
	if now := d.receivers.total(); now != called {
		d.report.violate(invariantPaused, d.name, "%d requests came", now-called)
	}
	waiting, _, err := d.deliveries(ctx, c, "status=pending")
	if err != nil {
		return err
	}
	if err := restored.stop(ctx); err != nil {
		return err
	}
	if err := restored.serve(ctx, nil); err != nil {
		return err
	}
	d.options.logf("%d events waited for the end of the pause", waiting)
	return d.checkResumed(ctx, c, moved, began)
}

// readJSON reads the data of an answer that must be a 200.
func (d *drill) readJSON(ctx context.Context, c *client, path string, data any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, d.options.scaledTimeout(answerTimeout), fmt.Errorf("GET %s is not answered", path))
	defer cancel()
	var waits backoff
	for {
		answer, err := c.call(ctx, cluster.Request{Method: http.MethodGet, Path: path, Token: d.operator.token})
		switch {
		case err == nil && answer.Status == http.StatusOK:
			return json.Unmarshal(answer.Body, &struct{ Data any }{data})
		case err == nil && answer.Status < http.StatusInternalServerError:
			return fmt.Errorf("GET %s answered %d: %.300s", path, answer.Status, answer.Body)
		}
		if err := cluster.Sleep(ctx, waits.next(c.rng, answer)); err != nil {
			return err
		}
	}
}

// readOrders reads every order of the restored copy.
func (d *drill) readOrders(ctx context.Context, c *client) (map[string]*restoredOrder, error) {
	orders := map[string]*restoredOrder{}
	for page := 1; ; page++ {
		var list struct{ Orders []struct{ ID string } }
		if err := d.readJSON(ctx, c, fmt.Sprintf("/panel/api/orders?limit=200&page=%d", page), &list); err != nil {
			return nil, err
		}
		if len(list.Orders) == 0 {
			return orders, nil
		}
		for _, listed := range list.Orders {
			order, err := d.readOrder(ctx, c, listed.ID)
			if err != nil {
				return nil, err
			}
			orders[order.ID] = order
		}
	}
}

func (d *drill) readOrder(ctx context.Context, c *client, id string) (*restoredOrder, error) {
	var order restoredOrder
	return &order, d.readJSON(ctx, c, "/panel/api/orders/"+id, &order)
}

// checkRestored holds the copy against what clients were told.
func (d *drill) checkRestored(orders map[string]*restoredOrder) {
	until := d.copiedUntil()
	for _, tracked := range d.acknowledgedBefore(until) {
		d.report.checked(invariantRestored, 1)
		order := orders[tracked.id]
		if order == nil {
			d.report.violate(invariantRestored, tracked.id, "%s: it was acknowledged %s before the copy and is not in it", d.name, until.Sub(tracked.acknowledgedAt))
			continue
		}
		made := countRequested(order.moves())
		for move, count := range tracked.movesBefore(until) {
			if made[move] < count {
				d.report.violate(invariantRestored, tracked.id, "%s: %s was acknowledged %d times before the copy, which has %d", d.name, move, count, made[move])
			}
		}
	}
	for _, order := range orders {
		d.report.checked(invariantTimelines, 1)
		timeline := order.moves()
		if err := replay(&orderRow{Status: order.Status, Seq: len(timeline)}, timeline); err != nil {
			d.report.violate(invariantTimelines, order.ID, "%s: %v", d.name, err)
		}
	}
	if d.endsAt.IsZero() {
		return
	}
	for _, tracked := range d.ledger.acknowledged() {
		if tracked.requestedAt.After(d.endsAt) {
			d.report.checked(invariantTarget, 1)
			if orders[tracked.id] != nil {
				d.report.violate(invariantTarget, tracked.id, "it was requested %s after the point in time", tracked.requestedAt.Sub(d.endsAt))
			}
		}
	}
}

// checkProofs reads every photo that an order of the copy refers to, at the address that the order
// gives.
func (d *drill) checkProofs(ctx context.Context, c *client, orders map[string]*restoredOrder) error {
	for _, order := range orders {
		if order.DeliveryProof == nil {
			continue
		}
		address, err := url.Parse(order.DeliveryProof.PhotoURL)
		if err != nil {
			return err
		}
		d.report.checked(invariantPhotos, 1)
		answer, err := c.call(ctx, cluster.Request{Method: http.MethodGet, Path: address.RequestURI()})
		if err != nil {
			return err
		}
		if answer.Status != http.StatusOK || len(answer.Body) == 0 {
			d.report.violate(invariantPhotos, order.ID, "%s: its photo %s is answered %d", d.name, address.Path, answer.Status)
		}
	}
	return nil
}

// makeNextMoves makes the next legal move of one in so many of the open orders that were not moved
// yet.
func (d *drill) makeNextMoves(ctx context.Context, c *client, orders map[string]*restoredOrder, moved map[string]models.Move, oneIn int) error {
	n := 0
	for id, order := range orders {
		if _, done := moved[id]; done || !order.open() {
			continue
		}
		if n++; n%oneIn != 0 {
			continue
		}
		var err error
		if moved[id], err = d.makeNextMove(ctx, c, order); err != nil {
			return err
		}
	}
	return nil
}

// makeNextMove moves an order on, requires that the move is made, and returns it. What was not
// confirmed is looked up before it is repeated. A move that was under way when the copy was made
// may be made after the restore: then the order is read again.
func (d *drill) makeNextMove(ctx context.Context, c *client, order *restoredOrder) (made models.Move, err error) {
	move, body := models.MoveReceive, "{}"
	switch order.Status {
	case models.StatusReceived:
		move, body = models.MoveAssign, fmt.Sprintf(`{"rider_id":%q}`, d.operator.riders[0])
	case models.StatusAssigned:
		move = models.MoveDeliver
		if order.PaymentType == models.CashOnDelivery {
			body = `{"actual_amount_collected":50.00}`
		}
	}
	request := cluster.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + order.ID + "/" + movePaths[move], Token: d.operator.token, Body: []byte(body)}
	d.report.checked(invariantNextMove, 1)
	began := time.Now()
	var waits backoff
	for {
		answer, _ := c.call(ctx, request)
		now, err := d.readOrder(ctx, c, order.ID)
		if err != nil {
			return "", err
		}
		switch refused := answer != nil && answer.Status >= http.StatusBadRequest && answer.Status < http.StatusInternalServerError; {
		case now.Status == statusAfter[move] && len(now.Timeline) == len(order.Timeline)+1:
			return move, nil
		case refused && len(now.Timeline) > len(order.Timeline):
			d.report.count("moves under way that were made after the restore")
			if !now.open() {
				return "", nil
			}
			return d.makeNextMove(ctx, c, now)
		case refused:
			d.report.violate(invariantNextMove, order.ID, "%s: it is %s, and %s was answered %d: %.200s", d.name, now.Status, move, answer.Status, answer.Body)
			return "", nil
		case answer != nil && answer.Status == http.StatusOK:
			d.report.violate(invariantNextMove, order.ID, "%s: it was %s; %s was answered 200 and it is %s", d.name, order.Status, move, now.Status)
			return "", nil
		case time.Since(began) > d.options.scaledTimeout(answerTimeout):
			d.report.violate(invariantNextMove, order.ID, "%s: it is %s, and %s is not made within %s", d.name, now.Status, move, time.Since(began).Round(time.Second))
			return "", nil
		}
		if err := cluster.Sleep(ctx, waits.next(c.rng, answer)); err != nil {
			return "", err
		}
	}
}

// restoredDelivery is a webhook delivery as the panel API returns it.
type restoredDelivery struct {
	ID, Event string
	Status    models.WebhookDeliveryStatus
	CreatedAt time.Time `json:"created_at"`
}

// deliveries reads the deliveries with a status, or about an order.
func (d *drill) deliveries(ctx context.Context, c *client, query string) (total int, list []restoredDelivery, err error) {
	var page struct {
		Total      int
		Deliveries []restoredDelivery
	}
	err = d.readJSON(ctx, c, "/panel/api/deliveries?limit=200&"+query, &page)
	return page.Total, page.Deliveries, err
}

// checkResumed returns when nothing waits any more, and looks whether the events of the moves that
// were made during the pause have arrived, at both webhooks.
func (d *drill) checkResumed(ctx context.Context, c *client, moved map[string]models.Move, restoredAt time.Time) error {
	began := time.Now()
	for {
		pending, _, err := d.deliveries(ctx, c, "status=pending")
		if err != nil {
			return err
		}
		if pending == 0 {
			d.options.logf("what waited was sent within %s of the end of the pause", time.Since(began).Round(time.Second))
			break
		}
		if time.Since(began) > d.options.scaledTimeout(resumeTimeout) {
			d.report.violate(invariantResumed, d.name, "%d events are still pending after %s", pending, time.Since(began).Round(time.Second))
			break
		}
		if err := cluster.Sleep(ctx, checkEvery); err != nil {
			return err
		}
	}
	for id, move := range moved {
		event, emits := move.Event()
		if !emits {
			continue
		}
		_, list, err := d.deliveries(ctx, c, "order_id="+id)
		if err != nil {
			return err
		}
		for _, delivery := range list {
			if delivery.Event != string(event) || delivery.CreatedAt.Before(restoredAt) {
				continue
			}
			d.report.checked(invariantResumed, 1)
			if d.receivers.count(hookWithRetries, delivery.ID)+d.receivers.count(hookWithoutRetries, delivery.ID) == 0 {
				d.report.violate(invariantResumed, id, "%s: %s is %s and never came", d.name, event, delivery.Status)
			}
		}
	}
	return nil
}
