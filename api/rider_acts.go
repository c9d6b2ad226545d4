package api

import (
	"context"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/orders"
	"despacho/internal/photos"
)

// actField is the part of a form that has an act as JSON, beside its photo.
const actField = "act"

// madeAct is what became of an act, and the day after it.
type madeAct struct {
	ID      uuid.UUID          `json:"id"`
	Results []orders.ActResult `json:"results"`
	Day     *riderDay          `json:"day"`
}

// makeAct makes what a rider did in the street: JSON, or a form with the act and its photo.
func (s *Server) makeAct(c *gin.Context) error {
	in, photo, err := readAct(c)
	if err != nil {
		return err
	}
	rider := caller(c)
	act, err := orders.ReadAct(in, rider.Operator.Rules, photo != nil, s.clock.Now())
	if err != nil {
		return err
	}
	// What the phone has sent is done, whether it still hears the answer or not.
	ctx, end := context.WithTimeout(context.WithoutCancel(c.Request.Context()), s.config.Timeouts.Bulk)
	defer end()
	results, err := s.orders.MakeAct(ctx, rider, act, photo)
	if err != nil {
		return err
	}
	day, err := s.riderDay(ctx, rider)
	if err != nil {
		return err
	}
	return ok(c, madeAct{ID: act.ID, Results: results, Day: day})
}

func readAct(c *gin.Context) (*jsonbody.Object, []byte, error) {
	if !photos.IsForm(c.Request) {
		in, err := readBody(c)
		return in, nil, err
	}
	values, photo, err := photos.ReadParts(c.Request, photos.PhotoField)
	if err != nil {
		return nil, nil, err
	}
	in, err := jsonbody.Parse([]byte(values.Get(actField)))
	return in, photo, err
}
