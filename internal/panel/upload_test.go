package panel_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding/charmap"

	"despacho/internal/clock"
	"despacho/internal/panel/csvfile"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

const (
	uploads   = "/panel/carga"
	creations = "/panel/carga/crear"
	results   = "/panel/carga/resultado.csv"
)

// check uploads a file and returns the preview, which must be one.
func (v *visitor) check(lines ...string) *page {
	v.t.Helper()
	p := v.upload(uploads, nil, "archivo", "pedidos.csv", []byte(strings.Join(lines, "\r\n")))
	require.Equal(v.t, http.StatusOK, p.Status, p.words())
	return p
}

// confirm creates the orders of a preview without scripts.
func (v *visitor) confirm(preview *page) *page {
	v.t.Helper()
	p := v.post(creations, preview.fieldsOf(v.t, creations))
	require.Equal(v.t, http.StatusOK, p.Status, p.words())
	return p
}

const header = "destinatario;telefono;direccion;distrito;producto;monto_a_cobrar"

func TestUpload_templateCanBeUploaded(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		for _, store := range []*models.Store{nil, &tenant.StoreA} {
			v := visit(t, s, tenant, store)
			for _, path := range []string{"/panel/carga/plantilla.csv", "/panel/carga/plantilla.csv?separador=coma"} {
				template := v.read(path)
				require.True(t, strings.HasPrefix(template.Text, "\ufeff"), "spreadsheet programs tell UTF-8 by its mark")
				require.Contains(t, template.Header.Get("Content-Disposition"), "plantilla-pedidos.csv")
				require.Equal(t, store == nil, strings.Contains(template.Text, "tienda"))
				alone := v.upload(uploads, nil, "archivo", "pedidos.csv", []byte(template.Text))
				require.Contains(t, alone.words(), "El archivo solo tiene el ejemplo de la plantilla.")
				_, example, _ := strings.Cut(template.Text, "\r\n")
				preview := v.check(template.Text, strings.Replace(example, "Ejemplo: Rosa Díaz", "Rosa Díaz", 1))
				require.Contains(t, preview.words(), "La fila 2 es el ejemplo de la plantilla: no se crea.")
				require.Contains(t, preview.words(), "1 por crear")
				require.NotContains(t, preview.words(), "Columnas que no se usan")
				require.Contains(t, preview.words(), "Estado 4 Rosa Díaz")
			}
		}
		require.Zero(t, orderCount(t, s, tenant), "looking creates nothing")
	})
}

// The story of a file with bad rows: it is looked over, its good rows are created, it is corrected
// and sent again.
func TestUpload_createsEveryRowOnce(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, &tenant.StoreA)
		good := []string{
			"Rosa Díaz;987654321;Av. Larco 345;Miraflores;Zapatillas;89,90",
			"José Ñahui;+51 987 654 322;Av. Próceres, Huáscar;san juan de lurigancho;\"Libro; dos tomos\";",
			"Rosa Díaz;987654321;Av. Larco 345;Miraflores;Zapatillas;89,90",
		}
		bad := "Luis;9.87654E+08;Jr. Unión 1;San Juan;;1,234"
		preview := v.check(append([]string{header, bad}, good...)...)
		for _, want := range []string{
			"3 por crear", "1 con errores", "Miraflores, Lima (150122)", "S/ 89.90", "S/ 9.00", "Por cobrar: S/ 179.80", "+51987654322",
			"El destino está en una zona de riesgo del operador: Huáscar.",
			"notación científica", "Puede ser", "San Juan de Lurigancho, Lima (150132)", "Producto Es obligatorio.", "la coma o el punto separa miles o decimales",
		} {
			require.Contains(t, preview.words(), want)
		}
		require.Zero(t, orderCount(t, s, tenant), "nothing is created yet")

		done := v.confirm(preview)
		require.Contains(t, done.words(), "3 creados")
		require.Contains(t, done.words(), "1 con errores")
		require.Contains(t, done.Text, "/panel/etiquetas?formato=a6&amp;id=")
		require.Equal(t, 3, orderCount(t, s, tenant), "two equal rows are two orders")

		require.Contains(t, v.confirm(preview).words(), "3 creados", "after a broken connection the button is pressed again")
		require.Equal(t, 3, orderCount(t, s, tenant))
		colleague := visit(t, s, tenant, &tenant.StoreA)
		again := colleague.check(append([]string{header, "Luis;987654323;Jr. Unión 1;San Juan de Miraflores;Caja;"}, good...)...)
		require.Contains(t, again.words(), "1 por crear")
		require.Contains(t, again.words(), "3 ya existían")
		require.Contains(t, colleague.confirm(again).words(), "1 creado")
		require.Equal(t, 4, orderCount(t, s, tenant))
		require.Contains(t, colleague.check(header, good[0], good[1]).words(), "Todos los pedidos de este archivo ya estaban creados.")

		result := v.post(results, done.fieldsOf(t, results))
		require.Equal(t, http.StatusOK, result.Status)
		table, err := csvfile.Read([]byte(result.Text), 10)
		require.NoError(t, err)
		require.Equal(t, []string{"fila", "estado", "guia", "tarifa", "problema"}, table.Header[:5])
		require.Len(t, table.Rows, 4)
		require.Equal(t, []string{"2", "no creado", ""}, table.Rows[0].Cells[:3])
		require.Contains(t, table.Rows[0].Cells[4], "producto: Es obligatorio.")
		require.Equal(t, []string{"3", "creado"}, table.Rows[1].Cells[:2])
		require.Contains(t, done.words(), table.Rows[1].Cells[2], "with its guide code")
	})
}

