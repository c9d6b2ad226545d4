package api_test

import (
	"bytes"
	"database/sql/driver"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// eachAlone is for tests that need the files of a service of their own.
func eachAlone(t *testing.T, run func(t *testing.T, s *apptest.Service)) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB) string{"sqlite": testenv.SQLite, "postgres": testenv.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, apptest.Boot(t, open(t), apptest.Options{NoWorker: true}))
		})
	}
}

// A disk that is full is no fault of the rider's: the answer says to come back, and no half photo
// is left.
func TestDelivery_withAPhotoWhileTheDiskIsFull(t *testing.T) {
	eachAlone(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		order := assignedRow(tenant)
		tenant.InsertRows(t, []models.Order{order})
		require.Contains(t, metricsOf(t, s), "photos_not_stored_total 0\n")
		// Where the directory was there is a plain file: nothing can be written into it.
		require.NoError(t, os.RemoveAll(s.Config.FilesDir))
		require.NoError(t, os.WriteFile(s.Config.FilesDir, nil, 0o600))

		answer := s.Do(t, deliveryWithPhoto(t, order.ID.String(), tenant.SignIn(t, nil)))
		require.Equal(t, http.StatusServiceUnavailable, answer.Status, answer.Text)
		require.Equal(t, "photo_not_stored", answer.Code)
		require.NotEmpty(t, answer.Header.Get("Retry-After"))
		require.Contains(t, metricsOf(t, s), "photos_not_stored_total 1\n", "an alert tells whoever runs the service")
	})
}

// assignedRow is an order that can be delivered.
func assignedRow(tenant *apptest.Tenant) models.Order {
	return tenant.Row(time.Now(), apptest.ReceivedAfter(0), func(o *models.Order) {
		o.Status, o.RiderID, o.AssignedAt = models.StatusAssigned, &tenant.Riders[0].ID, o.ReceivedAt
	})
}

// deliveryWithPhoto is a delivery as the rider's phone sends it.
func deliveryWithPhoto(t *testing.T, orderID, token string, more ...map[string]string) apptest.Request {
	t.Helper()
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	for _, fields := range more {
		for name, value := range fields {
			require.NoError(t, writer.WriteField(name, value))
		}
	}
	part, err := writer.CreateFormFile("photo", "entrega.png")
	require.NoError(t, err)
	require.NoError(t, png.Encode(part, image.NewGray(image.Rect(0, 0, 8, 8))))
	require.NoError(t, writer.Close())
	return apptest.Request{
		Method: http.MethodPost, Path: "/panel/api/orders/" + orderID + "/deliver", Token: token,
		Raw: form.Bytes(), Header: map[string]string{"Content-Type": writer.FormDataContentType()},
	}
}

// A photo's time outside the years 2000 to 2100 is refused in a form as in JSON.
func TestDelivery_timeOutOfRange(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		created := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: tenant.Key, Body: apptest.Order()})
		require.Equal(t, http.StatusCreated, created.Status, created.Text)
		path, token := "/panel/api/orders/"+created.Data["id"].(string)+"/deliver", tenant.SignIn(t, nil)
		for _, at := range []string{"9999-12-31T23:59:59-12:00", "2101-01-01T00:00:00Z", "1999-12-31T23:59:59Z", "0000-01-01T00:00:00Z"} {
			var form bytes.Buffer
			writer := multipart.NewWriter(&form)
			require.NoError(t, writer.WriteField("captured_at", at))
			require.NoError(t, writer.Close())
			for _, request := range []apptest.Request{
				{Method: http.MethodPost, Path: path, Token: token, Body: map[string]any{"captured_at": at}},
				{Method: http.MethodPost, Path: path, Token: token, Raw: form.Bytes(), Header: map[string]string{"Content-Type": writer.FormDataContentType()}},
			} {
				answer := s.Do(t, request)
				require.Equal(t, http.StatusBadRequest, answer.Status, answer.Text)
				require.Equal(t, []string{"captured_at"}, answer.Fields)
			}
		}
	})
}

// deaf is a database that does not answer whoever reads an order that has been delivered.
type deaf struct{}

func (deaf) Name() string { return "deaf" }

func (deaf) Initialize(database *gorm.DB) error {
	return database.Callback().Query().After("gorm:query").Register("deaf", func(statement *gorm.DB) {
		if view, reading := statement.Statement.Dest.(*models.OrderView); reading && view.Status == models.StatusDelivered {
			_ = statement.AddError(driver.ErrBadConn)
		}
	})
}

