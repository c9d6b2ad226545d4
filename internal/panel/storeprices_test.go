package panel_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// What a store has agreed is added, changed and removed on its pages, and its next order costs it.
func TestStorePrices(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		cost := func() any {
			t.Helper()
			id, _ := create(t, s, tenant.KeyA, nil)
			return order(t, s, tenant, id).Data["shipping_cost"]
		}
		stores, path := "/panel/tiendas", "/panel/tiendas/"+tenant.StoreA.ID.String()+"/tarifas"
		require.Contains(t, v.read(stores).words(), "Las de todos")
		require.Contains(t, v.read(stores+"/"+tenant.StoreA.ID.String()).Text, `href="`+path+`"`)
		opened := v.read(path)
		require.Contains(t, opened.words(), "Tarifas de Tienda A")
		today := time.Now().In(tenant.Operator.TimeZone()).Format(time.DateOnly)
		require.Equal(t, today, opened.fieldsOf(t, path).Get("from_day"))

		refused := v.post(path, url.Values{"location_id": {"Cusco, Cusco (080101)"}, "price": {"mucho"}, "from_day": {"2026-05-01"}, "until_day": {"2026-04-01"}})
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
		require.Contains(t, refused.words(), "No es un lugar de su cobertura")
		require.Contains(t, refused.words(), "Debe ser un número.")
		require.Contains(t, refused.words(), "Debe ser el mismo día que el primero, o uno después.")
		require.Contains(t, refused.Text, `value="mucho"`)

		place := url.Values{"location_id": {"Miraflores, Lima (150122)"}, "price": {"7,50"}, "from_day": {"2026-01-01"}, "until_day": {""}}
		added := v.submit(path, place)
		require.Contains(t, plainSpaces.Replace(added.words()), "Miraflores, Lima (150122) S/ 7.50 01/01/2026 — Vigente")
		again := v.post(path, place)
		require.Equal(t, http.StatusUnprocessableEntity, again.Status)
		require.Contains(t, again.words(), "La tienda ya tiene otra tarifa para lo mismo en esos días.")
		v.submit(path, url.Values{"price": {"5"}, "from_day": {"2020-01-01"}, "until_day": {"2020-12-31"}})
		v.submit(path, url.Values{"price": {"6"}, "from_day": {"2090-01-01"}})
		words := plainSpaces.Replace(v.read(path).words())
		require.Contains(t, words, "Precio base S/ 5.00 01/01/2020 31/12/2020 Terminada")
		require.Contains(t, words, "Precio base S/ 6.00 01/01/2090 — Por venir")
		require.Contains(t, v.read(stores).words(), "3 propias")
		require.EqualValues(t, 7.5, cost())

		var row string
		for _, price := range apptest.RowsOf[models.StorePrice](t, tenant) {
			if price.LocationID != nil {
				row = "/panel/tarifas/" + price.ID.String()
			}
		}
		form := v.read(row).fieldsOf(t, row)
		require.Equal(t, "Miraflores, Lima (150122)", form.Get("location_id"))
		form.Set("price", "7")
		require.Contains(t, v.submit(row, form).words(), "Tarifa guardada.")
		require.EqualValues(t, 7, cost())
		quote := "/panel/cobertura?destino=150122&tienda=" + tenant.StoreA.ID.String()
		require.Contains(t, plainSpaces.Replace(v.read(quote).words()), "con el precio acordado con la tienda. Tamaño Precio M · Mediano (predeterminada) S/ 7.00")

		stranger := visit(t, s, s.NewTenant(t), nil)
		for _, theirs := range []string{path, row} {
			require.Equal(t, http.StatusNotFound, stranger.get(theirs).Status, theirs)
			require.Equal(t, http.StatusNotFound, stranger.post(theirs, place).Status, theirs)
		}
		require.Equal(t, http.StatusNotFound, stranger.post(row+"/quitar", nil).Status)
		require.Contains(t, v.submit(row+"/quitar", nil).words(), "Tarifa quitada.")
		require.Equal(t, http.StatusNotFound, v.get(row).Status)
		require.EqualValues(t, 9, cost())
	})
}

// A price for a place that is no longer covered is said to have no effect.
func TestStorePrices_ofAPlaceThatIsNotCovered(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		tenant.Change(t, &models.StorePrice{ID: uuid.New(), OperatorID: tenant.Operator.ID, StoreID: tenant.StoreB.ID, Price: 700,
			LocationID: &apptest.Cusco, FromDay: "2026-01-01", CreatedAt: tenant.Operator.CreatedAt})
		shown := visit(t, s, tenant, nil).read("/panel/tiendas/" + tenant.StoreB.ID.String() + "/tarifas").words()
		require.Contains(t, shown, "Sin efecto El lugar ya no está en la cobertura.")
	})
}

// A store's fees stand before those of the operator's rules, which are named where it has none.
func TestStores_fees(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v, path := visit(t, s, tenant, nil), "/panel/tiendas/"+tenant.StoreA.ID.String()
		v.submit("/panel/ajustes/entregas", url.Values{"attempt_fee": {"2"}, "delivery_days": {"1"}, "methods": {"cash"}})
		opened := v.read(path)
		require.Contains(t, plainSpaces.Replace(opened.words()), "En blanco, el de Entregas e intentos: S/ 2.00.")
		form := opened.sends(t, path)
		form.Set("attempt_fee", "0")
		form.Set("return_fee", "4,50")
		v.submit(path, form)
		kept := v.read(path).fieldsOf(t, path)
		require.Equal(t, []string{"0.00", "4.50"}, []string{kept.Get("attempt_fee"), kept.Get("return_fee")})
	})
}
