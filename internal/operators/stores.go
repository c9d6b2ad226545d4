package operators

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/internal/phone"
	"despacho/models"
)

// Stores are an operator's stores by name. An inactive store gets no new orders; existing ones
// continue.
func (s *Service) Stores() Rows[models.Store] {
	return Rows[models.Store]{
		service: s, patch: patchStore, errs: rowErrors{notFound: ErrStoreNotFound},
		order: models.CompareStores,
		begin: func(id uuid.UUID, operator *models.Operator, now time.Time) models.Store {
			return models.Store{ID: id, OperatorID: operator.ID, Active: true, CreatedAt: now}
		},
	}
}

func patchStore(ctx context.Context, tx *db.DB, operator *models.Operator, store *models.Store, in *jsonbody.Object) error {
	before := store.Name
	readName(in, &store.Name)
	readFlag(in, "active", &store.Active)
	readContacts(in, operator.CountryCode, store)
	readMoney(in, "attempt_fee", &store.AttemptFee)
	readMoney(in, "return_fee", &store.ReturnFee)
	if err := in.Err(); err != nil || store.Name == before {
		return err
	}
	others, err := listOwned[models.Store](ctx, tx, store.OperatorID)
	if err != nil {
		return err
	}
	for _, other := range others {
		if other.ID != store.ID && isSameName(other.Name, store.Name) {
			return ErrStoreNameTaken
		}
	}
	return nil
}

// readContacts reads how customers reach the store. What the request omits stays as it is, and null
// removes it.
func readContacts(in *jsonbody.Object, countryCode string, store *models.Store) {
	if in.HasOrNull("contact_phone") {
		store.ContactPhone = phone.ReadOptional(in, "contact_phone", countryCode)
	}
	if in.HasOrNull("contact_whatsapp") {
		store.ContactWhatsApp = phone.ReadOptional(in, "contact_whatsapp", countryCode)
	}
	if in.HasOrNull("contact_email") {
		store.ContactEmail = in.Text("contact_email", maxEmail)
		if store.ContactEmail != nil && !isEmail(*store.ContactEmail) {
			in.AddError("contact_email", "no es un correo válido")
		}
	}
}
