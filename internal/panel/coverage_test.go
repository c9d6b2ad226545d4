package panel_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
	"golang.org/x/text/encoding/charmap"

	"despacho/internal/catalog"
	"despacho/models"
	"despacho/test/apptest"
)

// coverageOf is what a tenant covers, by place.
func coverageOf(t *testing.T, s *apptest.Service, tenant *apptest.Tenant) map[uuid.UUID]models.Coverage {
	t.Helper()
	rows := apptest.RowsOf[models.Coverage](t, tenant)
	covered := map[uuid.UUID]models.Coverage{}
	for _, row := range rows {
		covered[row.LocationID] = row
	}
	return covered
}

// shipping is what an order to a place costs, or 0 where it is refused.
func shipping(t *testing.T, s *apptest.Service, tenant *apptest.Tenant, place uuid.UUID) float64 {
	t.Helper()
	answer := s.Do(t, apptest.Request{Method: "POST", Path: "/v1/orders", Key: tenant.Key, Body: apptest.Order(map[string]any{"location_id": place})})
	if answer.Status != http.StatusCreated {
		require.Equal(t, http.StatusUnprocessableEntity, answer.Status, answer.Text)
		return 0
	}
	return answer.Data["shipping_cost"].(float64)
}

func TestCoverage_rowByRow(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		const path = "/panel/cobertura"

		refused := v.post(path, url.Values{"location_id": {"San"}, "price": {"diez"}})
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
		require.Contains(t, refused.words(), "Elija una ubicación de la lista.")
		require.Contains(t, refused.Text, `value="diez"`)
		require.Contains(t, v.post(path, url.Values{"location_id": {""}}).words(), "Es obligatorio.")
		require.Contains(t, v.post(path, url.Values{"location_id": {"150122"}}).words(), "Esa ubicación ya está en la cobertura")

		require.Zero(t, shipping(t, s, tenant, apptest.Cusco))
		require.Contains(t, v.submit(path, url.Values{"location_id": {"Cusco, Cusco (080101)"}, "price": {"30.50"}}).words(), "Lugar agregado")
		require.EqualValues(t, 30.5, shipping(t, s, tenant, apptest.Cusco))

		row := path + "/" + coverageOf(t, s, tenant)[apptest.Cusco].ID.String()
		refused = v.post(row+"?q=cusco", url.Values{"price": {"mucho"}})
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
		require.Contains(t, refused.words(), "Debe ser un número.")
		require.Contains(t, refused.Text, `value="mucho"`)
		saved := v.post(row+"?q=cusco", url.Values{"price": {"31"}})
		require.Equal(t, path+"?q=cusco", saved.Location, "back to where it was")
		require.EqualValues(t, 31, shipping(t, s, tenant, apptest.Cusco))
		v.submit(row, url.Values{"price": {" "}})
		require.EqualValues(t, 12, shipping(t, s, tenant, apptest.Cusco), "the base price")

		v.submit(row+"/quitar", nil)
		require.Zero(t, shipping(t, s, tenant, apptest.Cusco))
		require.Equal(t, http.StatusNotFound, v.post(row+"/quitar", nil).Status)
	})
}

// placeNames are the names in the list, in their order.
var placeNames = regexp.MustCompile(`<td class="place"><strong>([^<]+)</strong>`)

func (p *page) places() (names []string) {
	for _, match := range placeNames.FindAllStringSubmatch(p.Text, -1) {
		names = append(names, html.UnescapeString(match[1]))
	}
	return names
}

func TestCoverage_sortedSearchedAndPaged(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		for _, place := range []uuid.UUID{apptest.Surco, apptest.Cusco, catalog.CountryID("PE"), catalog.CityID("PE", "0801"), catalog.DistrictID("PE", "150105")} {
			tenant.Change(t, &models.Coverage{ID: uuid.New(), OperatorID: tenant.Operator.ID, LocationID: place, CreatedAt: time.Now().UTC()})
		}
		require.Equal(t, []string{"Perú", "Cusco", "Cusco", "Lima", "Breña", "Miraflores", "Santiago de Surco"}, v.read("/panel/cobertura").places())
		require.Equal(t, []string{"Breña"}, v.read("/panel/cobertura?q=brena").places())
		require.Equal(t, []string{"Miraflores"}, v.read("/panel/cobertura?q=LIMA+miraflores").places())
		require.Equal(t, []string{"Cusco"}, v.read("/panel/cobertura?q=080101").places())
		hostile := v.read("/panel/cobertura?" + url.Values{"q": {`"><script>`}, "destino": {`"><script>`}}.Encode())
		require.NotContains(t, hostile.Text, "<script>")
		require.Empty(t, hostile.places())

		load(t, v, fileOfAll(func(int) string { return "" }), false)
		first := v.read("/panel/cobertura")
		require.Len(t, first.places(), 50)
		require.Contains(t, first.words(), "1–50 de ")
		second := v.read("/panel/cobertura?pagina=2")
		require.Len(t, second.places(), 50)
		require.NotEqual(t, first.places(), second.places())
	})
}