// A row with the store's own number is known by it: with other data it is refused, also within a
// file.
func TestUpload_rowsWithTheStoresOwnNumber(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		const numbered = header + ";Nro"
		first := v.check(numbered, "Rosa;987654321;Av. Larco 345;Miraflores;Zapatillas;5;A-1", "Luis;987654322;Av. Larco 1;Miraflores;Caja;;A-1")
		require.Contains(t, first.words(), "Se repite: ya está en la fila 2.")
		require.Contains(t, v.confirm(first).words(), "1 creado")
		require.Contains(t, v.check(numbered, "Rosa;987654321;Av. Larco 345;Miraflores;Zapatillas;5;A-1").words(), "1 ya existía")
		require.Contains(t, v.check(numbered, "Rosa;987654321;Av. Larco 345;Miraflores;Zapatillas;6;A-1").words(), "Ya se usó con otros datos en el pedido")
		require.Equal(t, 1, orderCount(t, s, tenant))

		require.Len(t, v.read("/panel/pedidos?q=A-1").rows(), 1, "the order keeps the number")
		require.Contains(t, v.read("/panel/pedidos?q=A-1").words(), "A-1")
		for number, problem := range map[string]string{
			strings.Repeat("9", 101): "como máximo 100 caracteres", "9.1E+11": "notación científica", "A\u200b1": "Contiene caracteres que no se ven.",
		} {
			require.Contains(t, v.check(numbered, "Rosa;987654321;Av. Larco 345;Miraflores;Zapatillas;5;"+number).words(), problem)
		}
		require.Equal(t, 1, orderCount(t, s, tenant))
	})
}

// A row that repeats a number is refused in the preview and in every answer after it, whether the
// row that has the number first became an order or has errors.
func TestUpload_repeatedNumberStaysRefused(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, &tenant.StoreA)
		preview := v.check(header+";numero_de_pedido",
			"Rosa;12;Av. Larco 345;Miraflores;Zapatillas;5;D12", "Rosa;987654321;Av. Larco 345;Miraflores;Zapatillas;5;D12",
			"Luis;987654322;Av. Larco 1;Miraflores;Caja;;D13", "Luis;987654322;Av. Larco 1;Miraflores;Caja;;D13")
		require.Contains(t, preview.words(), "1 por crear 3 con errores")

		done := v.confirm(preview)
		for _, want := range []string{"1 creado 3 con errores", "N.º de pedido de la tienda Se repite: ya está en la fila 2.", "N.º de pedido de la tienda Se repite: ya está en la fila 4."} {
			require.Contains(t, done.words(), want)
		}
		require.NotContains(t, done.words(), "Por crear")
		require.Equal(t, 1, orderCount(t, s, tenant))

		table, err := csvfile.Read([]byte(v.post(results, done.fieldsOf(t, results)).Text), 10)
		require.NoError(t, err)
		require.Len(t, table.Rows, 4)
		require.Equal(t, "numero_de_pedido: Se repite: ya está en la fila 2.", table.Rows[1].Cells[4])
		require.Equal(t, "creado", table.Rows[2].Cells[1])
		require.Equal(t, "numero_de_pedido: Se repite: ya está en la fila 4.", table.Rows[3].Cells[4])
	})
}

