package bench

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"mime/multipart"
	"net/http"
	"regexp"
	"slices"
	"time"

	"despacho/test/lab/cluster"
)

const (
	// uploadBatch is how many rows the page's script sends at a time.
	uploadBatch = 20
	// uploadLimit is the goal of a whole upload, in seconds.
	uploadLimit = 5
)

func uploadName(sc scale) string {
	return fmt.Sprintf("upload of %s rows in the panel, from the button to the last row created", formatCount(sc.uploadRows))
}

func uploadStudyRows(sc scale) []string { return []string{uploadName(sc)} }

// studyUpload creates the orders of a file as the panel's page does: it sends the file, and then
// the rows of the preview a few at a time, one request after the other. The time begins with the
// first of these.
func studyUpload(ctx context.Context, s *stack) ([]Row, error) {
	client := cluster.NewConnection(s.main.api.Address)
	defer client.Close()
	u := &uploader{client: client, token: s.tenants.sessions[mainOperator], rows: s.scale.uploadRows}
	round := 0
	measured, err := alternate(ctx, s.scale.rounds, func(ctx context.Context) (float64, error) {
		round++
		took, err := u.upload(ctx, round)
		return took.Seconds(), err
	})
	if err != nil {
		return nil, err
	}
	return []Row{absoluteRow(uploadName(s.scale), "s", atMost(uploadLimit), measured[0])}, nil
}

// uploader uploads files in a session of the panel.
type uploader struct {
	client *cluster.Connection
	token  string
	rows   int
}

func (u *uploader) upload(ctx context.Context, round int) (time.Duration, error) {
	file, err := u.file(ctx, round)
	if err != nil {
		return 0, err
	}
	preview, err := u.preview(ctx, file)
	if err != nil {
		return 0, err
	}
	seenAt, delimiter := hiddenField(preview, "visto"), hiddenField(preview, "separador")
	var rows []json.RawMessage
	if err := json.Unmarshal(hiddenField(preview, "filas"), &rows); err != nil || len(rows) != u.rows {
		return 0, fmt.Errorf("the preview has %d rows: %w", len(rows), err)
	}
	began := time.Now()
	for batch := range slices.Chunk(rows, uploadBatch) {
		packed, err := json.Marshal(batch)
		if err != nil {
			return 0, err
		}
		answer, err := u.send(ctx, "/panel/carga/crear", "rows", map[string][]byte{"filas": packed, "visto": seenAt, "separador": delimiter})
		if err != nil {
			return 0, err
		}
		if created := bytes.Count(answer.Body, []byte(`data-state="created"`)); created != len(batch) {
			return 0, fmt.Errorf("%d of %d rows were created", created, len(batch))
		}
	}
	return time.Since(began), nil
}

// file is the example row of the panel's template, so many times, each with a number of its own.
func (u *uploader) file(ctx context.Context, round int) ([]byte, error) {
	template, err := u.client.Expect(ctx, http.StatusOK, cluster.Request{Method: http.MethodGet, Path: "/panel/carga/plantilla.csv?separador=coma", Token: u.token})
	if err != nil {
		return nil, err
	}
	table, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(template.Body, []byte("\ufeff")))).ReadAll()
	if err != nil || len(table) != 2 {
		return nil, fmt.Errorf("the template has %d lines: %w", len(table), err)
	}
	number := slices.Index(table[0], "codigo_externo")
	if number < 0 {
		return nil, fmt.Errorf("the template's columns are %q", table[0])
	}
	lines := [][]string{table[0]}
	for i := range u.rows {
		line := slices.Clone(table[1])
		line[number] = fmt.Sprintf("bench-%d-%d", round, i)
		lines = append(lines, line)
	}
	var content bytes.Buffer
	writer := csv.NewWriter(&content)
	if err := writer.WriteAll(lines); err != nil {
		return nil, err
	}
	return content.Bytes(), nil
}

// preview sends the file and opens the page that the answer leads to.
func (u *uploader) preview(ctx context.Context, file []byte) ([]byte, error) {
	answer, err := u.send(ctx, "/panel/carga", "", map[string][]byte{"archivo": file})
	if err != nil {
		return nil, err
	}
	page, err := u.client.Expect(ctx, http.StatusOK, cluster.Request{Method: http.MethodGet, Path: answer.Header.Get("Location"), Token: u.token})
	if err != nil {
		return nil, err
	}
	return page.Body, nil
}

// send sends a form; its field archivo is a file.
func (u *uploader) send(ctx context.Context, path, fragment string, fields map[string][]byte) (*cluster.Answer, error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, content := range fields {
		part, err := form.CreateFormField(name)
		if name == "archivo" {
			part, err = form.CreateFormFile(name, "pedidos.csv")
		}
		if err != nil {
			return nil, err
		}
		if _, err := part.Write(content); err != nil {
			return nil, err
		}
	}
	if err := form.Close(); err != nil {
		return nil, err
	}
	status := http.StatusOK
	if fragment == "" {
		status = http.StatusSeeOther
	}
	return u.client.Expect(ctx, status, cluster.Request{
		Method: http.MethodPost, Path: path, Token: u.token, Fragment: fragment, Body: body.Bytes(), ContentType: form.FormDataContentType(),
	})
}

// hiddenField is the value of a hidden field of a page.
func hiddenField(page []byte, name string) []byte {
	found := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindSubmatch(page)
	if found == nil {
		return nil
	}
	return []byte(html.UnescapeString(string(found[1])))
}
