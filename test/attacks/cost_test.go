package attacks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"mime/multipart"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"despacho/internal/config"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/dbtest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

const uploadHeader = "destinatario;telefono;direccion;producto;distrito;tienda\n"

// uploadRow is a row of an upload that is in order but for its place and store.
func uploadRow(place, store string) string {
	return "Rosa;987654321;Av. Larco 345;Zapatillas;" + place + ";" + store + "\n"
}

// formRequest is a form of the panel's pages with a file, fields, or both.
func formRequest(t *testing.T, token, path, file string, fields map[string]string) apptest.Request {
	t.Helper()
	var out bytes.Buffer
	form := multipart.NewWriter(&out)
	for name, value := range fields {
		require.NoError(t, form.WriteField(name, value))
	}
	if file != "" {
		part, err := form.CreateFormFile("archivo", "pedidos.csv")
		require.NoError(t, err)
		_, err = part.Write([]byte(file))
		require.NoError(t, err)
	}
	require.NoError(t, form.Close())
	return apptest.Request{Method: http.MethodPost, Path: path, Raw: out.Bytes(), Header: map[string]string{
		"Content-Type": form.FormDataContentType(), "Cookie": "despacho_session=" + token, "Sec-Fetch-Site": "same-origin",
	}}
}

// A file costs no more than its rows: what would be compared with the whole catalog again and
// again, or repeated in every row, is refused or left out, in words.
func TestUpload_rowsThatWouldCostMore(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignIn(t, nil)
		preview := func(file string) string {
			answer := s.Do(t, formRequest(t, token, "/panel/carga", file, nil))
			return html.UnescapeString(answer.Text)
		}
		const unknown = "No hay ningún distrito o zona con ese nombre"
		require.Contains(t, preview(uploadHeader+uploadRow("Miraflores, Lima, Lima, Perú", "")), "1 por crear")
		require.Contains(t, preview(uploadHeader+uploadRow("Miraflores"+strings.Repeat(", Lima", 200_000), "")), unknown)
		require.Contains(t, preview(uploadHeader+uploadRow("Miraflores"+strings.Repeat(" Lima", 200_000), "")), unknown)
		require.Contains(t, preview(uploadHeader+uploadRow("Miraflores, Lima", strings.Repeat("Tienda ", 200_000))), "No es una tienda activa")
		require.Contains(t, preview(strings.Repeat("x;", 200_000)+"y\n"+strings.Repeat("z\n", 1000)), "El archivo tiene más de 200 columnas")

		var rows strings.Builder
		for i := range 1000 {
			rows.WriteString(uploadRow(fmt.Sprintf("Miraflore %03d", i), ""))
		}
		wrong := preview(uploadHeader + rows.String())
		require.Contains(t, wrong, "1000 con errores")
		require.Equal(t, 1000, strings.Count(wrong, unknown))
		require.LessOrEqual(t, strings.Count(wrong, "quiso decir"), 50, "similar names are looked for a few times")
	})
}

var hiddenRows = regexp.MustCompile(`name="(filas|visto|separador)" value="([^"]*)"`)

// However many files of an operator become orders at the same time, they take no more connections
// to the database together than one does: others are served.
func TestUpload_manyOfOneOperatorAtOnce(t *testing.T) {
	t.Parallel()
	const uploads, atOnce = 3, 8
	s := apptest.Boot(t, testenv.Postgres(t), apptest.Options{NoWorker: true, Configure: func(c *config.Config) {
		c.DatabaseMaxConns, c.Timeouts.Acquire = atOnce+connections, time.Second
	}})
	noisy := s.NewTenant(t)
	var creations []apptest.Request
	for i := range uploads {
		token := noisy.SignIn(t, nil)
		var file strings.Builder
		for j := range 2 * atOnce {
			file.WriteString(strings.Replace(uploadRow("Miraflores, Lima", ""), "Zapatillas", fmt.Sprintf("Caja %d-%d", i, j), 1))
		}
		preview := s.Do(t, formRequest(t, token, "/panel/carga", uploadHeader+file.String(), nil))
		fields := map[string]string{}
		for _, field := range hiddenRows.FindAllStringSubmatch(preview.Text, -1) {
			fields[field[1]] = html.UnescapeString(field[2])
		}
		var rows []any
		require.NoError(t, json.Unmarshal([]byte(fields["filas"]), &rows), preview.Text)
		require.Len(t, rows, 2*atOnce)
		creations = append(creations, formRequest(t, token, "/panel/carga/crear", "", fields))
	}

	other := dbtest.Open(t, s.Config.DatabaseURL).SQL()
	lock, err := other.BeginTx(t.Context(), nil) // no order is inserted, and all are read
	require.NoError(t, err)
	_, err = lock.ExecContext(t.Context(), "LOCK TABLE orders IN EXCLUSIVE MODE")
	require.NoError(t, err)
	answers := make(chan string, uploads)
	for _, creation := range creations {
		go func() {
			answer, err := s.Try(creation)
			if err != nil {
				answers <- err.Error()
				return
			}
			answers <- answer.Text
		}()
	}
	poll.Until(t, func() error {
		var waiting int
		err := other.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND relation = 'orders'::regclass").Scan(&waiting)
		if err == nil && waiting < atOnce {
			err = errors.New("fewer rows are being inserted")
		}
		return err
	})
	requireServed(t, s)
	require.NoError(t, lock.Rollback())
	for range uploads {
		require.Contains(t, html.UnescapeString(<-answers), "16 creados")
	}
}

