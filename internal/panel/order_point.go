package panel

import (
	"strconv"

	"github.com/google/uuid"

	"despacho/internal/maplink"
	"despacho/internal/orders"
	"despacho/internal/panel/forms"
)

// pointField is the name of the field for what people have: a map link, or coordinates.
const pointField = "delivery_point"

// maxPoint is the longest link that is accepted, in characters.
const maxPoint = 2048

// pointForm sets the point of an order. The one that the order has is not filled in: a page that
// was opened before somebody else's correction would send the old point back.
func pointForm(id uuid.UUID) *forms.Form {
	return &forms.Form{Action: orderPath(id) + "/punto", Submit: "Guardar punto", Fields: []forms.Field{{
		Name: pointField, Label: "Enlace de mapa o coordenadas", Kind: forms.Text, Required: true, Wide: true,
		Hint: "Como lo envía el cliente o como lo copia el mapa: https://maps.app.goo.gl/… o -12.1211, -77.0297.",
	}}}
}

// coordinates are a point as maps copy it.
func coordinates(point maplink.Point) string { return degrees(point.Lat) + ", " + degrees(point.Lng) }

// setPoint sets the point of an order. It asks about one that is probably wrong.
func (p *Pages) setPoint(v *Request) error {
	id, err := pathOrder(v)
	if err != nil {
		return err
	}
	form := pointForm(id)
	point, err := p.readPoint(v, id, form)
	switch {
	case err == nil && form.Question != "":
		return p.showOrderAgain(v, id, form, nil, nil)
	case err == nil:
		_, err = p.Orders.SetPoint(v.Ctx(), v.Caller, id, point.Lat, point.Lng)
	}
	return p.answerAction(v, id, form, "Punto guardado.", err, nil)
}

// readPoint reads the point, or leaves a question in the form.
func (p *Pages) readPoint(v *Request, id uuid.UUID, form *forms.Form) (*orders.TypedPoint, error) {
	in, err := p.readForm(v, form)
	if err != nil {
		return nil, err
	}
	typed := in.RequiredText(pointField, maxPoint)
	if err := in.Err(); err != nil {
		return nil, err
	}
	point, err := p.Orders.ReadPointOf(v.Ctx(), v.Caller, id, pointField, typed)
	if err != nil || point.Doubt == nil || v.PostForm(forms.AskedName) == coordinates(point.Point) {
		return point, err
	}
	form.Question, form.Asked, form.Fields[0].Focus = pointQuestion(point), coordinates(point.Point), true
	if swapped := point.Doubt.Swapped; swapped != nil {
		form.Fields[0].Value = coordinates(*swapped)
	}
	return point, nil
}

// pointQuestion asks about a doubtful point. Of one that is swapped the form already has the
// coordinates the other way round.
func pointQuestion(point *orders.TypedPoint) string {
	doubt := point.Doubt
	where := "El punto " + coordinates(point.Point) + " está fuera del país del operador."
	if doubt.Kilometres > 0 {
		where = "El punto " + coordinates(point.Point) + " está a unos " + strconv.Itoa(doubt.Kilometres) + " km de " +
			doubt.Place +
			"."
	}
	if doubt.Swapped == nil {
		return where + " Si es correcto, confirme otra vez."
	}
	if *doubt.Swapped == point.Point {
		where = "La latitud no puede pasar de 90 grados."
	}
	return where + " Parece que la latitud y la longitud están al revés: abajo está " + coordinates(*doubt.Swapped) +
		". Si es correcto, confirme otra vez."
}