// A delivery can be stored and its answer lost all the same: then its photo is needed. On SQLite
// alone: orders of PostgreSQL are not read through GORM.
func TestDelivery_retryAfterALostResponseKeepsThePhoto(t *testing.T) {
	t.Parallel()
	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{})
	tenant := s.NewTenant(t)
	created := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: tenant.Key, Body: apptest.Order()})
	id, token := created.Data["id"].(string), tenant.SignIn(t, nil)
	for _, step := range []struct {
		move string
		body map[string]any
	}{{"receive", map[string]any{}}, {"assign", map[string]any{"rider_id": tenant.Riders[0].ID}}} {
		answer := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/orders/" + id + "/" + step.move, Token: token, Body: step.body})
		require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	}
	require.NoError(t, s.App.DB.Use(deaf{}))
	answer := s.Do(t, deliveryWithPhoto(t, id, token))
	require.Equal(t, http.StatusServiceUnavailable, answer.Status, answer.Text)
	var photo string
	poll.Until(t, func() error {
		return s.App.DB.SQL().QueryRow("SELECT proof_photo FROM orders WHERE guide_code = '" + created.Data["guide_code"].(string) + "' AND status = 'delivered'").Scan(&photo)
	})
	require.FileExists(t, filepath.Join(s.Config.FilesDir, photo))
}

// oldPhoto writes the file of a photo, two days old.
func oldPhoto(t *testing.T, s *apptest.Service, name string) {
	t.Helper()
	path, before := filepath.Join(s.Config.FilesDir, name), time.Now().Add(-48*time.Hour)
	require.NoError(t, os.WriteFile(path, []byte("photo"), 0o600))
	require.NoError(t, os.Chtimes(path, before, before))
}

const (
	photoOwned  = "00000000000000000000000000000001.jpg"
	photoOrphan = "00000000000000000000000000000002.jpg"
	photoYoung  = "00000000000000000000000000000003.jpg"
	photoErased = "00000000000000000000000000000004.jpg"
	photoOther  = "00000000000000000000000000000005.jpg"
)

// What a process left that died between storing a photo and hearing of its delivery is put aside a
// day later; what a delivery refers to stays, and the photo of an erased order goes at once.
func TestPhotos_unreferencedArePutAside(t *testing.T) {
	eachAlone(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		named := func(name string) func(*models.Order) { return func(o *models.Order) { o.ProofPhoto = &name } }
		delivered := apptest.DeliveredAfter(tenant.Riders[0], 0)
		owner := tenant.Row(time.Now(), apptest.ReceivedAfter(0), delivered, named(photoOwned))
		other := tenant.Row(time.Now(), apptest.ReceivedAfter(0), delivered, named(photoOther))
		erased := tenant.Row(time.Now(), apptest.ReceivedAfter(0), delivered, named(photoErased))
		tenant.InsertRows(t, []models.Order{owner, other, erased})
		_, err := s.App.Orders.Erase(t.Context(), &tenant.Operator, erased.ID)
		require.NoError(t, err)
		for _, name := range []string{photoOwned, photoOther, photoOrphan, photoErased, ".upload-dead"} {
			oldPhoto(t, s, name)
		}
		require.NoError(t, os.WriteFile(filepath.Join(s.Config.FilesDir, photoYoung), []byte("photo"), 0o600))

		require.NoError(t, s.App.Orders.SweepPhotos(t.Context()))
		for _, name := range []string{photoOrphan, photoErased, ".upload-dead"} {
			require.NoFileExists(t, filepath.Join(s.Config.FilesDir, name))
		}
		require.FileExists(t, filepath.Join(s.Config.FilesDir, photoOwned))
		require.FileExists(t, filepath.Join(s.Config.FilesDir, photoYoung))
		require.FileExists(t, filepath.Join(s.Config.FilesDir, "quarantine", photoOrphan))
		require.NoFileExists(t, filepath.Join(s.Config.FilesDir, "quarantine", photoErased))
		require.Equal(t, "ok", s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/readyz"}).String("files"))
		require.Contains(t, metricsOf(t, s), "photos_in_quarantine 1\n")

		_, err = s.App.DB.SQL().Exec("UPDATE orders SET proof_photo = '" + photoOrphan + "' WHERE proof_photo IS NULL")
		require.NoError(t, err)
		require.NoError(t, s.App.Orders.SweepPhotos(t.Context()))
		require.FileExists(t, filepath.Join(s.Config.FilesDir, photoOrphan), "the database knows it again")
	})
}

// An empty database does not cost the photos: it may be a new volume, or another DATABASE_URL.
func TestPhotos_areKeptIfTheDatabaseIsAnother(t *testing.T) {
	eachAlone(t, func(t *testing.T, s *apptest.Service) {
		for _, name := range []string{photoOwned, photoOrphan} {
			oldPhoto(t, s, name)
		}
		require.NoError(t, s.App.Orders.SweepPhotos(t.Context()))
		require.Equal(t, "unknown", s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/readyz"}).String("files"))
		require.FileExists(t, filepath.Join(s.Config.FilesDir, photoOwned))
		require.FileExists(t, filepath.Join(s.Config.FilesDir, photoOrphan))
		require.Contains(t, metricsOf(t, s), "photo_sweep_refused 1\n")
		require.Contains(t, metricsOf(t, s), "photos_unknown 2\n")
	})
}

// metricsOf is the service's /metrics.
func metricsOf(t *testing.T, s *apptest.Service) string {
	t.Helper()
	answer := httptest.NewRecorder()
	s.App.Metrics.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return answer.Body.String()
}
