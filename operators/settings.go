package operators

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/internal/jsonbody"
	"despacho/internal/safehttp"
	"despacho/models"
)

// ChangeSettings changes an operator's name, logo, base price, whether stores see where a delivery
// photo was taken and customers the photo, and whether administrators need a second factor, from
// the next request on. The last one is for administrators to decide. check looks at the operator
// while it is locked, and refuses the change by an error; nil accepts every one.
func (s *Service) ChangeSettings(ctx context.Context, who *db.SignedIn, in *jsonbody.Object, check func(*models.Operator) error) (*models.Operator, error) {
	if in.Has("require_second_factor") && !who.User.Administers() {
		return nil, ErrNotAllowed
	}
	return s.changeOperator(ctx, who.Operator.ID, func(operator *models.Operator) error {
		if err := checkLocked(check, operator); err != nil {
			return err
		}
		readName(in, &operator.Name)
		if in.HasOrNull("logo_url") {
			link := readLogo(in)
			if link != nil {
				operator.LogoPhoto = nil
			}
			operator.LogoURL = link
		}
		if in.HasOrNull("base_price") {
			operator.BasePrice = in.Money("base_price")
		}
		readFlag(in, "share_proof_location", &operator.ShareProofLocation)
		readFlag(in, "share_proof_photo", &operator.ShareProofPhoto)
		readFlag(in, "require_second_factor", &operator.RequireSecondFactor)
		return in.Err()
	})
}

// changeOperator applies a change to what an operator manages itself, and records which fields
// changed.
func (s *Service) changeOperator(ctx context.Context, id uuid.UUID, apply func(*models.Operator) error) (*models.Operator, error) {
	var before models.Operator
	var changed *models.Operator
	err := s.db.ChangeSettings(ctx, id, func(tx *db.DB) error {
		var err error
		if changed, err = tx.Operator(ctx, id); err != nil {
			return err
		}
		before = *changed
		if err := apply(changed); err != nil {
			return err
		}
		fields := db.ChangedColumns(&before, changed)
		changed.UpdatedAt = s.clock.Now()
		if err := tx.SaveOperatorSettings(ctx, changed); err != nil || len(fields) == 0 {
			return err
		}
		return s.audit(ctx, tx, changed.ID, models.AuditSettingsChanged, nil, strings.Join(fields, ", "))
	})
	if err != nil {
		return nil, err
	}
	s.removeReplacedLogo(ctx, &before, changed)
	return changed, nil
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
