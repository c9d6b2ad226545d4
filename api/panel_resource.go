package api

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/models"
)

// What an operator's people set up is listed, created and changed in the same way whatever it is;
// these three answer for all of it.

// identified is what every view of theirs begins with.
type identified struct {
	ID uuid.UUID `json:"id"`
}

func (i identified) address(c *gin.Context) string { return c.FullPath() + "/" + i.ID.String() }

// resourceView knows where what it shows is found.
type resourceView interface{ address(c *gin.Context) string }

func answerList[T, V any](c *gin.Context, view func(*T) V, list func(context.Context, *models.Operator) ([]T, error)) error {
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

func answerCreate[T any, V resourceView](c *gin.Context, view func(*T) V, create func(context.Context, *models.Operator, *jsonbody.Object) (*T, error)) error {
	in, err := readBody(c)
	if err != nil {
		return err
	}
	row, err := create(c.Request.Context(), caller(c).Operator, in)
	if err != nil {
		return err
	}
	return answerCreated(c, envelope{}, view(row))
}

// answerCreated answers 201 with the resource and where it is.
func answerCreated(c *gin.Context, e envelope, view resourceView) error {
	c.Header("Location", view.address(c))
	e.Data = view
	return respond(c, http.StatusCreated, e)
}

// answerSecret is answerCreated for what carries something that is shown this once.
func answerSecret(c *gin.Context, e envelope, view resourceView) error {
	c.Header("Cache-Control", "no-store")
	return answerCreated(c, e, view)
}

func answerChange[T, V any](c *gin.Context, view func(*T) V, notFound error, change func(context.Context, *models.Operator, uuid.UUID, *jsonbody.Object) (*T, error)) error {
	id, err := pathID(c, notFound)
	if err != nil {
		return err
	}
	in, err := readBody(c)
	if err != nil {
		return err
	}
	row, err := change(c.Request.Context(), caller(c).Operator, id, in)
	if err != nil {
		return err
	}
	return ok(c, view(row))
}

func answerDelete(c *gin.Context, message string, notFound error, remove func(context.Context, *models.Operator, uuid.UUID) error) error {
	id, err := pathID(c, notFound)
	if err != nil {
		return err
	}
	if err := remove(c.Request.Context(), caller(c).Operator, id); err != nil {
		return err
	}
	return respond(c, http.StatusOK, envelope{Message: message})
}
