package panel

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"despacho/internal/operators"
	"despacho/internal/panel/csvfile"
	"despacho/internal/panel/forms"
	"despacho/models"
)

const (
	auditPath    = "/panel/actividad"
	auditPerPage = 50
)

// auditPage is the operator's audit log.
type auditPage struct {
	Query   auditQuery
	Entries []auditRow
	Actions []forms.Option
	Users   []forms.Option
	Pager   pager
	// Download is the URL of the same entries as a file.
	Download string
}

type auditRow struct {
	At                                 time.Time
	Action, Who, From, Subject, Detail string
}

// auditQuery is the query of the URL.
type auditQuery struct {
	Action, User string
	Days         days
	Page         int
}

func readAuditQuery(v *Request) auditQuery {
	return auditQuery{Action: v.Query("accion"), User: v.Query("usuario"), Days: readDays(v), Page: pageNumber(v)}
}

// Filtered reports whether a filter is set.
func (q auditQuery) Filtered() bool {
	return q.Action != "" || q.User != "" || q.Days.Any()
}

// at is the URL of a path with the query.
func (q auditQuery) at(path string) string {
	return withQuery(path, map[string]string{
		"accion": q.Action, "usuario": q.User, "desde": q.Days.First(), "hasta": q.Days.Last(), "pagina": pageParameter(q.Page),
	})
}

// operatorsQuery is the query for the use case. What the form cannot send is ignored.
func (q auditQuery) operatorsQuery() operators.AuditQuery {
	query := operators.AuditQuery{UserID: optionalID(q.User), From: q.Days.From, To: q.Days.To}
	if _, known := auditWords[models.AuditAction(q.Action)]; known {
		query.Action = models.AuditAction(q.Action)
	}
	return query
}

func (p *Pages) showAudit(v *Request) error {
	query := readAuditQuery(v)
	entries, total, err := readPage(&query.Page, auditPerPage, func() ([]models.AuditView, int64, error) {
		return p.Operators.AuditLog(v.Ctx(), v.Operator(), query.operatorsQuery(), query.Page, auditPerPage)
	})
	if err != nil {
		return err
	}
	users, err := p.Operators.Users(v.Ctx(), v.Operator())
	if err != nil {
		return err
	}
	page := auditPage{
		Query: query, Entries: make([]auditRow, len(entries)), Actions: auditOptions,
		Users:    forms.Options("Todos", users, func(user *models.User) (uuid.UUID, string) { return user.ID, user.Name }),
		Download: query.at(auditPath + ".csv"),
	}
	page.Pager = pagerOf(query.Page, auditPerPage, total,
		func(number int) string { query.Page = number; return query.at(auditPath) })
	for i := range entries {
		page.Entries[i] = auditRowOf(v, &entries[i])
	}
	return p.show(v, http.StatusOK, "audit", "Registro de actividad", page)
}

func auditRowOf(v *Request, entry *models.AuditView) auditRow {
	return auditRow{
		At: entry.At.In(v.Operator().TimeZone()), Action: cmp.Or(auditWords[entry.Action], string(entry.Action)),
		Who: auditActor(entry), From: orEmpty(entry.Address), Subject: orEmpty(entry.SubjectName),
		Detail: auditDetail(orEmpty(entry.Detail)),
	}
}

func auditActor(entry *models.AuditView) string {
	switch {
	case entry.UserName != nil:
		return *entry.UserName
	case entry.KeyName != nil:
		return "Clave " + *entry.KeyName
	case entry.Action == models.AuditSignInFailed || entry.Action == models.AuditSignInBlocked:
		return "Sin identificar"
	case entry.Action == models.AuditDeviceActivated || entry.Action == models.AuditDeviceLocked:
		return "El motorizado"
	}
	return "Administración del servicio"
}

// downloadAudit sends the selected entries as a file, batch by batch: the log may be long.
func (p *Pages) downloadAudit(v *Request) error {
	query := readAuditQuery(v).operatorsQuery()
	return p.streamFile(v, "actividad.csv", func(ctx context.Context, file *csvfile.Writer) error {
		if err := file.Write("Fecha", "Acción", "Quién", "Desde", "Sobre", "Detalle"); err != nil {
			return err
		}
		return p.Operators.EachAudit(ctx, v.Operator(), query, func(entries []models.AuditView) error {
			for i := range entries {
				row := auditRowOf(v, &entries[i])
				if err := file.Write(row.At.Format(time.RFC3339), row.Action, row.Who, row.From, row.Subject,
					row.Detail); err != nil {
					return err
				}
			}
			return file.Flush()
		})
	})
}