// However many events the other stores of its operator have, a request that waits for those of a
// store looks when it begins, perhaps once more, and when the store has one.
func TestWaits_besideBusyStores(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		const waits, busy, statements = 32, 12, 10
		tenant := s.NewTenant(t)
		cursors := map[string]string{}
		for _, key := range []string{tenant.KeyA, tenant.KeyB} {
			s.CreateOrder(t, key)
			poll.Until(t, func() error {
				cursors[key] = s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/events", Key: key}).String("cursor")
				if cursors[key] == "" {
					return errors.New("the event is not published")
				}
				return nil
			})
		}
		// next waits for an event for as long as it takes: on a busy machine a wait may end first.
		next := func(key, cursor string, newID func() string) (string, error) {
			for {
				answer, err := s.Try(apptest.Request{Method: http.MethodGet, Path: "/v1/events?wait=20&after=" + cursor, Key: key,
					Header: map[string]string{"X-Request-Id": newID()}})
				switch {
				case err != nil:
					return "", err
				case answer.Status != http.StatusOK:
					return "", errors.New(answer.Text)
				case answer.String("cursor") != cursor:
					return answer.String("cursor"), nil
				}
			}
		}
		var mu sync.Mutex
		var ids []string
		newID := func() string {
			mu.Lock()
			defer mu.Unlock()
			ids = append(ids, uuid.NewString())
			return ids[len(ids)-1]
		}
		ofStore := cursors[tenant.KeyA]
		var waiting errgroup.Group
		for i := range waits {
			waiting.Go(func() error {
				_, err := next(tenant.KeyA, ofStore, newID)
				return err
			})
			poll.Until(t, func() error {
				mu.Lock()
				defer mu.Unlock()
				if len(ids) == i || s.Statements(ids[i]) < 2 {
					return errors.New("it does not wait yet")
				}
				return nil
			})
		}
		for range busy {
			s.CreateOrder(t, tenant.KeyB)
			cursor, err := next(tenant.KeyB, cursors[tenant.KeyB], uuid.NewString)
			require.NoError(t, err)
			cursors[tenant.KeyB] = cursor
		}
		s.CreateOrder(t, tenant.KeyA)
		require.NoError(t, waiting.Wait())
		for _, id := range ids {
			require.Less(t, s.Statements(id), int64(statements), "%d events of another store", busy)
		}
	})
}

// A page far behind in a long list is the right one, though its orders are read in another way.
func TestList_aPageFarBehind(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		const limit = 200
		tenant, now := s.NewTenant(t), time.Now()
		rows := make([]models.Order, 7*limit+50)
		for i := range rows {
			rows[i] = tenant.Row(now.Add(-time.Duration(i) * time.Minute))
			if rows[i].StoreID = &tenant.StoreA.ID; i%10 == 0 {
				rows[i].StoreID = &tenant.StoreB.ID
			}
		}
		tenant.InsertRows(t, rows)
		for key, own := range map[string]func(models.Order) bool{
			tenant.Key:  func(models.Order) bool { return true },
			tenant.KeyA: func(order models.Order) bool { return *order.StoreID == tenant.StoreA.ID },
		} {
			var want, listed []string
			for _, row := range rows {
				if own(row) {
					want = append(want, row.ID.String())
				}
			}
			for page := 1; (page-1)*limit < len(want); page++ {
				answer := s.Do(t, apptest.Request{Method: http.MethodGet, Path: fmt.Sprintf("/v1/orders?limit=%d&page=%d", limit, page), Key: key})
				for _, order := range answer.Data["orders"].([]any) {
					listed = append(listed, order.(map[string]any)["id"].(string))
				}
			}
			require.Equal(t, want, listed)
		}
	})
}
