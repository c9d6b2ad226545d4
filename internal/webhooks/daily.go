package webhooks

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/models"
)

// dailyDays is for how many days the daily health is shown, today included.
const dailyDays = 7

// Day is how a webhook's calls of one day went.
type Day struct {
	Date                       string
	Delivered, Failed, Pending int64
}

// Daily counts a webhook's calls by the day of their events, oldest first.
func (s *Service) Daily(ctx context.Context, hook *models.Webhook, zone *time.Location) ([]Day, error) {
	now := s.Clock.Now()
	days, index := make([]Day, dailyDays), map[string]int{}
	first := now.In(zone).AddDate(0, 0, 1-dailyDays)
	for i := range days {
		days[i].Date = first.AddDate(0, 0, i).Format(time.DateOnly)
		index[days[i].Date] = i
	}
	// An event may have the time of a clock that is ahead.
	counts, err := countByDay(ctx, s.DB, hook.ID, clock.DayStart(first, zone), now.Add(time.Hour), zone)
	if err != nil {
		return nil, err
	}
	for _, counted := range counts {
		i, shown := index[time.Unix(counted.Day*86400, 0).UTC().Format(time.DateOnly)]
		if !shown {
			continue
		}
		switch counted.Status {
		case models.WebhookDeliveryDelivered:
			days[i].Delivered = counted.Count
		case models.WebhookDeliveryFailed:
			days[i].Failed = counted.Count
		case models.WebhookDeliveryPending:
			days[i].Pending = counted.Count
		}
	}
	return days, nil
}

// dayCount is how many webhook calls of one day have a status.
type dayCount struct {
	// Day is the number of days since 1970-01-01 in the time zone.
	Day    int64
	Status models.WebhookDeliveryStatus
	Count  int64
}

// countByDay counts the calls of a webhook by day of the event and by status, tests aside.
func countByDay(
	ctx context.Context, database *db.DB, webhookID uuid.UUID, from, until time.Time, zone *time.Location,
) (counts []dayCount, err error) {
	day, arguments := database.Day("created_at", zone, from, until)
	err = database.Query(ctx).Table("deliveries").Select(day+" AS day, status, COUNT(*) AS count", arguments...).
		Where("webhook_id = ? AND created_at >= ? AND created_at < ? AND event <> ?", webhookID, from, until, models.EventTest).
		Group("day, status").Scan(&counts).Error
	return counts, err
}
