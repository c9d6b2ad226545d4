package operators

import (
	"context"
	"strings"

	"despacho/db"
	"despacho/internal/jsonbody"
	"despacho/internal/safehttp"
	"despacho/models"
)

// ChangeSettings changes an operator's name, logo, base price, whether stores see where a delivery
// photo was taken, and whether administrators need a second factor, from the next request on. The
// last one is for administrators to decide.
func (s *Service) ChangeSettings(ctx context.Context, who *db.SignedIn, in *jsonbody.Object) (*models.Operator, error) {
	if in.Has("require_second_factor") && !who.User.Administers() {
		return nil, ErrNotAllowed
	}
	var changed *models.Operator
	err := s.db.ChangeSettings(ctx, who.Operator.ID, func(tx *db.DB) error {
		var err error
		if changed, err = tx.Operator(ctx, who.Operator.ID); err != nil {
			return err
		}
		before := *changed
		readName(in, &changed.Name)
		if in.HasOrNull("logo_url") {
			changed.LogoURL = readLogo(in)
		}
		if in.HasOrNull("base_price") {
			changed.BasePrice = in.Money("base_price")
		}
		readFlag(in, "share_proof_location", &changed.ShareProofLocation)
		readFlag(in, "require_second_factor", &changed.RequireSecondFactor)
		if err := in.Err(); err != nil {
			return err
		}
		fields := db.ChangedColumns(&before, changed)
		changed.UpdatedAt = s.clock.Now()
		if err := tx.SaveOperatorSettings(ctx, changed); err != nil || len(fields) == 0 {
			return err
		}
		return s.audit(ctx, tx, changed.ID, models.AuditSettingsChanged, nil, strings.Join(fields, ", "))
	})
	return changed, err
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
