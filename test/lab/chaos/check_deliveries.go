package chaos

import (
	"context"

	"despacho/models"
)

// checkDeliveries compares the outbox with the timelines, and what was received with the outbox.
func checkDeliveries(_ context.Context, c *checker) error {
	for _, row := range c.orders {
		type outbox struct {
			seq  int
			hook string
		}
		rows := map[outbox]int{}
		for _, delivery := range c.deliveries[row.ID] {
			rows[outbox{delivery.OrderSeq, delivery.hook()}]++
			c.checkDelivery(row, delivery)
		}
		for i, entry := range c.timelines[row.ID] {
			_, emits := moveOf(entry).Event()
			for _, hook := range []string{hookWithoutRetries, hookWithRetries} {
				c.report.checked(invariantOutbox, 1)
				wanted := 0
				if emits || i == 0 {
					wanted = 1
				}
				if got := rows[outbox{entry.Seq, hook}]; got != wanted {
					c.report.violate(invariantOutbox, row.ID, "move %d (%s) has %d deliveries for the webhook %s, not %d",
						entry.Seq, entry.Type, got, hook, wanted)
				}
			}
		}
	}
	c.receivers.mu.Lock()
	defer c.receivers.mu.Unlock()
	c.checkArrivals()
	c.report.checked(invariantSignatures, len(c.receivers.received[hookWithoutRetries])+
		len(c.receivers.received[hookWithRetries]))
	if c.receivers.badSignatures > 0 {
		c.report.violate(invariantSignatures, "receiver", "%d events had a signature that does not hold",
			c.receivers.badSignatures)
	}
	return nil
}

// checkArrivals compares the order in which events came with the order of their moves. With retries
// a later event may overtake one whose next attempt is hours away.
func (c *checker) checkArrivals() {
	deliveries := map[string]deliveryRow{}
	orderOf := map[string]string{}
	for _, row := range c.orders {
		for _, delivery := range c.deliveries[row.ID] {
			deliveries[delivery.ID], orderOf[delivery.ID] = delivery, row.ID
		}
	}
	latest := map[string]int{}
	for _, id := range c.receivers.arrivals[hookWithoutRetries] {
		delivery, known := deliveries[id]
		if !known {
			continue
		}
		order := orderOf[id]
		c.report.checked(invariantInOrder, 1)
		if delivery.OrderSeq < latest[order] {
			c.report.violate(invariantInOrder, order, "%s of move %d came after the event of move %d", delivery.Event,
				delivery.OrderSeq, latest[order])
		}
		latest[order] = max(latest[order], delivery.OrderSeq)
	}
}

func (c *checker) checkDelivery(row *orderRow, delivery deliveryRow) {
	received := c.receivers.count(delivery.hook(), delivery.ID)
	c.report.checked(invariantSettled, 1)
	if delivery.Status == models.WebhookDeliveryPending {
		c.report.violate(invariantSettled, row.ID, "%s to %s is still pending after %d attempts", delivery.Event, delivery.hook(),
			delivery.Attempts)
	}
	c.tally["deliveries to the webhook "+delivery.hook()+": "+string(delivery.Status)]++
	if delivery.Status == models.WebhookDeliveryDelivered {
		c.report.checked(invariantHeard, 1)
		if received == 0 {
			c.report.violate(invariantHeard, row.ID, "%s to %s is marked delivered and never came", delivery.Event,
				delivery.hook())
		}
	}
	if delivery.hook() == hookWithoutRetries {
		c.report.checked(invariantOnce, 1)
		if received > 1 {
			c.report.violate(invariantOnce, row.ID, "%s came %d times", delivery.Event, received)
		}
	} else if received > 1 {
		c.tally["events heard more than once by the webhook with retries"]++
	}
}
