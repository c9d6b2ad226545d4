package db

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"despacho/models"
)

// SignedIn is a session's user and operator, with the requests that the user and all users of the
// operator made in this clock minute.
type SignedIn struct {
	SessionID uuid.UUID
	User      models.User     `gorm:"embedded;embeddedPrefix:user_"`
	Operator  models.Operator `gorm:"embedded;embeddedPrefix:op_"`
	// StoreActive is false for a user of an inactive store.
	StoreActive      bool
	UserRequests     int
	OperatorRequests int
}

// The hash of the password and the secret of the second factor are read only to check them.
var sessionUserColumns = tableColumns[models.User]("u", "user_", "password_hash", "totp_secret")

var sessionColumns = slices.Concat(
	[]column[SignedIn]{{"s.id AS session_id", func(s *SignedIn) any { return (*[16]byte)(&s.SessionID) }}},
	columnsOf(sessionUserColumns, func(s *SignedIn) *models.User { return &s.User }),
	columnsOf(operatorColumns, func(s *SignedIn) *models.Operator { return &s.Operator }),
	[]column[SignedIn]{{storeActive, func(s *SignedIn) any { return &s.StoreActive }}},
)

var findSession = "SELECT " + columnList(sessionColumns) + `
		FROM sessions s JOIN users u ON u.id = s.user_id JOIN operators o ON o.id = u.operator_id
		LEFT JOIN stores st ON st.id = u.store_id
		WHERE s.token_hash = ? AND s.expires_at > ? AND u.active`

// The user's window comes before the operator's in every statement, so that concurrent statements
// do not deadlock.
const countUserAndPanel = `INSERT INTO rate_windows (subject, minute, used) VALUES (?, ?, 1), (?, ?, 1)
		ON CONFLICT (subject, minute) DO UPDATE SET used = rate_windows.used + 1 RETURNING subject, used`

var findAndCountSession = numbered("WITH found AS (" + findSession + `), counted AS (
			INSERT INTO rate_windows (subject, minute, used)
			SELECT subject, ?, 1 FROM found
			CROSS JOIN LATERAL (VALUES (1, 'user:' || user_id), (2, 'panel:' || op_id)) AS windows (n, subject)
			ORDER BY n
			ON CONFLICT (subject, minute) DO UPDATE SET used = rate_windows.used + 1 RETURNING subject, used
		)
		SELECT found.*, (SELECT used FROM counted WHERE subject = 'user:' || user_id) AS user_requests,
			(SELECT used FROM counted WHERE subject = 'panel:' || op_id) AS operator_requests
		FROM found`)

// scope is what the user may see.
func (s *SignedIn) scope() OrderScope {
	return OrderScope{OperatorID: s.User.OperatorID, StoreID: s.User.StoreID}
}

// SessionByToken finds the user and the operator of an unexpired session, counts the request and
// reads the order that it asks for, if any. The order is nil if it does not exist or the user may
// not see it. On PostgreSQL all of it is one round trip.
func (d *DB) SessionByToken(
	ctx context.Context, tokenHash []byte, now time.Time, orderID uuid.UUID,
) (*SignedIn, *models.OrderView, error) {
	if d.canReadRows() {
		return d.findAndCountSession(ctx, tokenHash, now, orderID)
	}
	signedIn, err := d.countSession(ctx, tokenHash, now)
	if err != nil || orderID == uuid.Nil {
		return signedIn, nil, err
	}
	order, err := d.OrderView(ctx, signedIn.scope(), orderID)
	if IsNotFound(err) {
		return signedIn, nil, nil
	}
	return signedIn, order, err
}

// Session finds the user and the operator of an unexpired session, and counts nothing.
func (d *DB) Session(ctx context.Context, tokenHash []byte, now time.Time) (*SignedIn, error) {
	var signedIn SignedIn
	err := requireOneRow(d.with(ctx).Raw(findSession, tokenHash, now).Scan(&signedIn))
	return &signedIn, err
}

// countSession takes two statements, for SQLite, which has no data-modifying WITH.
func (d *DB) countSession(ctx context.Context, tokenHash []byte, now time.Time) (*SignedIn, error) {
	signedIn, err := d.Session(ctx, tokenHash, now)
	if err != nil {
		return nil, err
	}
	user, panel := "user:"+signedIn.User.ID.String(), "panel:"+signedIn.Operator.ID.String()
	var counted []models.RateWindow
	err = d.with(ctx).Raw(countUserAndPanel, user, Minute(now), panel, Minute(now)).Scan(&counted).Error
	for _, window := range counted {
		if window.Subject == user {
			signedIn.UserRequests = window.Used
		} else {
			signedIn.OperatorRequests = window.Used
		}
	}
	return signedIn, err
}

func (d *DB) findAndCountSession(
	ctx context.Context, tokenHash []byte, now time.Time, orderID uuid.UUID,
) (*SignedIn, *models.OrderView, error) {
	var row SignedIn
	var found *SignedIn
	var order *models.OrderView
	reads := []pgxStatement{{
		statement: findAndCountSession,
		arguments: []any{tokenHash, now, Minute(now)},
		targets:   append(scanTargets(sessionColumns, &row), &row.UserRequests, &row.OperatorRequests),
		onRow:     func() { found = &row },
	}}
	if orderID != uuid.Nil {
		reads = append(reads, readOrder(orderID, &order))
	}
	err := d.readRows(ctx, reads...)
	switch {
	case err != nil:
		return nil, nil, err
	case found == nil:
		return nil, nil, ErrNotFound
	}
	return found, found.scope().visible(order), nil
}
