package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"despacho/lab/cluster"
)

// create registers an order as the contract tells a store's system to: under an Idempotency-Key,
// again and again with the same key and body until it is acknowledged.
func (c *client) create(ctx context.Context, sg *trackedOrder) error {
	request := cluster.Request{Method: http.MethodPost, Path: "/v1/orders", Key: sg.apiKey, IdempotencyKey: sg.key, Body: sg.body}
	var waits backoff
	for tries := 1; ; tries++ {
		answer, err := c.call(ctx, request)
		switch {
		case err != nil:
			sg.note("create: no answer: %v", err)
		case answer.Status == http.StatusCreated:
			sg.note("create: 201 after %d tries", tries)
			return c.acknowledged(ctx, sg, request, answer)
		case answer.Status == http.StatusConflict, answer.Status == http.StatusTooManyRequests, answer.Status >= http.StatusInternalServerError:
			sg.note("create: %d %s", answer.Status, codeOf(answer))
			c.s.report.count("creations to be tried again: "+codeOf(answer), 1)
		default:
			c.s.report.violate(invariantKeys, sg.key, "a valid creation was answered %d: %.300s", answer.Status, answer.Body)
			return errors.New("creation refused")
		}
		if err := sleep(ctx, waits.next(c.rng, answer)); err != nil {
			return err
		}
	}
}

// acknowledged writes an order into the ledger. Now and then the same request is sent once more,
// which must change nothing.
func (c *client) acknowledged(ctx context.Context, sg *trackedOrder, request cluster.Request, answer *cluster.Answer) error {
	var created struct {
		Data struct {
			ID        string `json:"id"`
			GuideCode string `json:"guide_code"`
		}
	}
	if err := json.Unmarshal(answer.Body, &created); err != nil {
		return err
	}
	if answer.Header.Get("Idempotent-Replayed") == "true" {
		c.s.report.count("creations whose first answer was lost", 1)
	}
	sg.answer, sg.id, sg.guide = answer.Body, created.Data.ID, created.Data.GuideCode
	c.s.report.count("orders acknowledged", 1)
	if c.rng.IntN(5) > 0 {
		return nil
	}
	again, err := c.call(ctx, request)
	if err != nil || again.Status != http.StatusCreated {
		return nil // an outage; it was acknowledged once
	}
	c.s.report.checked(invariantReplay, 1)
	if !bytes.Equal(again.Body, sg.answer) || again.Header.Get("Idempotent-Replayed") != "true" {
		c.s.report.violate(invariantReplay, sg.id, "first %s, then %s", sg.answer, again.Body)
	}
	return nil
}
