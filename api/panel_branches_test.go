package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// Exactly one branch is main, whatever the request says.
func TestPanelBranches_oneMain(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		operator, tenant := operatorDesk(t, s)
		main, other := tenant.Main.ID.String(), tenant.Other.ID.String()
		mains := func() []any {
			var ids []any
			for _, branch := range operator.list("/branches") {
				if branch["main"] == true {
					ids = append(ids, branch["id"])
				}
			}
			return ids
		}
		for _, refused := range []fields{{"main": false}, {"active": false}, {"main": false, "active": false}} {
			requireRefused(t, operator.patch("/branches/"+main, refused), http.StatusConflict, "main_branch_required")
		}
		requireRefused(t, operator.patch("/branches/"+other, fields{"main": true, "active": false}), http.StatusConflict, "main_branch_required")
		requireRefused(t, operator.post("/branches", fields{"name": "X", "main": true, "active": false}), http.StatusConflict, "main_branch_required")
		require.Equal(t, []any{main}, mains())

		require.Equal(t, true, operator.change("/branches/"+other, fields{"main": true})["main"])
		require.Equal(t, []any{other}, mains())
		require.Equal(t, other, created(t, s, tenant.Key).String("branch_id"), "the very next order goes to the new main branch")
		operator.change("/branches/"+main, fields{"active": false})
		third := operator.make("/branches", fields{"name": "Tercera", "main": true})
		require.Equal(t, []any{third}, mains())
		require.Equal(t, []any{"Tercera", "Otra", "Principal"}, column(operator.list("/branches"), "name"), "the main one first, then by name")
		require.Equal(t, third, created(t, s, tenant.Key).String("branch_id"))

		statuses := inParallel(t, 10, func(i int) apptest.Request {
			id := []string{other, third}[i%2]
			return apptest.Request{Method: "PATCH", Path: "/panel/api/branches/" + id, Token: operator.token, Body: fields{"main": true}}
		}, s)
		require.Equal(t, map[int]int{http.StatusOK: 10}, statuses)
		require.Len(t, mains(), 1)
	})
}

func TestPanelBranches(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		operator, tenant := operatorDesk(t, s)
		stranger, _ := operatorDesk(t, s)
		id := operator.make("/branches", fields{"name": "Almacén Surco"})
		require.Equal(t, id, created(t, s, tenant.Key, fields{"branch_id": id}).String("branch_id"))
		operator.change("/branches/"+id, fields{"active": false})
		requireWrongFields(t, postOrder(t, s, tenant.Key, fields{"branch_id": id}), "branch_id")

		operator.requireWrong(http.MethodPost, "/branches", "/branches", map[string]fields{"name": {}, "main": {"name": "A", "main": "no"}})
		operator.requireUnknown(http.MethodPatch, "/branches", stranger.make("/branches", fields{"name": "Ajena"}), "branch_not_found")
	})
}