// The question what sending costs is answered by the rule that orders are priced by.
func TestCoverage_quote(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		quote := func(place string) string {
			t.Helper()
			return v.read("/panel/cobertura?" + url.Values{"destino": {place}}.Encode()).words()
		}
		require.Contains(t, quote("Santiago de Surco"), "Cubierto Por la fila de Lima, al precio base.")
		require.Contains(t, quote("150140"), "M · Mediano (predeterminada) S/ 12.00 S · Pequeño S/ 12.00 L · Grande S/ 17.50")
		require.Contains(t, quote("Miraflores, Lima (150122)"), "Por su propia fila, con precio propio.")
		require.Contains(t, quote("080101"), "No cubierto")
		require.Contains(t, quote("Narnia"), "No hay ninguna ubicación con ese nombre.")
		require.Contains(t, quote(uuid.NewString()), "No hay ninguna ubicación con ese nombre.")
		require.Contains(t, quote("miraflores"), "Elija una ubicación de la lista.")
	})
}

// load uploads a file and applies its preview; it returns the page of the redirect.
func load(t *testing.T, v *visitor, file string, remove bool) *page {
	t.Helper()
	choices := url.Values{}
	if remove {
		choices.Set("quitar", "true")
	}
	preview := v.upload("/panel/cobertura/carga", choices, "archivo", "cobertura.csv", []byte(file))
	require.Equal(t, http.StatusOK, preview.Status, preview.words())
	return v.submit("/panel/cobertura/carga/aplicar", preview.fieldsOf(t, "/panel/cobertura/carga/aplicar"))
}

// Only the changes that were shown are applied: a place that somebody else has covered after the
// preview is not removed with those that the file does not name.
func TestCoverageFile_anOldPreviewIsShownAgain(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		const apply = "/panel/cobertura/carga/aplicar"
		preview := v.upload("/panel/cobertura/carga", url.Values{"quitar": {"true"}}, "archivo", "c.csv", []byte("ubigeo,precio\n150122,10\n"))
		require.NotContains(t, preview.words(), "Cusco")
		v.submit("/panel/cobertura", url.Values{"location_id": {apptest.Cusco.String()}, "price": {"30"}})
		before := coverageOf(t, s, tenant)

		again := v.post(apply, preview.fieldsOf(t, apply))
		require.Equal(t, http.StatusUnprocessableEntity, again.Status)
		require.Contains(t, again.words(), "alguien cambió la cobertura desde que usted la revisó")
		require.Contains(t, again.words(), "Cusco, Cusco (080101) Se quita")
		require.Equal(t, before, coverageOf(t, s, tenant))

		require.Contains(t, v.submit(apply, again.fieldsOf(t, apply)).words(), "2 quitados.")
		require.Len(t, coverageOf(t, s, tenant), 1)
	})
}

// fileOfAll names every district of the country.
func fileOfAll(price func(i int) string) string {
	file := "ubigeo,precio\n"
	_, places := catalog.Embedded()
	for i, place := range places {
		if place.Type == catalog.TypeDistrict {
			file += place.Ubigeo + "," + price(i) + "\n"
		}
	}
	return file
}

func TestCoverageFile_changesPricesAllAtOnce(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		before := coverageOf(t, s, tenant)

		windows, err := charmap.Windows1252.NewEncoder().String("Ubigeo;Lugar;Ciudad;PRECIO\r\n150122;;;9,50\r\n80101;;;30\r\n;Breña;lima;\r\n\r\n;Perú;;\r\n")
		require.NoError(t, err)
		wrong := v.upload("/panel/cobertura/carga", nil, "archivo", "c.csv", []byte(windows))
		require.Equal(t, http.StatusUnprocessableEntity, wrong.Status)
		require.Contains(t, wrong.words(), "6 No hay ningún lugar «Perú».", "the row as the spreadsheet counts it")
		require.Equal(t, before, coverageOf(t, s, tenant))

		words := load(t, v, strings.Replace(windows, ";Per\xfa;;\r\n", "", 1), false).words()
		require.Contains(t, words, "Cobertura cargada: 2 agregados, 1 cambiado, 0 sin cambio.")
		after := coverageOf(t, s, tenant)
		require.Equal(t, before[apptest.Lima], after[apptest.Lima], "what the file does not name stays")
		require.Equal(t, before[apptest.Miraflores].ID, after[apptest.Miraflores].ID)
		require.EqualValues(t, 9.5, shipping(t, s, tenant, apptest.Miraflores))
		require.EqualValues(t, 30, shipping(t, s, tenant, apptest.Cusco), "a spreadsheet dropped the zero of 080101")

		words = load(t, v, "ubigeo\tprecio\n150122\t9.5\n", true).words()
		require.Contains(t, words, "0 agregados, 0 cambiados, 1 sin cambio, 3 quitados.")
		require.Len(t, coverageOf(t, s, tenant), 1)
		require.Zero(t, shipping(t, s, tenant, apptest.Surco))
		require.Contains(t, v.upload("/panel/cobertura/carga", nil, "archivo", "c.csv", []byte("ubigeo,precio\n150122,9.50")).words(), "no hay nada que cambiar")
	})
}

