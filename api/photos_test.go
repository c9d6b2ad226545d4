package api_test

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"despacho/models"
	"despacho/test/apptest"
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
		// Where the directory was there is a plain file: nothing can be written into it.
		require.NoError(t, os.RemoveAll(s.Config.FilesDir))
		require.NoError(t, os.WriteFile(s.Config.FilesDir, nil, 0o600))

		answer := s.Do(t, deliveryWithPhoto(t, order.ID.String(), tenant.SignIn(t, nil)))
		require.Equal(t, http.StatusServiceUnavailable, answer.Status, answer.Text)
		require.Equal(t, "photo_not_stored", answer.Code)
		require.NotEmpty(t, answer.Header.Get("Retry-After"))
	})
}

// assignedRow is an order that can be delivered.
func assignedRow(tenant *apptest.Tenant) models.Order {
	return tenant.Row(time.Now(), apptest.ReceivedAfter(0), func(o *models.Order) {
		o.Status, o.RiderID, o.AssignedAt = models.StatusAssigned, &tenant.Riders[0].ID, o.ReceivedAt
	})
}

// deliveryWithPhoto is a delivery as the rider's phone sends it.
func deliveryWithPhoto(t *testing.T, orderID, token string) apptest.Request {
	t.Helper()
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
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
	testenv.Until(t, func() error {
		return s.App.DB.SQL().QueryRow("SELECT proof_photo FROM orders WHERE guide_code = '" + created.Data["guide_code"].(string) + "' AND status = 'delivered'").Scan(&photo)
	})
	require.FileExists(t, filepath.Join(s.Config.FilesDir, photo))
}

// What a process left that died between storing a photo and hearing of its delivery goes a day
// later; what a delivery refers to stays.
func TestPhotos_unreferencedAreSwept(t *testing.T) {
	eachAlone(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		created := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: tenant.Key, Body: apptest.Order()})
		const owned, orphan, young = "00000000000000000000000000000001.jpg", "00000000000000000000000000000002.jpg", "00000000000000000000000000000003.jpg"
		_, err := s.App.DB.SQL().Exec("UPDATE orders SET proof_photo = '" + owned + "' WHERE guide_code = '" + created.Data["guide_code"].(string) + "'")
		require.NoError(t, err)
		for _, name := range []string{owned, orphan, young, ".upload-dead"} {
			path := filepath.Join(s.Config.FilesDir, name)
			require.NoError(t, os.WriteFile(path, []byte("photo"), 0o600))
			if name != young {
				before := time.Now().Add(-25 * time.Hour)
				require.NoError(t, os.Chtimes(path, before, before))
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); s.App.Orders.RunPhotoSweeper(ctx) }()
		testenv.Until(t, func() error {
			if left, err := filepath.Glob(filepath.Join(s.Config.FilesDir, "*")); err != nil || len(left) > 2 {
				return errors.New("not swept yet")
			}
			return nil
		})
		stop()
		<-ended
		require.FileExists(t, filepath.Join(s.Config.FilesDir, owned))
		require.FileExists(t, filepath.Join(s.Config.FilesDir, young))
		require.NoFileExists(t, filepath.Join(s.Config.FilesDir, ".upload-dead"))
	})
}
