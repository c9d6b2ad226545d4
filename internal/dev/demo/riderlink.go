package demo

import (
	"context"
	"errors"

	"despacho/internal/riders"
	"despacho/models"
)

// SuggestedPIN is one that the rider of the demo may choose.
const SuggestedPIN = "2468"

// LinkRiders gives the first rider of each operator a link for a phone. A link is used once and for
// a day, so each start makes new ones; a phone that was activated before works on.
func LinkRiders(ctx context.Context, service *riders.Service, operators []Operator, baseURL string) error {
	for i := range operators {
		link, err := service.Link(ctx, &models.Operator{ID: operators[i].ID}, operators[i].Riders[0].ID)
		if errors.Is(err, riders.ErrRiderInactive) {
			operators[i].RiderLink = ""
			continue
		}
		if err != nil {
			return err
		}
		operators[i].RiderLink = link.URL(baseURL)
	}
	return nil
}