// auditWords are the actions in Spanish.
var auditWords = map[models.AuditAction]string{
	models.AuditSignIn:              "Inició sesión",
	models.AuditSignInFailed:        "Intento fallido de iniciar sesión",
	models.AuditSignInBlocked:       "Intentos de iniciar sesión bloqueados",
	models.AuditSignOut:             "Cerró sesión",
	models.AuditPasswordChanged:     "Cambió su contraseña",
	models.AuditPasswordReset:       "Puso otra contraseña a un usuario",
	models.AuditResetStarted:        "Dio a un usuario un enlace para elegir contraseña",
	models.AuditSecondFactorAdded:   "Activó su segundo factor",
	models.AuditSecondFactorRemoved: "Quitó su segundo factor",
	models.AuditSecondFactorReset:   "Quitó el segundo factor de un usuario",
	models.AuditKeyRevoked:          "Revocó una clave API",
	models.AuditWebhookCreated:      "Registró un webhook",
	models.AuditWebhookChanged:      "Cambió, pausó o reanudó un webhook",
	models.AuditWebhookRotated:      "Cambió el secreto de un webhook",
	models.AuditWebhookRemoved:      "Desactivó un webhook",
	models.AuditDeviceLinked:        "Dio un enlace para el celular de un motorizado",
	models.AuditDeviceActivated:     "Enlazó su celular",
	models.AuditDeviceRevoked:       "Quitó el acceso del celular de un motorizado",
	models.AuditDeviceLocked:        "Perdió el acceso de su celular por equivocarse de PIN",
	models.AuditSettingsChanged:     "Cambió los ajustes",
	models.AuditCoverageRemoved:     "Quitó un lugar de la cobertura",
	models.AuditCoverageReplaced:    "Cargó la cobertura de un archivo",
	models.AuditPlanChanged:         "Cambió el plan",
	models.AuditSuspended:           "Suspendió al operador",
	models.AuditResumed:             "Reanudó al operador",
	models.AuditPointSet:            "Completó el punto de un pedido",
	models.AuditCorrected:           "Corrigió un pedido",
	models.AuditDeliveryCorrected:   "Corrigió una entrega",
	models.AuditErased:              "Eliminó los datos del destinatario de un pedido",
	models.AuditHandedIn:            "Recibió una rendición",
	models.AuditAdjusted:            "Ajustó una cuenta de la caja",
	models.AuditSettlementIssued:    "Emitió una liquidación",
	models.AuditSettlementPaid:      "Marcó una liquidación como pagada",
	"store.created":                 "Creó una tienda",
	"store.changed":                 "Cambió una tienda",
	"rider.created":                 "Creó un motorizado",
	"rider.changed":                 "Cambió un motorizado",
	"branch.created":                "Creó una sucursal",
	"branch.changed":                "Cambió una sucursal",
	"size.created":                  "Creó un tamaño",
	"size.changed":                  "Cambió un tamaño",
	"coverage.created":              "Agregó un lugar a la cobertura",
	"coverage.changed":              "Cambió un lugar de la cobertura",
	models.AuditPriceRemoved:        "Quitó una tarifa de una tienda",
	"store_price.created":           "Agregó una tarifa a una tienda",
	"store_price.changed":           "Cambió una tarifa de una tienda",
	"risk_zone.created":             "Creó una zona de riesgo",
	"risk_zone.changed":             "Cambió una zona de riesgo",
	"key.created":                   "Creó una clave API",
	"user.created":                  "Creó un usuario",
	"user.changed":                  "Cambió un usuario",
}

// auditOptions are the actions to choose from, by their words.
var auditOptions = func() []forms.Option {
	var options []forms.Option
	for action, words := range auditWords {
		options = append(options, forms.Option{Value: string(action), Label: words})
	}
	slices.SortFunc(options, func(a, b forms.Option) int { return cmp.Compare(a.Label, b.Label) })
	return append([]forms.Option{{Value: "", Label: "Todas"}}, options...)
}()
