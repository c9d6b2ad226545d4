package panel

import (
	"fmt"
	"net/http"
	"strconv"

	"despacho/models"
)

const settingsPath = "/panel/ajustes"

// settingsPage is what the operator configures itself, and what the service's administrator has
// set.
type settingsPage struct {
	Form  *form
	Logo  string
	Facts []fact
}

type fact struct{ Name, Value string }

func settingsForm(v *Request) *form {
	operator := v.Operator()
	return &form{Action: settingsPath, Submit: "Guardar cambios", Fields: []field{
		{Name: "name", Label: "Nombre", Kind: textField, Required: true, Value: operator.Name, Hint: "Lo ven sus clientes cuando siguen su paquete."},
		{Name: "base_price", Label: moneyLabel(v, "Precio base"), Kind: moneyField, Value: moneyValue(operator.BasePrice), Hint: "Lo que cuesta enviar a los lugares cubiertos sin precio propio. En blanco, esos lugares no tienen tarifa."},
		{Name: "logo_url", Label: "Dirección del logo", Kind: addressField, Wide: true, Value: orEmpty(operator.LogoURL), Hint: "Una imagen pública, con https://. En blanco, se muestra la inicial."},
		{Name: "share_proof_location", Label: "Mostrar a las tiendas dónde se tomó la foto de entrega", Kind: flagField, Wide: true, Value: strconv.FormatBool(operator.ShareProofLocation), Hint: "En el panel, en la API y en sus webhooks."},
	}}
}

func (p *Pages) showSettings(v *Request) error {
	return p.showSettingsForm(v, http.StatusOK, settingsForm(v))
}

func (p *Pages) showSettingsForm(v *Request, status int, asked *form) error {
	operator := v.Operator()
	country := operator.CountryCode
	index, err := p.Catalog.Index(v.Ctx())
	if err != nil {
		return err
	}
	if known, ok := index.Country(country); ok {
		country = known.Name
	}
	return p.show(v, status, "settings", "Ajustes", settingsPage{Form: asked, Logo: orEmpty(operator.LogoURL), Facts: []fact{
		{"Plan", planWords(operator.Plan)}, {"País", country}, {"Zona horaria", operator.Timezone}, {"Moneda", operator.Currency},
	}})
}

// planWords describes a plan.
func planWords(plan models.Plan) string {
	if perMinute := plan.RequestsPerMinute(); perMinute > 0 {
		return fmt.Sprintf("%s, con API hasta %d solicitudes por minuto y clave", plan, perMinute)
	}
	return string(plan) + ", sin API"
}

func (p *Pages) changeSettings(v *Request) error {
	asked := settingsForm(v)
	in, err := asked.read(p, v)
	if err == nil {
		_, err = p.Operators.ChangeSettings(v.Ctx(), v.Operator(), in)
	}
	if err == nil {
		return p.done(v, settingsPath, "Ajustes guardados.")
	}
	if !asked.addError(err) {
		return err
	}
	return p.showSettingsForm(v, http.StatusUnprocessableEntity, asked)
}
