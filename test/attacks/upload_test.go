package attacks

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

// hugeForm is a multipart body that goes on for as long as it is taken.
const (
	hugeSize     = 600 << 20
	hugeBoundary = "huge"
	hugeStart    = "--" + hugeBoundary + "\r\nContent-Disposition: form-data; name=\"volver\"; filename=\"a\"\r\n\r\n"
	// mostTaken is the largest limit of a route and what the sockets of both sides hold.
	mostTaken = 64 << 20
)

// sendHugeForm returns how much of the form was taken, and the status.
func sendHugeForm(connection net.Conn, method, path, token, length string) (taken int64, status int, err error) {
	_, err = fmt.Fprintf(connection, "%s %s HTTP/1.1\r\nHost: despacho\r\nAuthorization: Bearer %s\r\nContent-Type: multipart/form-data; boundary=%s\r\n%s\r\n\r\n",
		method, path, token, hugeBoundary, length)
	if err != nil {
		return 0, 0, err
	}
	answered := make(chan int, 1)
	go func() {
		response, err := http.ReadResponse(bufio.NewReader(connection), nil)
		if err != nil {
			answered <- 0 // the connection was reset before the answer could be read
			return
		}
		_ = response.Body.Close()
		answered <- response.StatusCode
	}()
	taken, _ = io.Copy(connection, io.LimitReader(formBytes(length), hugeSize))
	_ = connection.(*net.TCPConn).CloseWrite()
	return taken, <-answered, nil
}

// formBytes is the form as it is, or in chunks.
func formBytes(length string) io.Reader {
	if !strings.HasPrefix(length, "Transfer-Encoding") {
		return io.MultiReader(strings.NewReader(hugeStart), zeros{})
	}
	chunk := strings.Repeat("x", 1<<20)
	return io.MultiReader(strings.NewReader(fmt.Sprintf("%x\r\n%s\r\n", len(hugeStart), hugeStart)),
		&repeated{text: fmt.Sprintf("%x\r\n%s\r\n", len(chunk), chunk)})
}

// repeated is a text again and again.
type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	n := copy(p, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	return n, nil
}

// A body of hundreds of megabytes is refused on every route, and nothing of it is on the disk
// afterwards. Not parallel: it changes TMPDIR.
func TestHugeForm_isRefusedAndLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{NoWorker: true})
	tenant := s.NewTenant(t)
	token := tenant.SignInAs(t, &models.User{Admin: true})
	var sending errgroup.Group
	sending.SetLimit(100) // net/http keeps each connection for half a second after its answer
	tried := 0
	for _, route := range routes(t) {
		if route.Method == http.MethodGet {
			continue
		}
		path := strings.ReplaceAll(route.Path, ":id", uuid.NewString())
		for _, length := range []string{fmt.Sprintf("Content-Length: %d", hugeSize), "Transfer-Encoding: chunked"} {
			tried++
			connection := dial(t, s)
			sending.Go(func() error {
				taken, status, err := sendHugeForm(connection, route.Method, path, token, length)
				if err != nil || taken > mostTaken || status == http.StatusInternalServerError {
					return fmt.Errorf("%s %s, %s: %d bytes were taken and answered %d: %w", route.Method, route.Path, length, taken, status, err)
				}
				return nil
			})
		}
	}
	require.NoError(t, sending.Wait())
	require.Greater(t, tried, 100)
	var files []string
	require.NoError(t, filepath.WalkDir(filepath.Dir(filepath.Dir(s.Config.FilesDir)), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(entry.Name(), "multipart-") {
			files = append(files, path)
		}
		return nil
	}))
	require.Empty(t, files)
}

// What is uploaded for an order that cannot be delivered is not decoded: it is refused for the
// order's status, whatever it is.
func TestPhoto_forAnOrderThatCannotBeDelivered(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id, token := s.CreateOrder(t, tenant.Key), tenant.SignIn(t, nil)
		form := "--b\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\nnot a photo\r\n--b--\r\n"
		deliver := func(token, id string) *apptest.Answer {
			return s.Do(t, apptest.Request{
				Method: http.MethodPost, Path: "/panel/api/orders/" + id + "/deliver", Token: token,
				Raw: []byte(form), Header: map[string]string{"Content-Type": "multipart/form-data; boundary=b"},
			})
		}
		refused := deliver(token, id)
		require.Equal(t, http.StatusConflict, refused.Status, refused.Text)
		require.Equal(t, http.StatusNotFound, deliver(token, uuid.NewString()).Status)
		require.Equal(t, http.StatusForbidden, deliver(tenant.SignIn(t, &tenant.StoreA), id).Status)
		require.Equal(t, http.StatusNotFound, deliver(s.NewTenant(t).SignIn(t, nil), id).Status)
	})
}