// A file of the operator in which two stores have the same number for an order.
const (
	numbered = header + ";numero_de_pedido;tienda"
	ofA      = "Rosa;987654321;Av. Larco 345;Miraflores;Zapatillas;5;1001;Tienda A"
	ofB      = "Luis;987654322;Av. Larco 1;Miraflores;Libro;;1001;Tienda B"
)

// Two stores may have the same number for an order, in one file of the operator and in two.
func TestUpload_numbersBelongToTheirStore(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		const ofNobody = "Ana;987654323;Av. Larco 2;Miraflores;Caja;;1001;"
		require.Contains(t, v.confirm(v.check(numbered, ofA)).words(), "1 creado")
		both := v.check(numbered, ofA, ofB, ofNobody, strings.Replace(ofB, "Tienda B", tenant.StoreB.ID.String(), 1))
		require.Contains(t, both.words(), "2 por crear 1 ya existía 1 con errores")
		require.Contains(t, both.words(), "Se repite: ya está en la fila 3.")
		require.Contains(t, v.confirm(both).words(), "2 creados 1 ya existía")
		require.Equal(t, 3, orderCount(t, s, tenant))
		require.Contains(t, v.check(numbered, strings.Replace(ofB, "Libro", "Dos libros", 1)).words(), "Ya se usó con otros datos en el pedido")
		require.Contains(t, v.check(numbered, ofA, ofB, ofNobody).words(), "3 ya existían")
	})
}

// Rows with errors are corrected where they are shown, without a script: what was valid stays so,
// and the occurrences of equal rows go on being orders of their own.
func TestUpload_correctsRowsInThePreview(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, &tenant.StoreA)
		const good = "Rosa;987654321;Av. Larco 345;Miraflores;Zapatillas;"
		lines := []string{
			header + ";notas;referencia", good + "5;;", strings.Replace(good, "987654321", "12", 1) + "5;;",
			"Luis;987654322;Av. Larco 1;San Juan;Caja;;\"dos\nlíneas\";", "Ana;987654323;Av. Larco 2;Miraflores;Libro;;;x;dos tomos",
		}
		const revision = "/panel/carga/revisar"
		preview := v.check(lines...)
		require.Contains(t, preview.words(), "1 por crear 3 con errores")
		require.Contains(t, preview.Text, `type="radio" name="celda-4-distrito" value="San Juan de Lurigancho, Lima (150132)"`)
		require.Contains(t, v.confirm(preview).words(), "1 creado 3 con errores")

		fields := preview.fieldsOf(t, revision)
		fields.Set("celda-3-telefono", "987654321")
		fields.Add("celda-4-distrito", "San Juan de Lurigancho, Lima (150132)")
		fields.Set("celda-5-producto", "Libro, dos tomos")
		fields.Del("completa-5")
		again := v.post(revision, fields)
		require.Equal(t, http.StatusOK, again.Status)
		require.Contains(t, again.words(), "1 creado 2 por crear 1 con errores", "the row with a surplus cell may lack something yet")
		fields = again.fieldsOf(t, revision)
		require.Equal(t, "Libro, dos tomos", fields.Get("celda-5-producto"))
		fields.Del("completa-5")
		fields.Set("completa-6", "true")
		require.Contains(t, v.post(revision, fields).words(), "con errores", "another row's box")
		fields.Set("completa-5", "true")
		again = v.post(revision, fields)
		require.Contains(t, again.words(), "1 creado 3 por crear")
		require.Contains(t, v.confirm(again).words(), "4 creados")
		require.Equal(t, 4, orderCount(t, s, tenant))
		written := v.read("/panel/pedidos?q=Luis")
		luis := order(t, s, tenant, idIn(regexp.MustCompile(`/panel/pedidos/[0-9a-f-]{36}`).FindString(written.Text)))
		require.Equal(t, "dos\nlíneas", luis.String("notes"))
		require.Equal(t, apptest.SanJuan.String(), luis.String("location_id"))

		lines[2] = strings.Replace(lines[2], ";12;", ";987654321;", 1)
		require.Contains(t, v.check(lines[:3]...).words(), "2 ya existían", "the corrected file has the same orders")
		require.Equal(t, uploads, v.get(revision).Location)
	})
}

