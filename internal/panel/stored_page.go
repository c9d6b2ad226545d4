package panel

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/encryption"
	"despacho/internal/jsonbody"
	"despacho/models"
)

// ShowsSecret is set in the context of a request whose response shows a secret.
const ShowsSecret = "shows secret"

const (
	// storedPageParameter names the stored page in the URL of the page it takes the place of.
	storedPageParameter = "resultado"
	// storedPageDuration is how long going back or reloading shows the result of a form.
	storedPageDuration = time.Hour
	// secretDuration is how long a page that shows a secret waits for the browser.
	secretDuration = 5 * time.Minute
)

// redirectToStored stores the page that answers a form and redirects to it (post, redirect, get):
// reloading it does not send the form again, and going back to it works. It is encrypted, and only
// the session that sent the form can read it.
func (p *Pages) redirectToStored(v *Request, status int, content []byte) error {
	now := p.Clock.Now()
	stored := models.StoredPage{
		ID: uuid.New(), SessionID: v.Who.SessionID, Status: status, Once: v.ShowsSecret,
		CreatedAt: now, ExpiresAt: now.Add(storedPageDuration),
	}
	if stored.Once {
		stored.ExpiresAt = now.Add(secretDuration)
	}
	var packed bytes.Buffer
	zipper := gzip.NewWriter(&packed)
	if _, err := zipper.Write(content); err != nil {
		return err
	}
	if err := zipper.Close(); err != nil {
		return err
	}
	stored.Content = p.Secrets.Seal(packed.Bytes(), storedPageContext(&stored))
	err := p.DB.InsertStoredPage(v.Ctx(), &stored)
	if db.IsNotFound(err) { // the session ended meanwhile: nobody could ask for the page
		v.Data(status, htmlType, content)
		return nil
	}
	if err != nil {
		return err
	}
	target := p.pageOf(v)
	query := target.Query()
	query.Set(storedPageParameter, stored.ID.String())
	target.RawQuery = query.Encode()
	v.Redirect(http.StatusSeeOther, target.String())
	return nil
}

// storedPageContext binds the encrypted content to its row and its session.
func storedPageContext(page *models.StoredPage) []byte {
	return append(page.ID[:], page.SessionID[:]...)
}

// PageOf is the address of the page that a request belongs to, for after signing in.
func (p *Pages) PageOf(c *gin.Context) string { return p.pageOf(&Request{Context: c}).String() }

// pageOf is the address of the page that a form or a file belongs to: the one that the handler
// names, its own if that is also a page, the list that the file has, or the nearest page above it.
func (p *Pages) pageOf(v *Request) *url.URL {
	if v.PagePath != "" {
		return &url.URL{Path: v.PagePath}
	}
	query := v.Request.URL.Query()
	query.Del(accountParameter)
	target := url.URL{Path: v.Request.URL.Path, RawQuery: query.Encode()}
	for route := v.FullPath(); !p.readable[route]; route = above(route) {
		target.Path = above(target.Path)
	}
	return &target
}

// fileSuffix is how the path of a file ends; the rest of it may be the page of its list.
const fileSuffix = ".csv"

func above(at string) string {
	if list, isFile := strings.CutSuffix(at, fileSuffix); isFile {
		return list
	}
	return path.Dir(at)
}

// NamesStored reports whether a request asks for a stored page.
func NamesStored(v *Request) bool {
	return v.Request.Method == http.MethodGet && v.Query(storedPageParameter) != "" && !isFragment(v)
}

// ShowStored shows the stored page that the URL names. Once that is gone, or its key was replaced,
// it redirects to the page that it took the place of.
func (p *Pages) ShowStored(v *Request) error {
	if id, ok := jsonbody.ParseUUID(v.Query(storedPageParameter)); ok {
		stored, err := p.DB.TakeStoredPage(v.Ctx(), id, v.Who.SessionID, p.Clock.Now())
		if err == nil {
			err = p.sendStored(v, stored)
		}
		if !db.IsNotFound(err) && !errors.Is(err, encryption.ErrOpen) {
			return err
		}
	}
	target := url.URL{Path: v.Request.URL.Path}
	query := v.Request.URL.Query()
	query.Del(storedPageParameter)
	target.RawQuery = query.Encode()
	v.Redirect(http.StatusSeeOther, target.String())
	return nil
}

func (p *Pages) sendStored(v *Request, stored *models.StoredPage) error {
	packed, err := p.Secrets.Open(stored.Content, storedPageContext(stored))
	if err != nil {
		return err
	}
	unzipper, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	content, err := io.ReadAll(unzipper)
	if err != nil {
		return err
	}
	if stored.Once {
		v.Set(ShowsSecret, true)
	}
	v.Data(stored.Status, htmlType, content)
	return nil
}
