package operators

import (
	"slices"
	"strconv"

	"despacho/internal/jsonbody"
	"despacho/models"
)

// RulesField is the member of the settings with the rules of attempts and deliveries.
const RulesField = "rules"

// readRules reads those rules that the request has; null is the default of a rule.
func readRules(in *jsonbody.Object, rules *models.Rules) {
	in.WithObject(RulesField, func(in *jsonbody.Object) {
		readChoices(in, "hidden_reasons", models.FailureReasons, &rules.HiddenReasons)
		readChoices(in, "note_reasons", models.FailureReasons, &rules.NoteReasons)
		readChoices(in, "photo_reasons", models.FailureReasons, &rules.PhotoReasons)
		if len(rules.Reasons()) == 0 {
			in.AddError("hidden_reasons", "debe quedar al menos un motivo")
		}
		readChoices(in, "methods", models.Methods, &rules.OfferedMethods)
		readChoices(in, "reference_methods", models.Methods, &rules.ReferenceMethods)
		readFlag(in, "needs_photo", &rules.NeedsPhoto)
		readFlag(in, "needs_point", &rules.NeedsPoint)
		readFlag(in, "needs_received_by", &rules.NeedsReceivedBy)
		readMoney(in, "pin_over", &rules.PINOver)
		readMoney(in, "attempt_fee", &rules.AttemptFee)
		readMoney(in, "rider_ceiling", &rules.Ceiling)
		readFlag(in, "open_count", &rules.OpenCount)
		readMoney(in, "return_fee", &rules.ReturnFee)
		readCount(in, "max_attempts", 1, models.MaxMaxAttempts, &rules.Attempts)
		readCount(in, "decision_hours", 1, models.MaxDecisionHours, &rules.DecisionHours)
		readCount(in, "undo_minutes", 0, models.MaxUndoMinutes, &rules.UndoMinutes)
		if in.Has("undo_minutes") && rules.UndoMinutes == 0 {
			rules.UndoMinutes = -1
		}
		readWeekdays(in, &rules.Weekdays)
		if in.HasOrNull("whatsapp_template") {
			rules.Greeting = ""
			if text := in.Lines("whatsapp_template", models.MaxGreeting); text != nil {
				rules.Greeting = *text
			}
		}
	})
}

// readChoices reads a list of words, each one of those that are known.
func readChoices[T ~string](in *jsonbody.Object, name string, known []T, chosen *[]T) {
	if !in.HasOrNull(name) {
		return
	}
	*chosen = nil
	for _, word := range in.TextList(name) {
		if !slices.Contains(known, T(word)) {
			in.AddError(name, "tiene un valor desconocido: "+strconv.Quote(word))
			return
		}
		if !slices.Contains(*chosen, T(word)) {
			*chosen = append(*chosen, T(word))
		}
	}
}

func readCount(in *jsonbody.Object, name string, least, most int, count *int) {
	if !in.HasOrNull(name) {
		return
	}
	*count = 0
	if number := in.IntFrom(name, least); number != nil {
		if *number > most {
			in.AddError(name, "va de "+strconv.Itoa(least)+" a "+strconv.Itoa(most))
		}
		*count = *number
	}
}

// readWeekdays reads the days of deliveries, as numbers in texts or in JSON.
func readWeekdays(in *jsonbody.Object, days *[]int) {
	const name = "delivery_days"
	if !in.HasOrNull(name) {
		return
	}
	*days = nil
	for _, number := range in.NumberList(name) {
		if number < 1 || number > 7 {
			in.AddError(name, "cada día va de 1, lunes, a 7, domingo")
			return
		}
		if !slices.Contains(*days, number) {
			*days = append(*days, number)
		}
	}
	slices.Sort(*days)
}
