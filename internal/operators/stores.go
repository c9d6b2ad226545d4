package operators

import (
	"context"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/internal/phone"
	"despacho/models"
)

// Stores lists an operator's stores by name, including inactive ones.
func (s *Service) Stores(ctx context.Context, operator *models.Operator) ([]models.Store, error) {
	return list(ctx, s, operator, models.CompareStores)
}

// CreateStore creates a store.
func (s *Service) CreateStore(ctx context.Context, operator *models.Operator, in *jsonbody.Object) (*models.Store, error) {
	store := &models.Store{ID: uuid.New(), OperatorID: operator.ID, Active: true, CreatedAt: s.clock.Now()}
	return create(ctx, s, operator, store, nil, patchStore(ctx, operator, in))
}

// ChangeStore changes a store. An inactive store gets no new orders; existing ones continue.
func (s *Service) ChangeStore(ctx context.Context, operator *models.Operator, id uuid.UUID, in *jsonbody.Object, check func(*models.Store) error) (*models.Store, error) {
	return change(ctx, s, operator, id, check, rowErrors{notFound: ErrStoreNotFound}, patchStore(ctx, operator, in))
}

func patchStore(ctx context.Context, operator *models.Operator, in *jsonbody.Object) patch[models.Store] {
	return func(tx *db.DB, store *models.Store) error {
		before := store.Name
		readName(in, &store.Name)
		readFlag(in, "active", &store.Active)
		readContacts(in, operator.CountryCode, store)
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
