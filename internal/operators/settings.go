package operators

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/internal/safehttp"
	"despacho/models"
)

// ChangeSettings changes an operator's name, logo, base price, whether stores see where a delivery
// photo was taken and customers the photo, the rules of attempts and deliveries, and whether
// administrators need a second factor, from the next request on. The last one is for administrators
// to decide. The name is no other operator's, as at a creation. check looks at the operator while
// it is locked, and refuses the change by an error; nil accepts every one.
func (s *Service) ChangeSettings(
	ctx context.Context, who *db.SignedIn, in *jsonbody.Object, check func(*models.Operator) error,
) (*models.Operator, error) {
	if in.Has("require_second_factor") && !who.User.Administers() {
		return nil, ErrNotAllowed
	}
	return s.changeOperator(ctx, who.Operator.ID, in.Has("name"), func(tx *db.DB, operator *models.Operator) error {
		if err := checkLocked(check, operator); err != nil {
			return err
		}
		if err := rename(ctx, tx, in, operator); err != nil {
			return err
		}
		if in.HasOrNull("logo_url") {
			link := readLogo(in)
			if link != nil {
				operator.LogoPhoto = nil
			}
			operator.LogoURL = link
		}
		readMoney(in, "base_price", &operator.BasePrice)
		readFlag(in, "share_proof_location", &operator.ShareProofLocation)
		readFlag(in, "share_proof_photo", &operator.ShareProofPhoto)
		readFlag(in, "require_second_factor", &operator.RequireSecondFactor)
		readRules(in, &operator.Rules)
		return in.Err()
	})
}

// rename reads another name of an operator.
func rename(ctx context.Context, tx *db.DB, in *jsonbody.Object, operator *models.Operator) error {
	before := operator.Name
	readName(in, &operator.Name)
	if operator.Name == before {
		return nil
	}
	named, err := operatorNamed(ctx, tx, operator.Name)
	if err == nil && named != nil && named.ID != operator.ID {
		in.AddError("name", "ya es el nombre de otro operador: escriba otro")
	}
	return err
}

// changeOperator applies a change to what an operator manages itself, and records which fields
// changed. A change that may give the operator another name locks the names before the operator's
// row: the other way round two of them would wait for each other's row for ever.
func (s *Service) changeOperator(
	ctx context.Context, id uuid.UUID, renames bool, apply func(*db.DB, *models.Operator) error,
) (*models.Operator, error) {
	var before models.Operator
	var changed *models.Operator
	change := func(tx *db.DB) error {
		var err error
		if changed, err = tx.Operator(ctx, id); err != nil {
			return err
		}
		before = *changed
		if err := apply(tx, changed); err != nil {
			return err
		}
		fields := db.ChangedColumns(&before, changed)
		changed.UpdatedAt = s.clock.Now()
		if err := saveSettings(ctx, tx, changed); err != nil || len(fields) == 0 {
			return err
		}
		return s.audit(ctx, tx, changed.ID, models.AuditSettingsChanged, nil, strings.Join(fields, ", "))
	}
	err := s.db.InTx(ctx, func(tx *db.DB) error {
		if renames {
			if err := lockNames(ctx, tx); err != nil {
				return err
			}
		}
		return tx.ChangeSettings(ctx, id, change)
	})
	if err != nil {
		return nil, err
	}
	s.removeReplacedLogo(ctx, &before, changed)
	return changed, nil
}

// saveSettings writes what an operator manages itself.
func saveSettings(ctx context.Context, tx *db.DB, operator *models.Operator) error {
	return tx.Query(ctx).Model(&models.Operator{}).Where("id = ?", operator.ID).
		Select(
			"name", "logo_url", "logo_photo", "base_price_cents", "share_proof_location", "share_proof_photo",
			"require_second_factor", "rules",
			"updated_at",
		).UpdateColumns(operator).Error
}

// readLogo reads the URL of an image that customers' browsers load.
func readLogo(in *jsonbody.Object) *string {
	address := in.Text("logo_url", safehttp.MaxURLLength)
	if address == nil {
		return nil
	}
	if _, err := safehttp.CheckURL(*address, nil); err != nil {
		in.AddError("logo_url", "debe ser una dirección pública que empiece con https://")
	}
	return address
}
