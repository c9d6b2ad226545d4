package operators

import (
	"context"
	"errors"

	"despacho/internal/apperror"
	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/internal/photos"
	"despacho/models"
)

// LogoField is the field of an uploaded logo.
const LogoField = "logo"

// ErrLogoTooLarge is the error for a file over the limit of photos.
var ErrLogoTooLarge = photos.ErrTooLarge.Saying("El logo supera el máximo de 8 MiB.")

// SetLogo stores an uploaded picture as the operator's logo, in place of the one it had.
func (s *Service) SetLogo(ctx context.Context, who *db.SignedIn, picture []byte) (*models.Operator, error) {
	if picture == nil {
		var missing apperror.Fields
		missing.Add(LogoField, jsonbody.MissingMessage)
		return nil, missing.Err()
	}
	name, err := s.photos.SaveLogo(ctx, picture)
	if err != nil {
		return nil, LogoError(err)
	}
	// If the change fails, the sweep of photos finds a file that nothing refers to.
	return s.changeOperator(ctx, who.Operator.ID, false, func(_ *db.DB, operator *models.Operator) error {
		operator.LogoURL, operator.LogoPhoto = nil, &name
		return nil
	})
}

// RemoveLogo removes the operator's logo, uploaded or linked.
func (s *Service) RemoveLogo(ctx context.Context, who *db.SignedIn) (*models.Operator, error) {
	return s.changeOperator(ctx, who.Operator.ID, false, func(_ *db.DB, operator *models.Operator) error {
		operator.LogoURL, operator.LogoPhoto = nil, nil
		return nil
	})
}

// removeReplacedLogo deletes the file of the logo that an operator had before. If it cannot be
// deleted now, the sweep of photos finds it.
func (s *Service) removeReplacedLogo(ctx context.Context, before, after *models.Operator) {
	if before.LogoPhoto != nil && (after.LogoPhoto == nil || *after.LogoPhoto != *before.LogoPhoto) {
		_ = s.photos.Discard(ctx, *before.LogoPhoto)
	}
}

// LogoError words an error about a photo for a logo.
func LogoError(err error) error {
	switch {
	case errors.Is(err, photos.ErrTooLarge):
		return ErrLogoTooLarge
	case errors.Is(err, photos.ErrNotStored):
		return apperror.From(err).Saying("El logo no se pudo guardar en este momento. Vuelva a intentarlo en unos segundos.")
	case errors.Is(err, photos.ErrTooManyPixels):
		return invalidLogo(err, "tiene demasiados píxeles: redúzcalo")
	case errors.Is(err, photos.ErrUnreadable):
		return invalidLogo(err, "está dañado, incompleto o es de un tipo que no se admite: guárdelo de nuevo")
	case errors.Is(err, photos.ErrNotPhoto):
		return invalidLogo(err, "debe ser una imagen JPEG, PNG o WebP")
	}
	return err
}

func invalidLogo(err error, reason string) error {
	worded := apperror.From(err).Saying("El logo " + reason + ".")
	worded.Fields = []apperror.Field{{Field: LogoField, Message: reason}}
	return worded
}
