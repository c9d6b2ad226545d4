package panel

import (
	"fmt"
	"net/http"
	"strconv"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/internal/operators"
	"despacho/internal/panel/forms"
	"despacho/internal/photos"
	"despacho/models"
)

const (
	settingsPath = "/panel/ajustes"
	logoPath     = settingsPath + "/logo"
)

// settingsPage is what the operator configures itself, and what the service's administrator has
// set.
type settingsPage struct {
	Form  *forms.Form
	Facts []fact
	// LogoFailure is why an uploaded logo was refused.
	LogoFailure string
}

type fact struct{ Name, Value string }

func settingsForm(v *Request, operator *models.Operator) *forms.Form {
	fields := []forms.Field{
		{Name: "name", Label: "Nombre", Kind: forms.Text, Required: true, Value: operator.Name,
			Hint: "Lo ven sus clientes cuando siguen su paquete."},
		{Name: "base_price", Label: moneyLabel(v, "Precio base"), Kind: forms.Money, Value: forms.MoneyValue(operator.BasePrice),
			Hint: "Lo que cuesta enviar a los lugares cubiertos sin precio propio. En blanco, esos lugares no tienen tarifa."},
		{Name: "logo_url", Label: "Dirección del logo", Kind: forms.URL, Wide: true, Value: orEmpty(operator.LogoURL),
			Hint: "Para enlazarlo en lugar de subirlo: una imagen pública, con https://."},
		{Name: "share_proof_location", Label: "Mostrar a las tiendas dónde se tomó la foto de entrega", Kind: forms.Flag, Wide: true,
			Value: strconv.FormatBool(operator.ShareProofLocation), Hint: "En el panel, en la API y en sus webhooks."},
		{Name: "share_proof_photo", Label: "Mostrar la foto de entrega en la página de seguimiento", Kind: forms.Flag, Wide: true,
			Value: strconv.FormatBool(operator.ShareProofPhoto),
			Hint:  "La ve quien tenga el código de guía. Puede verse la puerta o a quien recibe."},
	}
	if v.Who.User.Administers() {
		fields = append(fields, forms.Field{
			Name: "require_second_factor", Label: "Pedir un segundo factor a los administradores", Kind: forms.Flag, Wide: true,
			Value: strconv.FormatBool(operator.RequireSecondFactor),
			Hint:  "Quien no lo tenga lo activa al ingresar, antes de hacer otra cosa.",
		})
	}
	return editForm(settingsPath, fields)
}

func (p *Pages) showSettings(v *Request) error {
	return p.showSettingsForm(v, http.StatusOK, settingsPage{Form: settingsForm(v, v.Operator())})
}

func (p *Pages) showSettingsForm(v *Request, status int, page settingsPage) error {
	operator := v.Operator()
	country := operator.CountryCode
	index, err := p.Catalog.Index(v.Ctx())
	if err != nil {
		return err
	}
	if known, ok := index.Country(country); ok {
		country = known.Name
	}
	page.Facts = []fact{
		{"Plan", planWords(operator.Plan)}, {"País", country},
		{"Zona horaria", operator.Timezone}, {"Moneda", operator.Currency},
	}
	return p.show(v, status, "settings", "Ajustes", page)
}

// planWords describes a plan.
func planWords(plan models.Plan) string {
	if perMinute := plan.RequestsPerMinute(); perMinute > 0 {
		return fmt.Sprintf("%s, con API hasta %d solicitudes por minuto y clave, y %d claves activas", plan, perMinute,
			plan.ActiveKeys())
	}
	return string(plan) + ", sin API"
}

func (p *Pages) changeSettings(v *Request) error {
	form := settingsForm(v, v.Operator())
	return p.handle(v, form, func(in *jsonbody.Object) error {
		_, err := p.Operators.ChangeSettings(v.Ctx(), v.Who, in, func(operator *models.Operator) error {
			return requireSeen(form, settingsForm(v, operator))
		})
		if err != nil {
			return err
		}
		return p.done(v, settingsPath, "Ajustes guardados.")
	}, func(status int) error { return p.showSettingsForm(v, status, settingsPage{Form: form}) })
}

// uploadLogo reads its form itself, because of the file.
func (p *Pages) uploadLogo(v *Request) error {
	_, picture, err := photos.ReadParts(v.Request, operators.LogoField)
	if err == nil {
		_, err = p.Operators.SetLogo(v.Ctx(), v.Who, picture)
	}
	if err == nil {
		return p.done(v, settingsPath, "Logo guardado.")
	}
	problem := apperror.From(operators.LogoError(err))
	if problem.Kind == apperror.Internal {
		return err
	}
	failure := problem.Message
	if picture == nil && len(problem.Fields) > 0 {
		failure = "Elija el archivo del logo."
	}
	return p.showSettingsForm(v, http.StatusUnprocessableEntity,
		settingsPage{Form: settingsForm(v, v.Operator()), LogoFailure: failure})
}

func (p *Pages) removeLogo(v *Request) error {
	if _, err := p.Operators.RemoveLogo(v.Ctx(), v.Who); err != nil {
		return err
	}
	return p.done(v, settingsPath, "Logo quitado.")
}
