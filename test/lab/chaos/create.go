package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"despacho/test/lab/cluster"
)

// create creates an order as the contract tells clients to: under an Idempotency-Key, retried with
// the same key and body until it is acknowledged.
func (c *client) create(ctx context.Context, tracked *trackedOrder) error {
	var waits backoff
	for tries := 1; ; tries++ {
		answer, err := c.call(ctx, tracked.creation())
		switch {
		case err != nil:
			tracked.note("create: no answer: %v", err)
		case answer.Status == http.StatusCreated:
			tracked.note("create: 201 after %d tries", tries)
			return c.acknowledged(ctx, tracked, answer)
		case answer.Status == http.StatusConflict, answer.Status == http.StatusTooManyRequests,
			answer.Status >= http.StatusInternalServerError:
			tracked.note("create: %d %s", answer.Status, codeOf(answer))
			c.s.report.count("creations to be tried again: " + codeOf(answer))
		default:
			c.s.report.violate(invariantKeys, tracked.key, "a valid creation was answered %d: %.300s", answer.Status, answer.Body)
			return errors.New("creation refused")
		}
		if err := cluster.Sleep(ctx, waits.next(c.rng, answer)); err != nil {
			return err
		}
	}
}

// acknowledged writes an order into the ledger. One request in five is repeated.
func (c *client) acknowledged(ctx context.Context, tracked *trackedOrder, answer *cluster.Answer) error {
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
		c.s.report.count("creations whose first answer was lost")
	}
	tracked.answer, tracked.id, tracked.guide, tracked.acknowledgedAt = answer.Body, created.Data.ID, created.Data.GuideCode,
		time.Now()
	c.s.report.count("orders acknowledged")
	if c.rng.IntN(5) == 0 {
		c.repeat(ctx, tracked)
	}
	return nil
}

// creation is the request that creates the order.
func (o *trackedOrder) creation() cluster.Request {
	return cluster.Request{Method: http.MethodPost, Path: "/v1/orders", Key: o.apiKey, IdempotencyKey: o.key, Body: o.body}
}

// repeat repeats a creation, which must return the first response.
func (c *client) repeat(ctx context.Context, tracked *trackedOrder) {
	again, err := c.call(ctx, tracked.creation())
	if err != nil || again.Status != http.StatusCreated {
		return // an outage; it was acknowledged once
	}
	c.s.report.checked(invariantReplay, 1)
	if !bytes.Equal(again.Body, tracked.answer) || again.Header.Get("Idempotent-Replayed") != "true" {
		c.s.report.violate(invariantReplay, tracked.id, "first %s, then %s", tracked.answer, again.Body)
	}
}
