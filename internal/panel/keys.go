package panel

import (
	"net/http"
	"time"

	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/operators"
	"despacho/internal/panel/forms"
	"despacho/models"
)

const keysPath = "/panel/claves"

// scopeNames are the scopes' names in Spanish.
var scopeNames = map[models.Scope]string{
	models.ScopeReadOrders:      "Leer pedidos",
	models.ScopeWriteOrders:     "Crear y cancelar pedidos",
	models.ScopeReadStores:      "Leer tiendas",
	models.ScopeManageWebhooks:  "Administrar webhooks",
	models.ScopeReadSettlements: "Leer liquidaciones y saldo",
}

type keysPage struct {
	Plan models.Plan
	// PerMinute is the plan's rate limit; zero without the API.
	PerMinute int
	// MaxKeys is how many active keys the plan allows.
	MaxKeys int
	Rows    []keyRow
	Form    *forms.Form
}

type keyRow struct {
	Key    *models.APIKey
	Scopes []named
	Store  string
	State  cell
	// Revocable means not revoked yet.
	Revocable bool
}

// named is a display name with its technical name.
type named struct{ Name, Technical string }

func (p *Pages) listKeys(v *Request) error {
	stores, err := p.Operators.Stores().List(v.Ctx(), v.Operator())
	if err != nil {
		return err
	}
	return p.showKeys(v, http.StatusOK, stores, keyForm(stores))
}

func (p *Pages) createKey(v *Request) error {
	stores, err := p.Operators.Stores().List(v.Ctx(), v.Operator())
	if err != nil {
		return err
	}
	form := keyForm(stores)
	return p.handle(v, form, func(in *jsonbody.Object) error {
		key, plain, err := p.Operators.CreateKey(v.Ctx(), v.Operator(), in)
		if err != nil {
			return err
		}
		return p.done(v, keysPath, "Clave nueva: "+key.Name, p.issued(key, plain)...)
	}, func(status int) error { return p.showKeys(v, status, stores, form) })
}

func (p *Pages) showKeys(v *Request, status int, stores []models.Store, form *forms.Form) error {
	keys, err := p.Operators.Keys(v.Ctx(), v.Operator())
	if err != nil {
		return err
	}
	plan := v.Operator().Plan
	page := keysPage{
		Plan: plan, PerMinute: plan.RequestsPerMinute(), MaxKeys: plan.ActiveKeys(), Rows: make([]keyRow, len(keys)), Form: form,
	}
	names, now := storeNames(stores), p.Clock.Now()
	for i := range keys {
		page.Rows[i] = keyRow{
			Key: &keys[i], Scopes: scopesOf(&keys[i]), Store: names.of(keys[i].StoreID), State: keyState(&keys[i], now),
			Revocable: keys[i].RevokedAt == nil,
		}
	}
	return p.show(v, status, "keys", "Claves API", page)
}

func keyForm(stores []models.Store) *forms.Form {
	scopes := make([]forms.Option, len(models.Scopes))
	for i, scope := range models.Scopes {
		scopes[i] = forms.Option{Value: string(scope), Label: scopeNames[scope] + " · " + string(scope)}
	}
	return &forms.Form{Action: keysPath, Submit: "Crear clave", Fields: []forms.Field{
		{Name: "name", Label: "Nombre", Kind: forms.Text, Required: true,
			Hint: "Para reconocerla: el sistema o la tienda que la usará."},
		{Name: "scopes", Label: "Permisos", Kind: forms.Checks, Required: true, Options: scopes},
		{
			Name: "store_id", Label: "Tienda", Kind: forms.Choice, Options: forms.StoreOptions(wholeOperator, stores, ""),
			Hint: "Con una tienda, la clave crea pedidos solo para ella y no ve los de las demás.",
		},
		{
			Name: "test", Label: "Clave de prueba", Kind: forms.Flag,
			Hint: "Sus pedidos avanzan solos, no aparecen en el panel y nadie los reparte. Para probar una integración.",
		},
		{Name: "expires_at", Label: "Vence", Kind: forms.Moment, Hint: "En blanco, no vence."},
	}}
}

func scopesOf(key *models.APIKey) []named {
	var scopes []named
	for _, scope := range models.SplitSpaced[models.Scope](key.Scopes) {
		scopes = append(scopes, named{scopeNames[scope], string(scope)})
	}
	return scopes
}

func keyState(key *models.APIKey, now time.Time) cell {
	switch {
	case key.RevokedAt != nil:
		return cell{Text: "Revocada", Style: "bad"}
	case !key.Usable(now):
		return cell{Text: "Vencida", Style: "quiet"}
	}
	return cell{Text: "Activa", Style: "good"}
}

// issued is a new key and, if its scopes allow one, a command that uses it.
func (p *Pages) issued(key *models.APIKey, plain string) []shownOnce {
	issued := []shownOnce{{ID: "new-key", Value: plain}}
	for _, try := range []struct {
		scope         models.Scope
		request, hint string
	}{
		{models.ScopeReadOrders, "'" + p.Config.BaseURL + "/v1/orders?limit=1'", "Responde con el último pedido que la clave puede ver."},
		{models.ScopeReadStores, "'" + p.Config.BaseURL + "/v1/stores'", "Responde con las tiendas que la clave puede ver."},
		{models.ScopeManageWebhooks, "'" + p.Config.BaseURL + "/v1/webhooks'", "Responde con los webhooks activos."},
		{models.ScopeWriteOrders, "'" + p.Config.BaseURL + "/v1/orders' -H 'Content-Type: application/json' -d '{}'",
			"Responde 400 con los campos que faltan: la clave funciona y no se crea nada."},
	} {
		if key.HasScope(try.scope) {
			command := "curl -H 'X-API-Key: " + plain + "' " + try.request
			return append(issued, shownOnce{ID: "try-key", Value: command, Label: "Para probarla:", Hint: try.hint})
		}
	}
	return issued
}

func (p *Pages) revokeKey(v *Request) error {
	id, err := pathID(v, operators.ErrKeyNotFound)
	if err != nil {
		return err
	}
	if err := p.Operators.RevokeKey(v.Ctx(), v.Operator(), id); err != nil {
		return err
	}
	return p.done(v, keysPath, "La clave quedó revocada: la API ya no la acepta.")
}

// wholeOperator is the store name of a key or a webhook without a store.
const wholeOperator = "Todo el operador"

// storeNaming maps stores to names.
type storeNaming map[uuid.UUID]string

func storeNames(stores []models.Store) storeNaming {
	names := storeNaming{}
	for _, store := range stores {
		names[store.ID] = store.Name
	}
	return names
}

func (names storeNaming) of(id *uuid.UUID) string {
	if id == nil {
		return wholeOperator
	}
	return names[*id]
}