// What is downloaded can be uploaded again, and changes nothing.
func TestCoverageFile_downloadCanBeUploaded(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		v.submit("/panel/cobertura", url.Values{"location_id": {catalog.CountryID("PE").String()}, "price": {"40"}})
		file := v.read("/panel/cobertura.csv")
		require.Equal(t, "text/csv; charset=utf-8", file.Header.Get("Content-Type"))
		require.Equal(t, `attachment; filename="cobertura.csv"`, file.Header.Get("Content-Disposition"))
		require.Equal(t, "\ufeffubigeo;lugar;ciudad;departamento;id;precio\r\n"+
			";Perú;;;"+catalog.CountryID("PE").String()+";40.00\r\n"+
			";Lima;Lima;Lima;"+apptest.Lima.String()+";\r\n"+
			"150122;Miraflores;Lima;Lima;"+apptest.Miraflores.String()+";9.00\r\n", file.Text)
		again := v.upload("/panel/cobertura/carga", url.Values{"quitar": {"true"}}, "archivo", "c.csv", []byte(file.Text))
		require.Contains(t, again.words(), "3 quedan igual 0 se quitan")

		one := []byte("ubigeo;precio\r\n150122;9.50\r\n150140;12\r\n")
		again = v.upload("/panel/cobertura/carga", nil, "archivo", "c.csv", one)
		require.Contains(t, again.words(), "1 se agrega 1 cambia de precio 0 quedan igual")
		require.Contains(t, load(t, v, string(one), false).words(), "1 agregado, 1 cambiado, 0 sin cambio.")
		kept := "ubigeo;id;precio\r\n;" + catalog.CountryID("PE").String() + ";40\r\n150122;;9.50\r\n150140;;12\r\n"
		require.Contains(t, load(t, v, kept, true).words(), "0 agregados, 0 cambiados, 3 sin cambio, 1 quitado.")
	})
}

func TestCoverageFile_reportsErrors(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		before := coverageOf(t, s, tenant)
		for complaint, file := range map[string]string{
			"Elija un archivo.":                      "",
			"El libro de Excel no se puede leer.":    "PK\x03\x04",
			"debe tener la columna precio":           "ubigeo,costo\n150122,5\n",
			"El archivo no tiene ningún lugar.":      "ubigeo,precio\n\n",
			"El archivo tiene dos columnas «Precio»": "ubigeo,precio,Precio\n150122,5,6\n",
			"2 El ubigeo «999999» no está":           "ubigeo,precio\n999999,5\n",
			"3 Repite el lugar de la fila 2.":        "ubigeo,lugar,precio\n150122,,5\n,\"Miraflores, Lima (150122)\",6\n",
			"2 El precio «-1» no es un monto":        "ubigeo,precio\n150122,-1\n",
			"2 El precio «1.000,505» no es un monto": "ubigeo;precio\n150122;1.000,505\n",
			"2 El precio «1,000»: no queda claro":    "ubigeo;precio\n150122;1,000\n",
			"2 Hay 4 lugares «Miraflores»":           "lugar,precio\nMiraflores,5\n",
			"2 El id «x» no está en el catálogo.":    "id,precio\nx,5\n",
			"3 Falta el lugar":                       "ubigeo,precio\n150122,5\n,6\n",
			"2 Tiene más celdas que columnas":        "ubigeo,precio\n150122,9,50\n",
			"2 No hay ningún lugar «<script>».":      "lugar,precio\n<script>,6\n",
		} {
			content := []byte(file)
			fields := url.Values{}
			name := "archivo"
			if file == "" {
				name = "otro"
			}
			refused := v.upload("/panel/cobertura/carga", fields, name, "c.csv", content)
			require.Equal(t, http.StatusUnprocessableEntity, refused.Status, complaint)
			require.Contains(t, html.UnescapeString(refused.words()), complaint)
			require.NotContains(t, refused.Text, "«<script>")
			refused = v.post("/panel/cobertura/carga/aplicar", url.Values{"contenido": {file}})
			require.Equal(t, http.StatusUnprocessableEntity, refused.Status, "nor without a preview: %s", complaint)
		}
		huge := v.upload("/panel/cobertura/carga", nil, "archivo", "c.csv", make([]byte, 3<<20))
		require.Contains(t, huge.words(), "El archivo pesa más de 2 MiB.")
		require.Equal(t, before, coverageOf(t, s, tenant))
	})
}

// Every district of the country goes in and out at once.
func TestCoverageFile_wholeCountry(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		load(t, v, fileOfAll(func(i int) string { return fmt.Sprintf("%d.5", i%90) }), false)
		require.Greater(t, len(coverageOf(t, s, tenant)), 1800)
		load(t, v, fileOfAll(func(i int) string { return fmt.Sprintf("%d", i%90) }), false)
		require.NotContains(t, v.read("/panel/cobertura?q=cusco").Text, ".50\"")
		require.Contains(t, load(t, v, "ubigeo,precio\n150122,9\n", true).words(), "quitados.")
		require.Len(t, coverageOf(t, s, tenant), 1)
	})
}