// A preview has fields for as many rows as a person corrects there, and says so of the others.
func TestUpload_correctsTheFirstOfManyRows(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		v := visit(t, s, s.NewTenant(t), nil)
		preview := v.check(header, strings.Repeat("Rosa;12;x;Miraflores;y;\r\n", 41))
		require.Contains(t, preview.words(), "Corrija primero estas 40 filas")
		fields := preview.fieldsOf(t, "/panel/carga/revisar")
		require.Contains(t, fields, "celda-41-telefono")
		require.NotContains(t, fields, "celda-42-telefono")
		for row := 2; row <= 41; row++ {
			fields.Set(fmt.Sprintf("celda-%d-telefono", row), "987654321")
		}
		require.Contains(t, v.post("/panel/carga/revisar", fields).words(), "40 por crear 1 con errores")
	})
}

// The rows with errors are a file of their own, which can be corrected and uploaded on another day.
// The complete file would create its good rows again then, and the preview says so.
func TestUpload_correctedOnAnotherDay(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		now := clock.NewManual(apptest.FrozenAt)
		s := apptest.Boot(t, databaseURL, apptest.Options{Clock: now, NoWorker: true})
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, &tenant.StoreA)
		const good = "Rosa;987654321;Av. Larco 345;Miraflores;Zapatillas;5"
		done := v.confirm(v.check(header, good, "Luis;;Av. Larco 1;Miraflores;Caja;", "Ana;987654323;Av. Larco 2;Miraflores;Libro;;dos tomos"))
		require.Contains(t, done.words(), "1 creado 2 con errores")
		require.Contains(t, done.words(), "También puede subir el archivo completo el mismo día")
		const wrongRows = "/panel/carga/errores.csv"
		file := v.post(wrongRows, done.fieldsOf(t, wrongRows))
		require.Equal(t, http.StatusOK, file.Status)
		table, err := csvfile.Read([]byte(file.Text), 10)
		require.NoError(t, err)
		require.Equal(t, []string{"destinatario", "telefono", "distrito", "direccion", "producto", "problema"}, table.Header, "a required column is there though it is empty")
		require.Len(t, table.Rows, 2)
		require.Equal(t, []string{"Luis", "", "Miraflores", "Av. Larco 1", "Caja", "telefono: Es obligatorio."}, table.Rows[0].Cells)

		now.Advance(20 * time.Hour)
		v = visit(t, s, tenant, &tenant.StoreA)
		require.Contains(t, v.check(file.Text).words(), "2 con errores", "as it is")
		corrected := strings.NewReplacer("Luis;", "Luis;987654322", ";Libro;", ";\"Libro; dos tomos\";", ";Complete la fila y borre esta celda", "").Replace(file.Text)
		require.Contains(t, v.confirm(v.check(corrected)).words(), "2 creados")
		require.Equal(t, 3, orderCount(t, s, tenant))

		again := v.check(header, good)
		require.Regexp(t, `Por crear Ayer se creó uno igual: \S+\.`, again.words())
		require.Contains(t, v.confirm(again).words(), "1 creado", "an equal order on another day is possible")
		require.NotContains(t, v.check(header, good).words(), "Ayer")
	})
}

// A store's file creates the store's orders, whatever it says and whatever the page sends back.
func TestUpload_storeUserCreatesOnlyForItsStore(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		operator, store := visit(t, s, tenant, nil), visit(t, s, tenant, &tenant.StoreA)
		const row = "Rosa;987654321;Av. Larco 345;Miraflores;Zapatillas;5;tienda b"
		preview := store.check(header+";tienda", row)
		require.Contains(t, preview.words(), "La columna tienda no se usa")
		fields := preview.fieldsOf(t, creations)
		fields.Set("filas", strings.Replace(fields.Get("filas"), `"c":{`, `"c":{"store_id":"`+tenant.StoreB.ID.String()+`",`, 1))
		require.Contains(t, store.post(creations, fields).words(), "1 creado")
		orders := s.Do(t, apptest.Request{Method: "GET", Path: "/v1/orders", Key: tenant.KeyA}).Data["orders"].([]any)
		require.Len(t, orders, 1)

		require.Contains(t, operator.confirm(operator.check(header+";tienda", row)).words(), "1 creado")
		require.EqualValues(t, 1, s.Do(t, apptest.Request{Method: "GET", Path: "/v1/orders", Key: tenant.KeyB}).Data["total"])
		require.Contains(t, operator.check(header+";tienda", strings.Replace(row, "tienda b", "Tienda Z", 1)).words(), "No es una tienda activa.")
	})
}

