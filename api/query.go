package api

import (
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"despacho/internal/apperror"
	"despacho/internal/clock"
	"despacho/internal/orders"
	"despacho/models"
)

const defaultPageSize = 50

// listQuery reads the parameters of an order list. Its error names every invalid one.
func listQuery(c *gin.Context) (orders.Query, error) {
	var wrong apperror.Fields
	query := orders.Query{
		Status: models.Status(textParameter(c, "status", &wrong)),
		From:   dayParameter(c, "from_date", &wrong),
		To:     dayParameter(c, "to_date", &wrong),
		Page:   countParameter(c, "page", 1, &wrong),
		Limit:  countParameter(c, "limit", defaultPageSize, &wrong),
	}
	query.ExternalID = orders.ReadExternalIDFilter(textParameter(c, "external_id", &wrong), &wrong)
	if query.Status != "" && !query.Status.Valid() {
		wrong.Add("status", "debe ser uno de: "+statusWords)
	}
	if query.From != nil && query.To != nil && query.From.After(*query.To) {
		wrong.Add("from_date", "no puede ser posterior a to_date")
	}
	return query, wrong.Err()
}

var statusWords = func() string {
	words := make([]string, len(models.Statuses))
	for i, status := range models.Statuses {
		words[i] = string(status)
	}
	return strings.Join(words, ", ")
}()

// textParameter reads a parameter; empty if it is absent. One that came twice is an error: a list
// with one of two values has other elements than the caller asked for. So is a query that net/url
// cannot decode, of which it would drop a part.
func textParameter(c *gin.Context, name string, wrong *apperror.Fields) string {
	if _, err := url.ParseQuery(c.Request.URL.RawQuery); err != nil {
		wrong.Add(name, "no se puede leer: la dirección tiene un ; o un % sin codificar")
		return ""
	}
	values := c.QueryArray(name)
	switch len(values) {
	case 0:
		return ""
	case 1:
		return values[0]
	}
	wrong.Add(name, "llegó más de una vez")
	return ""
}

// dayParameter reads a date.
func dayParameter(c *gin.Context, name string, wrong *apperror.Fields) *time.Time {
	text := textParameter(c, name, wrong)
	if text == "" {
		return nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || !clock.InRange(day) {
		wrong.Add(name, "debe ser una fecha AAAA-MM-DD entre los años 2000 y 2100")
		return nil
	}
	return &day
}

// countParameter reads a number from 1 up. A number that overflows becomes the largest int32, which
// is over every limit anyway.
func countParameter(c *gin.Context, name string, absent int, wrong *apperror.Fields) int {
	text := textParameter(c, name, wrong)
	if text == "" {
		return absent
	}
	number, err := strconv.ParseInt(text, 10, 32)
	if (err != nil && !errors.Is(err, strconv.ErrRange)) || number < 1 {
		wrong.Add(name, "debe ser un entero desde 1")
		return absent
	}
	return int(number)
}
