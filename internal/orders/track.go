package orders

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/money"
	"despacho/models"
)

// Tracked is the data of the public tracking page.
type Tracked struct {
	ID        uuid.UUID
	GuideCode string
	Status    models.Status
	Substatus *models.Substatus
	// Attempts are those that failed, NextAttemptOn is the day of the next one, and DecisionDeadline
	// until when somebody may decide about it.
	Attempts         models.Attempts `gorm:"type:text"`
	NextAttemptOn    *string
	DecisionDeadline *time.Time
	Rules            models.Rules
	OperatorID       uuid.UUID
	SuspendedAt      *time.Time

	Product      string
	OperatorName string
	LogoURL      *string `gorm:"column:logo_url"`
	LogoPhoto    *string
	Timezone     string
	// StoreName is nil for the operator's own order, and the contacts are nil if they are not set.
	StoreName     *string
	StorePhone    *string
	StoreWhatsApp *string `gorm:"column:store_whatsapp"`
	StoreEmail    *string
	// ProofPhoto is the photo of the delivery, which may be shown if ShareProofPhoto is set.
	ProofPhoto      *string
	ShareProofPhoto bool
	AmountToCollect money.Cents `gorm:"column:amount_to_collect_cents"`
	Currency        string
	Test            bool
	// Steps are the moves that hold, oldest first.
	Steps []Step `gorm:"-"`
}

// Step is a move of an order as everybody may know it who has its guide code.
type Step struct {
	Type   string
	Status models.Status
	At     time.Time
	// Reason is why an attempt failed, On the day for which another one was planned; both are empty
	// for other moves, and after the recipient's data was erased.
	Reason models.FailureReason
	On     string
	// TimedOut means that the order was cancelled by the timer: it can still be received.
	TimedOut bool
}

// stepLabels are the words of those steps that are not a change of the status.
var stepLabels = map[string]string{
	string(models.MoveFail): "No se pudo entregar", string(models.MoveRetry): "Se intentará otra vez",
	string(models.MoveReturn): "Vuelve a la tienda", string(models.MoveHandBack): "Devuelto a la tienda",
}

// Label is the step in words.
func (s Step) Label() string { return cmp.Or(stepLabels[s.Type], s.Status.Label()) }

// stepsOf are the moves of an order without those that were taken back: they are no facts.
func stepsOf(moves []models.TimelineEntry) []Step {
	steps := make([]Step, 0, len(moves))
	for _, move := range moves {
		if move.Type == string(models.MoveUndo) {
			steps = steps[:max(len(steps)-1, 0)]
			continue
		}
		step := Step{Type: move.Type, Status: move.Status, At: happenedAt(move, steps)}
		switch models.Move(move.Type) {
		case models.MoveFail:
			step.Reason = models.FailureReason(orEmpty(move.Detail))
		case models.MoveRetry:
			step.On = orEmpty(move.Detail)
		}
		step.TimedOut = models.State{Status: move.Status, CancelledBy: models.Actor(move.By)}.Revivable()
		steps = append(steps, step)
	}
	return steps
}

// happenedAt is when a move was made, which the service may have heard later; never before the step
// that came before it.
func happenedAt(move models.TimelineEntry, before []Step) time.Time {
	at := move.At
	if move.OccurredAt != nil {
		at = *move.OccurredAt
	}
	if last := len(before) - 1; last >= 0 && at.Before(before[last].At) {
		return before[last].At
	}
	return at
}

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// PINOf is the DeliveryPIN of the order; empty if none is needed.
func (s *Service) PINOf(tracked *Tracked) string {
	pin, _ := s.DeliveryPIN(&models.Order{ID: tracked.ID, Status: tracked.Status, AmountToCollect: tracked.AmountToCollect},
		tracked.Rules)
	return pin
}

// Logo is the address of the operator's logo, as Operator.Logo.
func (t *Tracked) Logo(baseURL string) *string {
	return (&models.Operator{LogoURL: t.LogoURL, LogoPhoto: t.LogoPhoto}).Logo(baseURL)
}

// TimeZone is the operator's time zone.
func (t *Tracked) TimeZone() *time.Location {
	return (&models.Operator{Timezone: t.Timezone}).TimeZone()
}

// Track finds an order by its canonical guide code.
func (s *Service) Track(ctx context.Context, guideCode string) (*Tracked, error) {
	var tracked Tracked
	err := s.db.Query(ctx).Table("orders").
		Select("orders.id, orders.guide_code, orders.status, orders.substatus, orders.attempts, orders.next_attempt_on, "+
			"orders.decision_deadline, orders.operator_id, operators.rules, operators.suspended_at, "+
			"orders.product, operators.name AS operator_name, operators.logo_url, operators.logo_photo, operators.timezone, "+
			"stores.name AS store_name, stores.contact_phone AS store_phone, stores.contact_whatsapp AS store_whatsapp, stores.contact_email AS store_email, "+
			"orders.proof_photo, operators.share_proof_photo, orders.amount_to_collect_cents, orders.currency, orders.test").
		Joins("JOIN operators ON operators.id = orders.operator_id").Joins("LEFT JOIN stores ON stores.id = orders.store_id").
		Where("orders.guide_code = ?", guideCode).Take(&tracked).Error
	if db.IsNotFound(err) {
		return nil, ErrOrderNotFound
	}
	if err != nil {
		return nil, err
	}
	moves, err := readMoves(ctx, s.db, tracked.ID)
	tracked.Steps = stepsOf(moves)
	return &tracked, err
}
