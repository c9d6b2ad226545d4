package api

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/operators"
	"despacho/models"
)

// identified is the id that every view of a resource starts with.
type identified struct {
	ID uuid.UUID `json:"id"`
}

func (i identified) location(c *gin.Context) string { return c.FullPath() + "/" + i.ID.String() }

// resourceView gives the URL of the resource it shows, for the Location header.
type resourceView interface{ location(c *gin.Context) string }

// resourceRoutes registers the routes that list, create and change what an operator manages.
func resourceRoutes[T operators.Owned, V resourceView](
	s *Server, panel *gin.RouterGroup, path string, rows operators.Rows[T], view func(*gin.Context, ...T) ([]V, error),
) {
	panel.GET(path, s.withUser(models.OperatorRead, func(c *gin.Context) error {
		list, err := rows.List(c.Request.Context(), caller(c).Operator)
		if err != nil {
			return err
		}
		shown, err := view(c, list...)
		if err != nil {
			return err
		}
		return ok(c, shown)
	}))
	panel.POST(path, s.withUser(models.SettingsWrite, func(c *gin.Context) error {
		in, err := readBody(c)
		if err != nil {
			return err
		}
		row, err := rows.Create(c.Request.Context(), caller(c).Operator, in)
		if err != nil {
			return err
		}
		shown, err := view(c, *row)
		if err != nil {
			return err
		}
		return respondCreated(c, envelope{}, shown[0])
	}))
	panel.PATCH(path+"/:id", s.withUser(models.SettingsWrite, func(c *gin.Context) error {
		id, in, err := idAndBody(c, rows.NotFound(), readBody)
		if err != nil {
			return err
		}
		row, err := rows.Change(c.Request.Context(), caller(c).Operator, id, in, nil)
		if err != nil {
			return err
		}
		shown, err := view(c, *row)
		if err != nil {
			return err
		}
		return ok(c, shown[0])
	}))
}

// each makes a view of many rows from that of one.
func each[T, V any](view func(*T) V) func(*gin.Context, ...T) ([]V, error) {
	return func(_ *gin.Context, rows ...T) ([]V, error) { return views(rows, view), nil }
}

func views[T, V any](rows []T, view func(*T) V) []V {
	list := make([]V, len(rows))
	for i := range rows {
		list[i] = view(&rows[i])
	}
	return list
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

func respondDelete(
	c *gin.Context, message string, notFound error, remove func(context.Context, *models.Operator, uuid.UUID) error,
) error {
	id, err := pathID(c, notFound)
	if err != nil {
		return err
	}
	if err := remove(c.Request.Context(), caller(c).Operator, id); err != nil {
		return err
	}
	return respond(c, http.StatusOK, envelope{Message: message})
}
