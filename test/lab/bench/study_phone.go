package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/dev"
	"despacho/test/lab/cluster"
)

const (
	// phoneStops is how many packages a rider has, phonePhotos how many of them are delivered with a
	// photo while there is no network.
	phoneStops, phonePhotos = 38, 20

	rowPhoneFirst = "rider's list, opened for the first time on 3G"
	rowPhoneToday = "rider's list of a new day, opened on 3G"
	rowPhoneOpens = "rider's list, opened again on 3G"
	rowPhoneSends = "20 kept deliveries with photos, sent after the return of a 3G network"
)

func phoneRows(scale) []string {
	return []string{rowPhoneFirst, rowPhoneToday, rowPhoneOpens, rowPhoneSends}
}

// studyPhone measures the page of a rider in a Chromium of the size of a phone, over a network that
// is as slow as 3G. The phone's processor is that of this machine.
func studyPhone(ctx context.Context, s *stack) ([]Row, error) {
	var first, today, again, sent []float64
	var photo float64
	var orders []uuid.UUID
	for range s.scale.rounds {
		round, err := s.phoneRound(ctx, &orders)
		if err != nil {
			return nil, err
		}
		first, today = append(first, round.first), append(today, round.today)
		again, sent = append(again, round.again), append(sent, round.sent)
		photo = round.photo
	}
	return []Row{
		absoluteRow(rowPhoneFirst, "ms", goal{}, first),
		absoluteRow(rowPhoneToday, "ms", atMost(1000), today),
		absoluteRow(rowPhoneOpens, "ms", atMost(1000), again),
		absoluteRow(rowPhoneSends, "s", atMost(60), sent).withNote("a delivery is %.0f KB on average, with its photo", photo),
	}, nil
}

// phoneRound is what a phone took: until the list is there, in milliseconds, until everything is
// sent, in seconds, and the size of what was sent for each delivery, in KB.
type phoneRound struct{ first, today, again, sent, photo float64 }

func (s *stack) phoneRound(ctx context.Context, orders *[]uuid.UUID) (round phoneRound, err error) {
	delivered, err := s.countDelivered(ctx, *orders)
	if err != nil {
		return round, err
	}
	if err := s.loadRider(ctx, orders, phoneStops+delivered); err != nil {
		return round, err
	}
	cookie, err := s.linkPhone(ctx)
	if err != nil {
		return round, err
	}
	link, err := cluster.NewSlowLink(s.main.api.Address, cluster.ThirdGeneration)
	if err != nil {
		return round, err
	}
	defer func() { err = errors.Join(err, link.Close(ctx)) }()
	p, err := openPhone(ctx, "http://"+link.Address(), cookie)
	if err != nil {
		return round, err
	}
	defer p.close()
	if round.first, err = p.openList(); err != nil {
		return round, fmt.Errorf("opening the list: %w", err)
	}
	if err = p.forgetDay(); err != nil {
		return round, err
	}
	if round.today, err = p.openList(); err != nil {
		return round, fmt.Errorf("opening the list of a new day: %w", err)
	}
	if round.again, err = p.openList(); err != nil {
		return round, fmt.Errorf("opening the list again: %w", err)
	}
	file := filepath.Join(s.Dir, "entrega.jpg")
	if err := os.WriteFile(file, photoOfADoor(), 0o600); err != nil {
		return round, err
	}
	link.Cut(true)
	for n := range phonePhotos {
		if err := p.deliver(file); err != nil {
			return round, fmt.Errorf("delivery %d: %w", n+1, err)
		}
	}
	link.Cut(false)
	before, began := link.Sent(), time.Now()
	if err := p.awaitSent(); err != nil {
		return round, err
	}
	round.sent = time.Since(began).Seconds()
	round.photo = math.Round(float64(link.Sent()-before) / 1000 / phonePhotos)
	now, err := s.countDelivered(ctx, *orders)
	if err == nil && now != delivered+phonePhotos {
		err = fmt.Errorf("%d of %d deliveries with a photo are there", now-delivered, phonePhotos)
	}
	return round, err
}

// loadRider gives the rider of mainOperator packages until there are so many.
func (s *stack) loadRider(ctx context.Context, orders *[]uuid.UUID, count int) error {
	caller := s.main.operatorClient(mainOperator)
	defer caller.Close()
	for len(*orders) < count {
		order, err := caller.received(ctx)
		if err == nil {
			err = caller.assign(ctx, order)
		}
		if err != nil {
			return err
		}
		*orders = append(*orders, order)
	}
	return nil
}

func (s *stack) linkPhone(ctx context.Context) (string, error) {
	database, err := db.Open(ctx, s.main.databaseURL, db.Options{MaxConns: 1})
	if err != nil {
		return "", err
	}
	defer database.Close()
	if err := dev.Execute(ctx, s.main.databaseURL, "DELETE FROM rider_devices"); err != nil {
		return "", err
	}
	return cluster.LinkPhone(ctx, database, id("operator", mainOperator), id("rider", mainOperator))
}

// countDelivered counts the orders that the service has as delivered, with a photo.
func (s *stack) countDelivered(ctx context.Context, orders []uuid.UUID) (delivered int, err error) {
	caller := s.main.operatorClient(mainOperator)
	defer caller.Close()
	for _, order := range orders {
		answer, err := caller.Expect(ctx, http.StatusOK, cluster.Request{Method: http.MethodGet,
			Path: "/panel/api/orders/" + order.String(), Token: caller.token})
		if err != nil {
			return 0, err
		}
		if containsAll(answer.Body, `"status":"delivered"`, `"photo_url":"`) {
			delivered++
		}
	}
	return delivered, nil
}
