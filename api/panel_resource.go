package api

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/models"
)

// The operator's own resources (stores, riders, branches, sizes, ...) are listed, created and
// changed in the same way. These functions do it for all of them.

// identified is the id that every view of a resource starts with.
type identified struct {
	ID uuid.UUID `json:"id"`
}

func (i identified) location(c *gin.Context) string { return c.FullPath() + "/" + i.ID.String() }

// resourceView gives the URL of the resource it shows, for the Location header.
type resourceView interface{ location(c *gin.Context) string }

func respondList[T, V any](c *gin.Context, view func(*T) V, list func(context.Context, *models.Operator) ([]T, error)) error {
	rows, err := list(c.Request.Context(), caller(c).Operator)
	if err != nil {
		return err
	}
	return ok(c, views(rows, view))
}

func views[T, V any](rows []T, view func(*T) V) []V {
	list := make([]V, len(rows))
	for i := range rows {
		list[i] = view(&rows[i])
	}
	return list
}

func respondCreate[T any, V resourceView](c *gin.Context, view func(*T) V, create func(context.Context, *models.Operator, *jsonbody.Object) (*T, error)) error {
	in, err := readBody(c)
	if err != nil {
		return err
	}
	row, err := create(c.Request.Context(), caller(c).Operator, in)
	if err != nil {
		return err
	}
	return respondCreated(c, envelope{}, view(row))
}

// respondCreated responds 201 with the resource and its Location.
func respondCreated(c *gin.Context, e envelope, view resourceView) error {
	c.Header("Location", view.location(c))
	e.Data = view
	return respond(c, http.StatusCreated, e)
}

// respondSecret is respondCreated for a resource with a secret that is shown only once: the
// response must not be stored.
func respondSecret(c *gin.Context, e envelope, view resourceView) error {
	c.Header("Cache-Control", "no-store")
	return respondCreated(c, e, view)
}

func respondChange[T, V any](c *gin.Context, view func(*T) V, notFound error, change func(context.Context, *models.Operator, uuid.UUID, *jsonbody.Object, func(*T) error) (*T, error)) error {
	id, in, err := idAndBody(c, notFound, readBody)
	if err != nil {
		return err
	}
	row, err := change(c.Request.Context(), caller(c).Operator, id, in, nil)
	if err != nil {
		return err
	}
	return ok(c, view(row))
}

func respondDelete(c *gin.Context, message string, notFound error, remove func(context.Context, *models.Operator, uuid.UUID) error) error {
	id, err := pathID(c, notFound)
	if err != nil {
		return err
	}
	if err := remove(c.Request.Context(), caller(c).Operator, id); err != nil {
		return err
	}
	return respond(c, http.StatusOK, envelope{Message: message})
}
