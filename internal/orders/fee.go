package orders

import "despacho/internal/money"

// fee is what a store pays for something: its own fee, or else the operator's; nil is none.
func fee(ofStore, ofOperator *money.Cents) money.Cents {
	switch {
	case ofStore != nil:
		return *ofStore
	case ofOperator != nil:
		return *ofOperator
	}
	return 0
}
