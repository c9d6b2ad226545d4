package panel

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"despacho/internal/jsonbody"
	"despacho/internal/operators"
	"despacho/internal/panel/format"
	"despacho/internal/panel/forms"
	"despacho/models"
)

const rulesPath = settingsPath + "/entregas"

// rulesForm has the rules of attempts and deliveries as they hold, the defaults among them.
func rulesForm(operator *models.Operator) *forms.Form {
	rules := operator.Rules
	return editForm(rulesPath, []forms.Field{
		{Name: "max_attempts", Label: "Intentos antes de devolver", Kind: forms.Number, Value: strconv.Itoa(rules.MaxAttempts()),
			Hint: "Si nadie decide antes. De 1 a " + strconv.Itoa(models.MaxMaxAttempts) + "."},
		{Name: "decision_hours", Label: "Horas para decidir", Kind: forms.Number,
			Value: strconv.Itoa(int(rules.DecisionTime().Hours())),
			Hint:  "La tienda decide qué sigue tras un intento fallido; después vale la regla."},
		{Name: "undo_minutes", Label: "Minutos para deshacer", Kind: forms.Number,
			Value: strconv.Itoa(int(rules.UndoTime().Minutes())),
			Hint:  "Una recepción, asignación, entrega o intento por error. 0: nunca."},
		{Name: "pin_over", Label: "Pedir el PIN desde este monto", Kind: forms.Money, Value: forms.MoneyValue(rules.PINOver),
			Hint: "El destinatario lo ve en su página de seguimiento. En blanco: nunca."},
		{Name: "attempt_fee", Label: attemptFeeLabel, Kind: forms.Money, Value: forms.MoneyValue(rules.AttemptFee),
			Hint: "Lo que paga la tienda por cada uno, salvo que tenga el suyo. En blanco: nada."},
		{Name: "return_fee", Label: returnFeeLabel, Kind: forms.Money, Value: forms.MoneyValue(rules.ReturnFee),
			Hint: "Lo que paga al recibir el paquete de vuelta, salvo que tenga el suyo. En blanco: nada."},
		{Name: "rider_ceiling", Label: "Tope que puede llevar un motorizado", Kind: forms.Money, Value: forms.MoneyValue(rules.Ceiling),
			Hint: "Al asignarle más, avisa. En blanco: sin tope."},
		{Name: "delivery_days", Label: "Días de reparto", Kind: forms.Checks, Wide: true, Options: weekdayOptions(),
			Values: numbers(rules.DeliveryDays())},
		rule("needs_photo", "El motorizado tiene que tomar una foto al entregar", rules.NeedsPhoto),
		rule("needs_point", "Tiene que enviar dónde está", rules.NeedsPoint),
		rule("needs_received_by", "Tiene que escribir quién recibió", rules.NeedsReceivedBy),
		rule("open_count", "Mostrar al cajero lo que debe rendir antes de contar", rules.OpenCount),
		ruleWords("methods", "Formas de pago que se ofrecen", models.Methods, rules.Methods()),
		ruleWords("reference_methods", "Piden un número de operación", models.Methods, rules.ReferenceMethods),
		ruleWords("hidden_reasons", "Motivos que no se ofrecen", models.FailureReasons, rules.HiddenReasons),
		ruleWords("note_reasons", "Motivos que piden una nota", models.FailureReasons, rules.NoteReasons),
		ruleWords("photo_reasons", "Motivos que piden una foto", models.FailureReasons, rules.PhotoReasons),
		{Name: "whatsapp_template", Label: "Mensaje del motorizado al destinatario", Kind: forms.Area, Wide: true,
			Value: rules.WhatsAppTemplate(), Hint: "Con {nombre}, {operador} y {guia} en su lugar. En blanco: el de siempre."},
	})
}

func rule(name, label string, on bool) forms.Field {
	return forms.Field{Name: name, Label: label, Kind: forms.Flag, Wide: true, Value: strconv.FormatBool(on)}
}

// ruleWords choose some of the known words.
func ruleWords[T interface {
	~string
	Label() string
}](name, label string, known, chosen []T) forms.Field {
	field := forms.Field{Name: name, Label: label, Kind: forms.Checks, Wide: true}
	for _, word := range known {
		field.Options = append(field.Options, forms.Option{Value: string(word), Label: word.Label()})
	}
	for _, word := range chosen {
		field.Values = append(field.Values, string(word))
	}
	return field
}

func numbers(list []int) []string {
	values := make([]string, len(list))
	for i, number := range list {
		values[i] = strconv.Itoa(number)
	}
	return values
}

// weekdayOptions are the days of the week from Monday on.
func weekdayOptions() []forms.Option {
	var options []forms.Option
	for day := 1; day <= 7; day++ {
		options = append(options, forms.Option{Value: strconv.Itoa(day), Label: format.Weekday(time.Weekday(day % 7))})
	}
	return options
}

func (p *Pages) showRules(v *Request) error {
	return p.showRulesForm(v, http.StatusOK, rulesForm(v.Operator()))
}

func (p *Pages) showRulesForm(v *Request, status int, form *forms.Form) error {
	return p.show(v, status, "settings_rules", "Entregas e intentos", form)
}

func (p *Pages) changeRules(v *Request) error {
	form := rulesForm(v.Operator())
	return p.handle(v, form, func(in *jsonbody.Object) error {
		_, err := p.Operators.ChangeSettings(v.Ctx(), v.Who, in.Within(operators.RulesField), func(operator *models.Operator) error {
			return requireSeen(form, rulesForm(operator))
		})
		if err != nil {
			return renamed(err, func(field string) string { return strings.TrimPrefix(field, operators.RulesField+".") })
		}
		return p.done(v, rulesPath, "Reglas guardadas.")
	}, func(status int) error { return p.showRulesForm(v, status, form) })
}
