package api

import (
	"encoding/json"
	"slices"

	"github.com/gin-gonic/gin"

	"despacho/internal/jsonbody"
	"despacho/internal/orders"
	"despacho/internal/panel/neworder"
)

// The members of an order and of a webhook that a change cannot set, although a creation or
// another request does. What the service alone sets is ignored, as an unknown member is.
var (
	fixedInOrder   = append(slices.DeleteFunc(neworder.Members(), orders.Correctable), "status")
	fixedInWebhook = []string{"store_id", "active"}
)

// refuseFixed adds an error for each member that the request would give another value although it
// is fixed: its sender would take the response for a success. The value that the resource has is
// accepted, because a client may send back what it has read. The resource is read only for a
// request with such a member.
func refuseFixed[T any](c *gin.Context, in *jsonbody.Object, fixed []string, read func() (T, error)) error {
	if !slices.ContainsFunc(fixed, in.HasOrNull) {
		return nil
	}
	resource, err := read()
	if err != nil {
		return err
	}
	shown, err := json.Marshal(resource)
	if err != nil {
		return err
	}
	has, err := jsonbody.Parse(shown)
	if err != nil {
		return err
	}
	for _, name := range fixed {
		if name == "store_id" && caller(c).StoreID != nil {
			continue // the store is that of the key, whatever the body says
		}
		if in.HasOrNull(name) && !in.SameMember(has, name) {
			in.AddError(name, "no se puede cambiar")
		}
	}
	return nil
}
