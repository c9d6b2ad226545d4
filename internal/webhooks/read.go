package webhooks

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/internal/safehttp"
	"despacho/models"
)

// readWebhook reads a registration request. Whoever registers a webhook owns it; a store's own gets
// that store's events only.
func (s *Service) readWebhook(ctx context.Context, scope db.WebhookScope, in *jsonbody.Object) (*models.Webhook, error) {
	hook := &models.Webhook{
		OperatorID: scope.OperatorID, StoreID: scope.StoreID, OwnerStoreID: scope.StoreID, Test: scope.Test, URL: s.readURL(in),
		Events: models.JoinEvents(readEvents(in)),
	}
	if retry := in.Bool("retry"); retry != nil {
		hook.Retry = *retry
	}
	if hook.StoreID == nil {
		if hook.StoreID = in.UUID("store_id"); hook.StoreID != nil {
			stores, err := s.DB.StoresOf(ctx, scope.OperatorID, hook.StoreID)
			if err != nil {
				return nil, err
			}
			if len(stores) == 0 {
				in.AddError("store_id", "no es una tienda activa del operador")
			}
		}
	}
	return hook, in.Err()
}

func (s *Service) readURL(in *jsonbody.Object) string {
	address := in.RequiredText("url", safehttp.MaxURLLength)
	if address == "" {
		return ""
	}
	if _, err := safehttp.CheckURL(address, s.AllowNets); err != nil {
		in.AddError("url", urlComplaint(err))
	}
	return address
}

// HostOf is the host of a webhook's URL, the only part that may be shown.
func HostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

func urlComplaint(err error) string {
	var refused *safehttp.URLError
	if errors.As(err, &refused) {
		return strings.TrimSuffix(refused.Message(), ".")
	}
	return "no es una dirección válida"
}

// readEvents reads at least one known event and removes duplicates.
func readEvents(in *jsonbody.Object) []models.Event {
	words := in.TextList("events")
	if len(words) == 0 {
		in.AddError("events", "debe nombrar al menos un evento: "+eventNames)
		return nil
	}
	var events []models.Event
	for _, word := range words {
		event := models.Event(word)
		if !slices.Contains(models.SubscribableEvents, event) {
			in.AddError("events", "solo admite: "+eventNames)
			return nil
		}
		if !slices.Contains(events, event) {
			events = append(events, event)
		}
	}
	return events
}

var eventNames = strings.ReplaceAll(models.JoinEvents(models.SubscribableEvents), " ", ", ")

// readRange reads a time range.
func readRange(in *jsonbody.Object) (from, to time.Time, err error) {
	from, to = requiredTime(in, "from"), requiredTime(in, "to")
	return from, to, checkRange(in, from, to)
}

// readRangeUntil reads a time range that may omit its end.
func readRangeUntil(in *jsonbody.Object, end time.Time) (from, to time.Time, err error) {
	from, to = requiredTime(in, "from"), end
	if in.Has("to") {
		to = requiredTime(in, "to")
	}
	return from, to, checkRange(in, from, to)
}

// checkRange refuses a range that ends before it begins.
func checkRange(in *jsonbody.Object, from, to time.Time) error {
	if in.Err() == nil && from.After(to) {
		in.AddError("from", "no puede ser posterior al final del rango")
	}
	return in.Err()
}

func requiredTime(in *jsonbody.Object, name string) time.Time {
	at := in.Time(name)
	if at == nil {
		in.AddError(name, jsonbody.MissingMessage) // no effect if the field already has an error
		return time.Time{}
	}
	return at.UTC()
}
