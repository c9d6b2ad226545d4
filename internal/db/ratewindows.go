package db

import (
	"context"
	"time"

	"despacho/internal/clock"
)

// CountRequest counts one request of a subject and returns the subject's count in this clock
// minute.
func (d *DB) CountRequest(ctx context.Context, subject string, now time.Time) (int, error) {
	return d.count(ctx, subject, Minute(now))
}

// CheckWritable returns why nothing can be written at the moment, which it tries with a small row.
func (d *DB) CheckWritable(ctx context.Context, now time.Time) error {
	_, err := d.CountRequest(ctx, "readyz", now)
	return err
}

// CountToday counts something of a subject in this day, in UTC, and returns the subject's count.
func (d *DB) CountToday(ctx context.Context, subject string, now time.Time) (int, error) {
	return d.count(ctx, subject, lastMinuteOfDay(now))
}

// CountedToday is how often CountToday was called for the subject in this day.
func (d *DB) CountedToday(ctx context.Context, subject string, now time.Time) (int, error) {
	var used int
	err := d.with(ctx).Raw("SELECT used FROM rate_windows WHERE subject = ? AND minute = ?", subject,
		lastMinuteOfDay(now)).Scan(&used).Error
	return used, err
}

// lastMinuteOfDay is the window of a whole day: it is kept until the day is over.
func lastMinuteOfDay(now time.Time) int64 { return Minute(now.Add(clock.UntilNextDay(now))) - 1 }

func (d *DB) count(ctx context.Context, subject string, minute int64) (int, error) {
	var used int
	err := d.with(ctx).Raw(`INSERT INTO rate_windows (subject, minute, used) VALUES (?, ?, 1)
		ON CONFLICT (subject, minute) DO UPDATE SET used = rate_windows.used + 1 RETURNING used`,
		subject, minute).Scan(&used).Error
	return used, err
}

// Minute is the clock minute of a time, since the Unix epoch.
func Minute(t time.Time) int64 { return t.Unix() / 60 }