func TestUpload_rejectsInvalidFiles(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		v := visit(t, s, s.NewTenant(t), nil)
		for content, complaint := range map[string]string{
			"":                                   "El archivo está vacío.",
			"PK\x03\x04":                         "El libro de Excel no se puede leer.",
			"\xd0\xcf\x11\xe0":                   "Guárdelo con «Guardar como» en formato «Libro de Excel (.xlsx)»",
			"a;b\x00":                            "no es un libro de Excel ni un CSV",
			"destinatario;producto\nx;y":         "Faltan las columnas telefono, distrito, direccion.",
			"Rosa;987654321;x;Miraflores\nx;y":   "Faltan las columnas",
			header:                               "no tiene filas",
			header + "\n\"Rosa;1":                "comillas sin cerrar en la línea 2",
			header + strings.Repeat("\nx", 1001): "más de 1000 filas",
			strings.Repeat("x", 2<<20+1):         "más de 2 MiB",
		} {
			refused := v.upload(uploads, nil, "archivo", "pedidos.csv", []byte(content))
			require.Equal(t, http.StatusUnprocessableEntity, refused.Status, complaint)
			require.Contains(t, refused.words(), complaint)
		}
		require.Equal(t, http.StatusUnprocessableEntity, v.post(uploads, url.Values{}).Status, "no file at all")
		require.Equal(t, http.StatusUnprocessableEntity, v.post(creations, url.Values{"filas": {"[]"}, "visto": {"2020-01-01T00:00:00Z"}}).Status, "an old preview")
		require.Equal(t, http.StatusBadRequest, v.post(creations, url.Values{"filas": {"{"}, "visto": {time.Now().UTC().Format(time.RFC3339)}}).Status)
		require.Equal(t, uploads, v.get(creations).Location)
	})
}

// A cell as long as the file is shown in part, whatever is wrong with its row, and is whole in the
// file with the rows to correct.
func TestUpload_longCells(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		v := visit(t, s, s.NewTenant(t), nil)
		long := strings.Repeat("y", 100_000)
		preview := v.check(header, long+";x;;"+long+";;x")
		shown := preview.words()
		require.Contains(t, shown, strings.Repeat("y", 100)+"…")
		require.NotContains(t, shown, strings.Repeat("y", 101))
		const corrections = "/panel/carga/errores.csv"
		file := v.post(corrections, preview.fieldsOf(t, corrections))
		require.Equal(t, http.StatusOK, file.Status)
		require.Equal(t, 2, strings.Count(file.Text, long))
	})
}

// A name that two branches, stores or sizes have is an error of its row: which of them is meant is
// not guessed, since it decides the price or the way. The code of a size is not ambiguous.
func TestUpload_ambiguousNames(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id, now := tenant.Operator.ID, tenant.Operator.CreatedAt
		tenant.Change(t,
			&models.Branch{ID: uuid.New(), OperatorID: id, Name: "otra", Active: true, CreatedAt: now},
			&models.Store{ID: uuid.New(), OperatorID: id, Name: "TIENDA A", Active: true, CreatedAt: now},
			&models.Size{ID: uuid.New(), OperatorID: id, Code: "XL", Name: "Grande", Surcharge: 900, Active: true, CreatedAt: now},
			&models.Size{ID: uuid.New(), OperatorID: id, Code: "l", Name: "Chico", Surcharge: 100, Active: true, CreatedAt: now})
		v := visit(t, s, tenant, nil)
		const head, row = "destinatario;telefono;direccion;distrito;producto;", "\r\nRosa;987654321;x;Barranco;y;"
		for _, c := range []struct{ column, cell, want string }{
			{"sucursal", "Otra", "Hay varias sucursales con ese nombre."},
			{"tienda", "Tienda A", "Hay varias tiendas con ese nombre."},
			{"tamano", "grande", "Hay varios tamaños con ese nombre: escriba el código."},
			{"tamano", "L", "S/ 17.50"},
			{"tamano", "l", "S/ 13.00"},
			{"tienda", tenant.StoreA.ID.String(), "S/ 12.00"},
		} {
			require.Contains(t, v.check(head+c.column+row+c.cell).words(), c.want, "%s %s", c.column, c.cell)
		}
	})
}

