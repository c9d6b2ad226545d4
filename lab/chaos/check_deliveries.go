package chaos

import (
	"context"

	"despacho/models"
)

// checkDeliveries compares the outbox with the timelines, and what was received with the outbox.
func checkDeliveries(_ context.Context, t *checker) error {
	for _, row := range t.orders {
		type outbox struct {
			seq  int
			hook string
		}
		rows := map[outbox]int{}
		for _, delivery := range t.deliveries[row.ID] {
			rows[outbox{delivery.OrderSeq, delivery.hook()}]++
			t.checkDelivery(row, delivery)
		}
		for i, entry := range t.timelines[row.ID] {
			_, emits := moveOf(entry).Event()
			for _, hook := range []string{hookWithoutRetries, hookWithRetries} {
				t.report.checked(invariantOutbox, 1)
				wanted := 0
				if emits || i == 0 {
					wanted = 1
				}
				if got := rows[outbox{entry.Seq, hook}]; got != wanted {
					t.report.violate(invariantOutbox, row.ID, "move %d (%s) has %d deliveries for the webhook %s, not %d", entry.Seq, entry.Type, got, hook, wanted)
				}
			}
		}
	}
	t.receivers.mu.Lock()
	defer t.receivers.mu.Unlock()
	t.report.checked(invariantSignatures, len(t.receivers.received[hookWithoutRetries])+len(t.receivers.received[hookWithRetries]))
	if t.receivers.badSignatures > 0 {
		t.report.violate(invariantSignatures, "receiver", "%d events had a signature that does not hold", t.receivers.badSignatures)
	}
	return nil
}

func (t *checker) checkDelivery(row *orderRow, delivery deliveryRow) {
	received := t.receivers.count(delivery.hook(), delivery.ID)
	t.report.checked(invariantSettled, 1)
	if delivery.Status == models.WebhookDeliveryPending {
		t.report.violate(invariantSettled, row.ID, "%s to %s is still pending after %d attempts", delivery.Event, delivery.hook(), delivery.Attempts)
	}
	t.tally["deliveries to the webhook "+delivery.hook()+": "+string(delivery.Status)]++
	if delivery.Status == models.WebhookDeliveryDelivered {
		t.report.checked(invariantHeard, 1)
		if received == 0 {
			t.report.violate(invariantHeard, row.ID, "%s to %s is marked delivered and never came", delivery.Event, delivery.hook())
		}
	}
	if delivery.hook() == hookWithoutRetries {
		t.report.checked(invariantOnce, 1)
		if received > 1 {
			t.report.violate(invariantOnce, row.ID, "%s came %d times", delivery.Event, received)
		}
	} else if received > 1 {
		t.tally["events heard more than once by the webhook with retries"]++
	}
}
