package chaos

import (
	"context"
	"slices"

	"despacho/models"
)

// checkDeliveries compares the outbox with the timelines, and what was received with the outbox.
func checkDeliveries(_ context.Context, c *checker) error {
	for _, row := range c.orders {
		type outbox struct {
			seq  int
			hook string
		}
		rows := map[outbox][]models.Event{}
		for _, delivery := range c.deliveries[row.ID] {
			key := outbox{delivery.OrderSeq, delivery.hook()}
			rows[key] = append(rows[key], models.Event(delivery.Event))
			c.checkDelivery(row, delivery)
		}
		for _, entry := range c.timelines[row.ID] {
			for hook, asked := range askedFor {
				c.report.checked(invariantOutbox, 1)
				wanted := slices.DeleteFunc(eventsOf(entry), func(event models.Event) bool { return !slices.Contains(asked, event) })
				got := rows[outbox{entry.Seq, hook}]
				slices.Sort(wanted)
				slices.Sort(got)
				if !slices.Equal(got, wanted) {
					c.report.violate(invariantOutbox, row.ID, "move %d (%s) has the deliveries %v for the webhook %s, not %v",
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

// eventsOf are the events of a move, or of the creation.
func eventsOf(entry entryRow) []models.Event {
	if entry.Type == models.TimelineCreated {
		return []models.Event{models.EventCreated}
	}
	return moveOf(entry).Events()
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