// Places are understood as people write them; where that is a guess, it says so.
func TestUpload_understandsPlaces(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		v := visit(t, s, s.NewTenant(t), nil)
		preview := v.check("Cliente,Celular,DIRECCIÓN,Distrito,Ubigeo,Producto,Vendedor",
			"A,987654321,x,surco,,y,Ana", "B,987654321,x,,150122,y,", "C,987654321,x,\"Miraflores, Arequipa\",,y,", "D,987654321,x,Narnia,,y,", "E,987654321,x,,,y,", "F,987654321,x,y,z,w,v,u", "G,987654321,x,Bellavista,,y,", "H,987654321,x,San,,y,", "I,987654321,x,Wanchak,,y,",
		).words()
		for _, want := range []string{
			"«surco» se entendió como Santiago de Surco, Lima (150140).", "Miraflores, Lima (150122)", "El operador no llega a este destino.",
			"No hay ningún distrito o zona con ese nombre.", "Distrito Es obligatorio.", "más celdas que columnas", "El operador no llega a ningún lugar con ese nombre.", " o alguno de otros 7: escriba cuál.", "Columnas que no se usan: Vendedor.",
		} {
			require.Contains(t, preview, want)
		}
		require.NotContains(t, preview, "Wanchaq", "a place that the operator does not cover is not offered")
	})
}

// The columns of a store's own file are asked for once and known in its next one, whatever another
// store's are. Only their names are stored.
func TestUpload_columnsOfTheStoresOwn(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, &tenant.StoreA)
		const columns = "/panel/carga/columnas"
		const head, row = "Comprador;Fono;Calle;Comuna;Cosa;Vendedor", "Rosa Díaz;987654321;Av. Larco 345;Miraflores;Zapatillas;Ana"
		asked := v.check(head, row)
		require.Contains(t, asked.words(), "¿Qué es la columna «Comprador»?")
		fields := asked.fieldsOf(t, columns)
		for i, column := range []string{"destinatario", "telefono", "direccion", "distrito", "producto", ""} {
			fields.Set(fmt.Sprintf("columna-%d", i), column)
		}
		preview := v.post(columns, fields)
		require.Contains(t, preview.words(), "1 por crear")
		require.Contains(t, v.confirm(preview).words(), "1 creado")

		next := visit(t, s, tenant, &tenant.StoreA).check(head, strings.Replace(row, "Zapatillas", "Libro", 1))
		require.Contains(t, next.words(), "1 por crear")
		require.Contains(t, next.words(), "Columnas que se leen como usted indicó: Comprador, Fono, Calle, Comuna, Cosa.")
		require.Contains(t, visit(t, s, tenant, &tenant.StoreB).check(head, row).words(), "¿Qué es la columna «Comprador»?")
		require.Contains(t, visit(t, s, tenant, nil).check(head, row).words(), "¿Qué es la columna «Comprador»?")

		stored := v.read(columns)
		require.Contains(t, stored.words(), "¿Qué es la columna «comprador»?")
		require.NotContains(t, stored.Text, "Rosa")
		changed := stored.fieldsOf(t, columns)
		for name := range changed {
			if strings.HasPrefix(name, "columna-") {
				changed.Set(name, "")
			}
		}
		require.Contains(t, v.submit(columns, changed).words(), "Columnas guardadas")
		require.Contains(t, v.check(head, row).words(), "¿Qué es la columna «Comprador»?")
		fields.Set("tabla", `{"Header":["a"],"Rows":[{"Cells":["a","b"]}]}`)
		require.Equal(t, http.StatusBadRequest, v.post(columns, fields).Status)
	})
}

