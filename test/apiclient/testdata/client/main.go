// Command client is a store's program with a client that is generated from api/openapi.yaml: it
// creates, reads, lists and cancels an order. The test generates client.gen.go beside it.
package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"reflect"

	"github.com/google/uuid"
)

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2], uuid.MustParse(os.Args[3])); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run sets the client up as the reference says: the address and the key, nothing else.
func run(ctx context.Context, address, key string, location uuid.UUID) error {
	client, err := NewClientWithResponses(address, WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("X-API-Key", key)
		return nil
	}))
	if err != nil {
		return err
	}
	wanted := OrderInput{
		RecipientName: "Rosa Díaz", RecipientPhone: "987 654 321", DeliveryAddress: "Av. Larco 345",
		LocationId: location, Product: "Zapatillas", AmountToCollect: new(89.9),
	}
	once := &CreateOrderParams{IdempotencyKey: new("venta-20391")}
	created, err := client.CreateOrderWithResponse(ctx, once, wanted)
	if err != nil || created.JSON201 == nil {
		return fmt.Errorf("create: %v, %s", err, created.Body)
	}
	order := created.JSON201.Data
	got := []any{order.Status, order.PaymentType, order.AmountToCollect, order.RecipientPhone, order.Rider == nil}
	if want := []any{Registered, CashOnDelivery, 89.9, "+51987654321", true}; !reflect.DeepEqual(want, got) {
		return fmt.Errorf("created %v, not %v", got, want)
	}
	replayed, err := client.CreateOrderWithResponse(ctx, once, wanted)
	if err != nil || !bytes.Equal(created.Body, replayed.Body) ||
		replayed.HTTPResponse.Header.Get("Idempotent-Replayed") != "true" {
		return fmt.Errorf("create again: %v, %s", err, replayed.Body)
	}
	read, err := client.GetOrderWithResponse(ctx, order.Id)
	if err != nil || read.JSON200 == nil || !reflect.DeepEqual(order, read.JSON200.Data) {
		return fmt.Errorf("read: %v, %s", err, read.Body)
	}
	listed, err := client.ListOrdersWithResponse(ctx, &ListOrdersParams{Status: new(Registered), Limit: new(int32(10))})
	if err != nil || listed.JSON200 == nil || listed.JSON200.Data.Total != 1 ||
		!reflect.DeepEqual([]Order{order}, listed.JSON200.Data.Orders) {
		return fmt.Errorf("list: %v, %s", err, listed.Body)
	}
	const reason = "El cliente se arrepintió"
	cancelled, err := client.CancelOrderWithResponse(ctx, order.Id, CancelInput{Reason: new(reason)})
	if err != nil || cancelled.JSON200 == nil || cancelled.JSON200.Data.Status != Cancelled ||
		*cancelled.JSON200.Data.Cancellation.Reason != reason {
		return fmt.Errorf("cancel: %v, %s", err, cancelled.Body)
	}
	late, err := client.CancelOrderWithResponse(ctx, order.Id, CancelInput{})
	if err != nil || late.JSON400 == nil || late.JSON400.Code != "move_not_allowed" {
		return fmt.Errorf("cancel again: %v, %s", err, late.Body)
	}
	return nil
}
