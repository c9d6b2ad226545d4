package api

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/orders"
	"despacho/models"
)

// panelListOrders is the API's list with the panel's own filters: the orders that have no
// coordinates yet, and those with a failed attempt or an unconfirmed load.
func (s *Server) panelListOrders(c *gin.Context) error {
	query, err := listQuery(c)
	if err != nil {
		return err
	}
	var wrong apperror.Fields
	query.WithoutPoint = flagParameter(c, "without_point", &wrong)
	query.NotLoaded = flagParameter(c, "not_loaded", &wrong)
	query.DueBy = dayParameter(c, "due_by", &wrong)
	query.Substatuses = substatusesParameter(c, &wrong)
	if err := wrong.Err(); err != nil {
		return err
	}
	return s.respondOrders(c, query)
}

// flagParameter reads true or false; an absent one is false.
func flagParameter(c *gin.Context, name string, wrong *apperror.Fields) bool {
	text := textParameter(c, name, wrong)
	if text != "" && text != "true" && text != "false" {
		wrong.Add(name, "debe ser true o false")
	}
	return text == "true"
}

// substatusesParameter reads substatuses with commas between them.
func substatusesParameter(c *gin.Context, wrong *apperror.Fields) (substatuses []models.Substatus) {
	const name = "substatus"
	text := textParameter(c, name, wrong)
	if text == "" {
		return nil
	}
	for word := range strings.SplitSeq(text, ",") {
		substatus := models.Substatus(word)
		if !slices.Contains(models.Substatuses, substatus) {
			wrong.Add(name, "tiene un valor desconocido: "+strconv.Quote(word))
		}
		substatuses = append(substatuses, substatus)
	}
	return substatuses
}

// panelOrder is an order with its timeline.
type panelOrder struct {
	*orders.View
	// Version changes with every move; an assignment may name the one that it is based on.
	Version        int     `json:"version"`
	PointSource    *string `json:"point_source"`
	RiskZone       *string `json:"risk_zone"`
	DocOutcome     *string `json:"doc_outcome"`
	DocNameMatches *bool   `json:"doc_name_matches"`
	// RecipientLink is there while somebody has to decide about the next attempt.
	RecipientLink *string         `json:"recipient_link"`
	Timeline      []timelineEntry `json:"timeline"`
}

type timelineEntry struct {
	Type   string        `json:"type"`
	Status models.Status `json:"status"`
	Label  string        `json:"label"`
	By     string        `json:"by"`
	// User, Key and Rider are for the operator only.
	User   *namedRef `json:"user"`
	Key    *namedRef `json:"key"`
	Rider  *namedRef `json:"rider"`
	Detail *string   `json:"detail"`
	At     time.Time `json:"at"`
	// OccurredAt is when a rider did it, if the service heard of it later. ClockOff and PhotoURL
	// are for the operator only.
	OccurredAt *time.Time `json:"occurred_at,omitempty"`
	ClockOff   *int       `json:"clock_off,omitempty"`
	PhotoURL   *string    `json:"photo_url,omitempty"`
	// Changes are what a correction changed, for the operator only.
	Changes []fieldChange `json:"changes,omitempty"`
}

// fieldChange is a corrected field; a value that was empty, or was erased, is null.
type fieldChange struct {
	Field models.CorrectedField `json:"field"`
	Old   *string               `json:"old"`
	New   *string               `json:"new"`
}

// namedRef is somebody or something that an entry is about.
type namedRef struct {
	ID   uuid.UUID `json:"id"`
	Name *string   `json:"name"`
}

func refTo(id *uuid.UUID, name *string) *namedRef {
	if id == nil {
		return nil
	}
	return &namedRef{*id, name}
}

func (s *Server) panelReadOrder(c *gin.Context) error {
	id, err := pathID(c, orders.ErrOrderNotFound)
	if err != nil {
		return err
	}
	who := caller(c)
	page, err := s.orders.OrderPage(c.Request.Context(), who, id)
	if err != nil {
		return err
	}
	view := panelOrder{
		View: page.Order.View, Version: page.Order.Version, PointSource: page.PointSource, RiskZone: page.RiskZone,
		DocOutcome: page.DocOutcome, DocNameMatches: page.DocNameMatches, Timeline: make([]timelineEntry, len(page.Timeline)),
	}
	if page.RecipientLink != "" {
		view.RecipientLink = &page.RecipientLink
	}
	for i, entry := range page.Timeline {
		view.Timeline[i] = timelineEntry{
			Type: entry.Type, Status: entry.Status, Label: entry.Status.Label(), By: entry.By, Detail: entry.Detail,
			At:   entry.At.UTC(),
			User: refTo(entry.UserID, entry.UserName), Key: refTo(entry.KeyID, entry.KeyName),
			Rider: refTo(entry.RiderID, entry.RiderName), OccurredAt: inUTC(entry.OccurredAt), ClockOff: entry.ClockOff,
		}
		if entry.Photo != nil {
			address := s.orders.PhotoURL(*entry.Photo)
			view.Timeline[i].PhotoURL = &address
		}
		for _, c := range page.Corrections[entry.ID] {
			view.Timeline[i].Changes = append(view.Timeline[i].Changes,
				fieldChange{c.Field, s.shownValue(c.Field, c.OldValue), s.shownValue(c.Field, c.NewValue)})
		}
	}
	return ok(c, view)
}

// shownValue is a corrected value; a photo is shown by its address.
func (s *Server) shownValue(field models.CorrectedField, value *string) *string {
	if field != models.CorrectedProof || value == nil {
		return value
	}
	address := s.orders.PhotoURL(*value)
	return &address
}

func (s *Server) receiveOrder(c *gin.Context, order *models.OrderView) error {
	in, err := readOptionalBody(c)
	if err != nil {
		return err
	}
	branchID := in.UUID("branch_id")
	if err := in.Err(); err != nil {
		return err
	}
	return respondMove(c)(s.orders.Receive(c.Request.Context(), caller(c), order, branchID))
}

func (s *Server) assignOrder(c *gin.Context, order *models.OrderView) error {
	in, err := readBody(c)
	if err != nil {
		return err
	}
	riderID, expected := in.RequiredUUID("rider_id"), in.Int(orders.ExpectedVersion)
	if err := in.Err(); err != nil {
		return err
	}
	return respondMove(c)(s.orders.Assign(c.Request.Context(), caller(c), order, riderID, expected))
}

func (s *Server) panelCancelOrder(c *gin.Context, order *models.OrderView) error {
	return respondMove(c)(s.cancel(c, order, orders.ReadCancellationWithVersion))
}

func (s *Server) setPoint(c *gin.Context) error {
	id, in, err := idAndBody(c, orders.ErrOrderNotFound, readBody)
	if err != nil {
		return err
	}
	lat, lng := orders.ReadRequiredPoint(in, "lat", "lng")
	if err := in.Err(); err != nil {
		return err
	}
	return respondCorrection(c)(s.orders.SetPoint(c.Request.Context(), caller(c), id, lat, lng))
}

func (s *Server) correctDelivery(c *gin.Context) error {
	return withDelivery(c, s.orders.CorrectDelivery)
}

// respondMove responds with the order after a move.
func respondMove(c *gin.Context) func(*orders.View, error) error {
	return func(order *orders.View, err error) error {
		if err != nil {
			return err
		}
		return ok(c, order)
	}
}