// A workbook is a file like any other: a telephone number that it has as a number is whole.
func TestUpload_workbook(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, &tenant.StoreA)
		book := excelize.NewFile()
		defer book.Close()
		require.NoError(t, book.SetSheetRow("Sheet1", "A1", &[]any{"Cliente", "Celular", "Dirección", "Distrito", "Producto", "Monto"}))
		require.NoError(t, book.SetSheetRow("Sheet1", "A2", &[]any{"Rosa Díaz", 987654321, "Av. Larco 345", "Miraflores", "Zapatillas", 1250.5}))
		content, err := book.WriteToBuffer()
		require.NoError(t, err)
		preview := v.upload(uploads, nil, "archivo", "pedidos.xlsx", content.Bytes())
		require.Contains(t, preview.words(), "2 Rosa Díaz +51987654321")
		require.Contains(t, preview.words(), "S/ 1,250.50")
		require.Contains(t, v.confirm(preview).words(), "1 creado")
		require.Contains(t, v.check("Cliente;Celular;Dirección;Distrito;Producto;Monto", "Rosa Díaz;987654321;Av. Larco 345;Miraflores;Zapatillas;1250.5").words(),
			"1 ya existía", "the same row of a CSV file is the same order")
	})
}

func TestUpload_oldEncodings(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		v := visit(t, s, s.NewTenant(t), nil)
		content, err := charmap.Windows1252.NewEncoder().String(strings.ReplaceAll(header, ";", "\t") + "\r\nJosé Ñahui\t987654321\tJr. Unión\tBreña\tPiña\t")
		require.NoError(t, err)
		require.Contains(t, v.check(content).words(), "José Ñahui +51987654321 Breña, Lima (150105) Jr. Unión Piña")
	})
}

// A script creates a few rows at a time and gets their results; then it requests the summary.
func TestUpload_inBatches(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		fields := v.check(header, "Rosa;987654321;Av. Larco 345;Miraflores;Zapatillas;5", "Luis;987654322;Av. Larco 1;Miraflores;Caja;").fieldsOf(t, creations)
		batch := url.Values{"filas": {fields.Get("filas")}, "visto": {fields.Get("visto")}}
		request, err := http.NewRequest(http.MethodPost, v.base+creations, strings.NewReader(batch.Encode()))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Sec-Fetch-Site", "same-origin")
		request.Header.Set("X-Fragment", "rows")
		answer, err := v.client.Do(request)
		require.NoError(t, err)
		defer answer.Body.Close()
		require.Equal(t, http.StatusOK, answer.StatusCode)
		require.Equal(t, 2, orderCount(t, s, tenant))
		after := v.post("/panel/carga/resumen", fields)
		require.Contains(t, after.words(), "Imprimir las etiquetas")
		require.NotContains(t, after.Text, "<html", "a part of a page")
	})
}

// A thousand rows, which is the most there may be, are looked over at once.
func TestUpload_aThousandRows(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		lines := []string{header}
		for i := range 1000 {
			lines = append(lines, fmt.Sprintf("Cliente %d;9876%05d;Av. Larco %d;%s;Caja;%d", i, i, i, []string{"Miraflores", "surco", "San Juan de Lurigancho", "Breña"}[i%4], i))
		}
		require.Contains(t, v.check(lines...).words(), "1000 por crear")
	})
}

// Rows that repeat each other under one code are one order, which has one label, also where the
// labels are on several pages.
func TestUpload_repeatedRowsHaveOneLabel(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, &tenant.StoreA)
		lines := []string{header + ";numero_de_pedido"}
		for i := range 101 {
			lines = append(lines, fmt.Sprintf("Rosa Díaz;987654321;Av. Larco 345;Miraflores;Zapatillas;10;A%d", i))
		}
		done := v.confirm(v.check(append(lines, lines[1])...))
		require.Equal(t, 101, orderCount(t, s, tenant))
		require.Contains(t, done.words(), "Etiquetas 1 a 100 Etiqueta 101")
		printed := map[string]int{}
		for _, link := range regexp.MustCompile(`href="(/panel/etiquetas\?[^"]+)"`).FindAllStringSubmatch(done.Text, -1) {
			for _, sheet := range regexp.MustCompile(`aria-label="Etiqueta de ([^"]+)"`).FindAllStringSubmatch(v.read(html.UnescapeString(link[1])).Text, -1) {
				printed[sheet[1]]++
			}
		}
		require.Len(t, printed, 101)
		for code, times := range printed {
			require.Equal(t, 1, times, code)
		}
	})
}
