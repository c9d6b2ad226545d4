package operators

import (
	"context"
	"strings"

	"despacho/db"
	"despacho/internal/jsonbody"
	"despacho/internal/safehttp"
	"despacho/models"
)

// ChangeSettings changes an operator's name, logo, base price and whether stores see where a
// delivery photo was taken, from the next request on.
func (s *Service) ChangeSettings(ctx context.Context, operator *models.Operator, in *jsonbody.Object) (*models.Operator, error) {
	var changed *models.Operator
	err := s.db.ChangeSettings(ctx, operator.ID, func(tx *db.DB) error {
		var err error
		if changed, err = tx.Operator(ctx, operator.ID); err != nil {
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
		if err := in.Err(); err != nil {
			return err
		}
		fields := db.ChangedColumns(&before, changed)
		changed.UpdatedAt = s.clock.Now()
		if err := tx.SaveOperatorSettings(ctx, changed); err != nil || len(fields) == 0 {
			return err
		}
		return s.audit(ctx, tx, operator.ID, models.AuditSettingsChanged, nil, strings.Join(fields, ", "))
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
