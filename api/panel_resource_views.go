package api

import (
	"time"

	"github.com/google/uuid"

	"despacho/internal/money"
	"despacho/models"
)

type panelStoreView struct {
	identified
	Name   string `json:"name"`
	Active bool   `json:"active"`
	// The contacts are for customers.
	ContactPhone    *string `json:"contact_phone"`
	ContactWhatsApp *string `json:"contact_whatsapp"`
	ContactEmail    *string `json:"contact_email"`
	// The fees are charged instead of those of the operator's rules.
	AttemptFee *money.Cents `json:"attempt_fee"`
	ReturnFee  *money.Cents `json:"return_fee"`
	CreatedAt  time.Time    `json:"created_at"`
}

func viewOfStore(s *models.Store) panelStoreView {
	return panelStoreView{
		identified: identified{s.ID}, Name: s.Name, Active: s.Active,
		ContactPhone: s.ContactPhone, ContactWhatsApp: s.ContactWhatsApp, ContactEmail: s.ContactEmail,
		AttemptFee: s.AttemptFee, ReturnFee: s.ReturnFee,
		CreatedAt: s.CreatedAt.UTC(),
	}
}

type branchView struct {
	identified
	Name      string    `json:"name"`
	Main      bool      `json:"main"`
	Active    bool      `json:"active"`
	CreatedAt time.Time `json:"created_at"`
}

func viewOfBranch(b *models.Branch) branchView {
	return branchView{identified: identified{b.ID}, Name: b.Name, Main: b.Main, Active: b.Active, CreatedAt: b.CreatedAt.UTC()}
}

type sizeView struct {
	identified
	Code      string      `json:"code"`
	Name      string      `json:"name"`
	Surcharge money.Cents `json:"surcharge"`
	Default   bool        `json:"default"`
	Active    bool        `json:"active"`
	CreatedAt time.Time   `json:"created_at"`
}

func viewOfSize(s *models.Size) sizeView {
	return sizeView{
		identified: identified{s.ID}, Code: s.Code, Name: s.Name, Surcharge: s.Surcharge, Default: s.IsDefault, Active: s.Active,
		CreatedAt: s.CreatedAt.UTC(),
	}
}

type riskZoneView struct {
	identified
	Name       string     `json:"name"`
	LocationID *uuid.UUID `json:"location_id"`
	Words      []string   `json:"words"`
	Active     bool       `json:"active"`
	CreatedAt  time.Time  `json:"created_at"`
}

func viewOfRiskZone(z *models.RiskZone) riskZoneView {
	return riskZoneView{
		identified: identified{z.ID}, Name: z.Name, LocationID: z.LocationID, Words: z.WordList(), Active: z.Active,
		CreatedAt: z.CreatedAt.UTC(),
	}
}
