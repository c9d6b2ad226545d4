package models

import "slices"

// Grant is work that an administrator lets a user of the operator do. Without any the user reads
// what everybody reads.
type Grant string

// The grants. Administrators have all of them.
const (
	GrantCounter  Grant = "counter"
	GrantDispatch Grant = "dispatch"
	GrantCash     Grant = "cash"
	GrantSettings Grant = "settings"
)

// Grants lists every grant.
var Grants = []Grant{GrantCounter, GrantDispatch, GrantCash, GrantSettings}

// NewUserGrants are the grants of a user for whom nobody has chosen any.
var NewUserGrants = []Grant{GrantCounter}

// Label is the grant in the words of the panel.
func (g Grant) Label() string {
	return map[Grant]string{
		GrantCounter: "Recepción", GrantDispatch: "Despacho", GrantCash: "Caja", GrantSettings: "Configuración",
	}[g]
}

// Permission says who may use a part of the panel.
type Permission struct {
	// OperatorOnly excludes the users of stores.
	OperatorOnly bool
	// AdminOnly allows only the operator's administrators.
	AdminOnly bool
	// Needs are the grants of which a user of the operator needs one. The users of stores, who have
	// none, need none.
	Needs []Grant
	// Writes are refused while the operator is suspended; reads are not.
	Writes bool
	// OwnAccount is what a user needs to protect the account: it is allowed while the operator is
	// suspended, while the user's store is inactive, and before a required second factor is set up.
	OwnAccount bool
}

// The permissions of the panel. What ends in Revoke takes access away, which a suspended operator
// may still do.
var (
	OwnAccount   = Permission{OwnAccount: true}
	AnyUser      = Permission{}
	OperatorRead = Permission{OperatorOnly: true}

	// NewOrderRead and NewOrderWrite create orders and print their labels.
	NewOrderRead  = Permission{Needs: []Grant{GrantCounter, GrantDispatch}}
	NewOrderWrite = NewOrderRead.writing()
	// OrderWrite corrects orders, cancels them and decides about them.
	OrderWrite   = Permission{Needs: []Grant{GrantDispatch}, Writes: true}
	WebhookRead  = Permission{Needs: []Grant{GrantSettings}}
	WebhookWrite = WebhookRead.writing()

	// CounterRead and CounterWrite receive packages and hand returns back.
	CounterRead  = Permission{OperatorOnly: true, Needs: []Grant{GrantCounter}}
	CounterWrite = CounterRead.writing()
	// DispatchRead and DispatchWrite give packages to riders and record what became of them.
	DispatchRead   = Permission{OperatorOnly: true, Needs: []Grant{GrantDispatch}}
	DispatchWrite  = DispatchRead.writing()
	DispatchRevoke = DispatchRead
	// CashRead and CashWrite are about the money that was collected.
	CashRead  = Permission{OperatorOnly: true, Needs: []Grant{GrantCash}}
	CashWrite = CashRead.writing()
	// SettlementRead opens the settlements of stores, of which the users of a store see their own.
	SettlementRead = Permission{Needs: []Grant{GrantCash}}
	// SettingsRead and SettingsWrite are about what the operator sets up.
	SettingsRead   = Permission{OperatorOnly: true, Needs: []Grant{GrantSettings}}
	SettingsWrite  = SettingsRead.writing()
	SettingsRevoke = SettingsRead
	// RiderRead opens the riders, whom SettingsWrite changes and whose phones DispatchWrite links.
	RiderRead = Permission{OperatorOnly: true, Needs: []Grant{GrantSettings, GrantDispatch}}

	AdminRead   = Permission{AdminOnly: true}
	AdminWrite  = AdminRead.writing()
	AdminRevoke = AdminRead
)

func (p Permission) writing() Permission {
	p.Writes = true
	return p
}

// Allows reports whether the user has the permission. It does not check whether the operator is
// suspended.
func (p Permission) Allows(u *User) bool {
	switch {
	case p.AdminOnly:
		return u.Administers()
	case u.Role == RoleStore:
		return !p.OperatorOnly
	}
	return len(p.Needs) == 0 || slices.ContainsFunc(p.Needs, u.HasGrant)
}
