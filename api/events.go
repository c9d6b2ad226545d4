package api

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"despacho/internal/apperror"
	"despacho/internal/events"
	"despacho/internal/orders"
	"despacho/models"
)

const (
	// eventsPath is the route of the event feed, whose requests may wait.
	eventsPath = "/v1/events"
	// maxWaits is how many requests of one operator may wait for events at the same time, with live
	// and with test keys. maxStoreWaits of them may be one store's.
	maxWaits, maxStoreWaits = 256, 32
)

// listEvents lists the events of the caller's orders that follow a cursor, and waits for the next
// one if there is none.
func (s *Server) listEvents(c *gin.Context) error {
	var wrong apperror.Fields
	query := events.Query{
		After:   textParameter(c, "after", &wrong),
		Limit:   min(countParameter(c, "limit", defaultPageSize, &wrong), events.MaxPageSize),
		Wait:    min(waitParameter(c, &wrong), events.MaxWait),
		Events:  eventsParameter(c, &wrong),
		Recheck: func() error { return recheck(c.Request.Context(), c) },
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	if query.Wait > 0 {
		leave, err := s.enterWait(caller(c))
		if err != nil {
			return err
		}
		defer leave()
	}
	page, err := s.events.Read(c.Request.Context(), caller(c).Scope(), query)
	if err != nil {
		return err
	}
	return ok(c, page)
}

// eventsParameter reads the names of the events that the caller asks for. Without it they are those
// of the contract: who has not asked for the others does not know them.
func eventsParameter(c *gin.Context, wrong *apperror.Fields) []models.Event {
	text := textParameter(c, "events", wrong)
	if text == "" {
		return models.Events
	}
	var names []models.Event
	for name := range strings.SplitSeq(text, ",") {
		event := models.Event(strings.TrimSpace(name))
		if !slices.Contains(models.OrderEvents, event) {
			wrong.Add("events", "debe tener, separados por comas, nombres de "+
				strings.ReplaceAll(models.JoinEvents(models.OrderEvents), " ", ", "))
		}
		names = append(names, event)
	}
	return names
}

// enterWait counts one more request that waits.
func (s *Server) enterWait(caller orders.Caller) (leave func(), err error) {
	leave, ok := s.waits.enter(caller)
	if !ok {
		return nil, errOverloaded.Because(fmt.Errorf("%d requests of the operator wait for events, or %d of the store",
			maxWaits, maxStoreWaits))
	}
	return leave, nil
}

// waitParameter reads a number of seconds from 0 up. One that overflows becomes the largest uint32,
// which is over the limit anyway.
func waitParameter(c *gin.Context, wrong *apperror.Fields) time.Duration {
	text := textParameter(c, "wait", wrong)
	if text == "" {
		return 0
	}
	number, err := strconv.ParseUint(text, 10, 32)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		wrong.Add("wait", "debe ser un número entero de segundos, de 0 a 20")
	}
	return time.Duration(number) * time.Second
}
