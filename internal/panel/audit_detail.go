package panel

import (
	"cmp"
	"strings"

	"despacho/models"
)

// auditFieldWords are the names in the details of the audit log, which are columns, in Spanish.
// Those of a corrected order are correctedWords.
var auditFieldWords = map[string]string{
	"active": "activo", "attempt_fee_cents": "cobro por intento fallido", "from_day": "primer día",
	"return_fee_cents": "cobro por devolución", "until_day": "último día", "admin": "administrador", "base_price_cents": "precio base", "code": "código",
	"contact_email": "correo de contacto",
	"contact_phone": "teléfono de contacto", "contact_whatsapp": "WhatsApp de contacto", "email": "correo", "events": "eventos", "grants": "permisos",
	"is_default": "predeterminada",
	"logo_photo": "logo", "logo_url": "dirección del logo", "main": "principal", "name": "nombre", "paused": "pausa",
	"phone": "teléfono", "price_cents": "precio",
	"require_second_factor": "segundo factor de los administradores", "retry": "reintentos", "role": "rol",
	"replaced":             "en lugar del anterior",
	"rules":                "reglas de entregas e intentos",
	"share_proof_location": "lugar de la foto para las tiendas",
	"share_proof_photo":    "foto en el seguimiento", "store_id": "tienda", "surcharge_cents": "recargo", "url": "dirección",
	"words": "palabras",

	// How many rows of a coverage file there were of each kind.
	"added": "agregados", "changed": "cambiados", "removed": "quitados",
}

// auditDetail is the detail of an entry in Spanish: the names that it begins with or lists.
func auditDetail(detail string) string {
	var parts []string
	for part := range strings.SplitSeq(detail, ", ") {
		name, rest := part, ""
		if at := strings.IndexAny(part, ": "); at >= 0 {
			name, rest = part[:at], ": "+strings.TrimLeft(part[at:], ": ")
		}
		if words := cmp.Or(auditFieldWords[name], strings.ToLower(correctedWords[models.CorrectedField(name)])); words != "" {
			part = words + strings.ReplaceAll(rest, " -> ", " → ")
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}
