package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

func TestPanelRiders(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		operator, tenant := operatorDesk(t, s)
		stranger, _ := operatorDesk(t, s)
		id := operator.make("/riders", fields{"name": "Ángel Ríos", "phone": "987 111 222"})
		require.Equal(t, "+51987111222", operator.find("/riders", id)["phone"], "without a country code it is of the operator's country")
		require.Equal(t, "+56961234567", operator.change("/riders/"+id, fields{"phone": "+56 9 6123 4567"})["phone"])
		require.Equal(t, []any{"Ángel Ríos", "Carlos Quispe", "María Huamán"}, column(operator.list("/riders"), "name"))

		operator.requireWrong(http.MethodPost, "/riders", "/riders", map[string]fields{
			"name": {"phone": "987111222"}, "phone": {"name": "A", "phone": "123"}, "active": {"name": "A", "phone": "987111222", "active": 0},
		})
		operator.requireWrong(http.MethodPatch, "/riders/"+id, "/riders", map[string]fields{"phone": {"phone": "hola"}, "name": {"name": ""}})
		operator.requireUnknown(http.MethodPatch, "/riders", stranger.make("/riders", fields{"name": "Ajeno", "phone": "987111222"}), "rider_not_found")

		order, another := s.CreateOrder(t, tenant.Key), s.CreateOrder(t, tenant.Key)
		panelMove(t, s, operator.token, order, "receive", nil, http.StatusOK)
		panelMove(t, s, operator.token, another, "receive", nil, http.StatusOK)
		panelMove(t, s, operator.token, another, "assign", fields{"rider_id": id}, http.StatusOK)
		operator.change("/riders/"+id, fields{"active": false})
		panelMove(t, s, operator.token, order, "assign", fields{"rider_id": id}, http.StatusBadRequest)
		operator.change("/riders/"+id, fields{"active": true})
		panelMove(t, s, operator.token, order, "assign", fields{"rider_id": id}, http.StatusOK)
	})
}

func TestPanelRiders_phoneOfTheOperatorsCountry(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t, func(o *models.Operator) { o.CountryCode = "CL" })
		operator := desk{t, s, tenant.SignIn(t, nil)}
		id := operator.make("/riders", fields{"name": "Pedro", "phone": "9 6123 4567"})
		require.Equal(t, "+56961234567", operator.find("/riders", id)["phone"])
	})
}
