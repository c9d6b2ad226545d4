package orders

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Contract 2.2, recipient_phone: E.164; without a country code it is canonicalized with the
// operator's country.
func TestReadNewOrder_recipientPhone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ country, sent, stored string }{
		{"PE", "987654321", "+51987654321"},
		{"PE", "987 654 321", "+51987654321"},
		{"PE", "987-654-321", "+51987654321"},
		{"PE", "987.654.321", "+51987654321"},
		{"PE", "(987) 654321", "+51987654321"},
		{"PE", "987\u00a0654\u00a0321", "+51987654321"},
		{"PE", "+51987654321", "+51987654321"},
		{"PE", "+51 987 654 321", "+51987654321"},
		{"PE", "51987654321", "+51987654321"},
		{"PE", "0051 987654321", "+51987654321"},
		{"PE", "01 234 5678", "+5112345678"},
		{"PE", "(084) 234567", "+5184234567"},
		{"PE", "+56 9 6123 4567", "+56961234567"},
		{"PE", "+1 212 555 2368", "+12125552368"},
		{"PE", "+34 612 34 56 78", "+34612345678"},
		{"CL", "961234567", "+56961234567"},
		{"CL", "+51 987 654 321", "+51987654321"},
		{"CO", "301 234 5678", "+573012345678"},
		{"MX", "55 1234 5678", "+525512345678"},
	} {
		caller := peruvianCaller(nil)
		caller.Operator.CountryCode = c.country
		order, err := read(t, caller, "", c.sent)
		require.NoError(t, err, "%s in %s", c.sent, c.country)
		require.Equal(t, c.stored, order.RecipientPhone)
	}
	for _, wrong := range []string{
		"", "0", "12345", "98765432", "9876543210", "hola", "98765432l", "987654321 ext 5", "987654321 x5", "tel:+51987654321", "+51 987 654", "+51",
		"+999 123456789", "+0000000000", "+51 +51 987654321", "987654321/987654322", "987654321;phone-context=+51", "９８７６５４３２１", "0-800-FLORES", "---", "+",
	} {
		_, err := read(t, peruvianCaller(nil), "", wrong)
		require.Equal(t, []string{"recipient_phone"}, wrongFields(err), wrong)
	}
}
