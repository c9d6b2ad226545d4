package panel

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/operators"
	"despacho/internal/panel/coveragefile"
	"despacho/internal/panel/csvfile"
	"despacho/internal/panel/format"
	"despacho/internal/panel/forms"
	"despacho/models"
)

// coverageFilePage is the upload form, and the preview of a file's changes.
type coverageFilePage struct {
	Failure string
	// Remove means that places that are not in the file are removed from the coverage.
	Remove bool
	// Errors are the invalid rows; with any of them nothing is applied.
	Errors     []coveragefile.Row
	MoreErrors int
	Rows       int
	Change     *operators.CoverageChange
	Lines      []coverageLine
	More       int
	// Content is the normalized file, for the form that applies it; Seen identifies the coverage that
	// the changes are shown for.
	Content, Seen string
	// Outdated means that the coverage was changed after an earlier preview of the file.
	Outdated bool
}

// coverageLine is a change of the file.
type coverageLine struct {
	Name          string
	Before, After string
	Kind, Style   string
}

// maxShownLines is how many changes a preview lists.
const maxShownLines = 100

func (p *Pages) newCoverageFile(v *Request) error {
	return p.showCoverageFile(v, http.StatusOK, coverageFilePage{})
}

func (p *Pages) showCoverageFile(v *Request, status int, page coverageFilePage) error {
	return p.show(v, status, "coverage_file", "Cargar cobertura", page)
}

// uploadCoverageFile previews an uploaded file.
func (p *Pages) uploadCoverageFile(v *Request) error {
	defer p.extendTimeout(v)()
	content, err := readFile(v)
	page := coverageFilePage{Remove: v.PostForm("quitar") != ""}
	if err == nil {
		err = p.previewCoverage(v, &page, content)
	}
	if err != nil {
		return p.refuseCoverageFile(v, page, err)
	}
	if len(page.Errors) > 0 {
		return p.showCoverageFile(v, http.StatusUnprocessableEntity, page)
	}
	return p.showCoverageFile(v, http.StatusOK, page)
}

func (p *Pages) refuseCoverageFile(v *Request, page coverageFilePage, err error) error {
	f := apperror.From(err)
	if f.Kind == apperror.Internal {
		return err
	}
	return p.showCoverageFile(v, http.StatusUnprocessableEntity, coverageFilePage{Failure: f.Message, Remove: page.Remove})
}

func (p *Pages) previewCoverage(v *Request, page *coverageFilePage, content []byte) error {
	rows, err := p.readCoverageFile(v, content)
	if err != nil {
		return err
	}
	for _, row := range rows {
		switch {
		case row.Complaint == "":
		case len(page.Errors) < maxShownLines:
			page.Errors = append(page.Errors, row)
		default:
			page.MoreErrors++
		}
	}
	page.Rows = len(rows)
	if len(page.Errors) > 0 {
		return nil
	}
	coverage, err := coveragefile.Coverage(rows)
	if err != nil {
		return err
	}
	current, err := p.Operators.Coverage().List(v.Ctx(), v.Operator())
	if err != nil {
		return err
	}
	page.Seen = coverageSeen(current)
	if page.Change, err = p.Operators.CompareCoverage(v.Ctx(), v.Operator(), current,
		operators.CoverageList{Rows: coverage, RemoveOthers: page.Remove}); err != nil {
		return err
	}
	if page.Content, err = coveragefile.Normalized(rows); err != nil {
		return err
	}
	return p.describeCoverage(v, page, current)
}

// coverageSeen identifies the places and prices of a coverage.
func coverageSeen(covered []models.Coverage) string {
	lines := make([]string, len(covered))
	for i, row := range covered {
		lines[i] = row.LocationID.String() + " " + forms.MoneyValue(row.Price)
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}

func (p *Pages) readCoverageFile(v *Request, content []byte) ([]coveragefile.Row, error) {
	index, err := p.Catalog.Index(v.Ctx())
	if err != nil {
		return nil, err
	}
	return coveragefile.Read(index, v.Operator(), content)
}

// describeCoverage describes the changes, removals first.
func (p *Pages) describeCoverage(v *Request, page *coverageFilePage, current []models.Coverage) error {
	before := map[uuid.UUID]string{}
	for _, row := range current {
		before[row.LocationID] = priceWords(row.Price, v.Operator())
	}
	for _, part := range []struct {
		rows        []models.Coverage
		kind, style string
	}{{page.Change.Removed, "Se quita", "bad"}, {page.Change.Changed, "Cambia", "warn"},
		{page.Change.Added, "Se agrega", "good"}} {
		for _, row := range part.rows {
			if len(page.Lines) == maxShownLines {
				page.More++
				continue
			}
			name, err := p.placeNamed(v.Ctx(), row.LocationID.String())
			if err != nil {
				return err
			}
			line := coverageLine{Name: name, Before: orDash(before[row.LocationID]), After: priceWords(row.Price, v.Operator()),
				Kind: part.kind, Style: part.style}
			if part.style == "bad" {
				line.After = orDash("")
			}
			page.Lines = append(page.Lines, line)
		}
	}
	return nil
}

// applyCoverageFile applies the previewed changes, all of them or none. If the coverage was changed
// meanwhile, these are other changes, and their preview is shown first.
func (p *Pages) applyCoverageFile(v *Request) error {
	defer p.extendTimeout(v)()
	values, err := posted(v.Context)
	if err != nil {
		return err
	}
	page := coverageFilePage{Remove: values.Get("quitar") != ""}
	content := []byte(values.Get("contenido"))
	rows, err := p.readCoverageFile(v, content)
	var coverage []operators.CoverageRow
	if err == nil {
		coverage, err = coveragefile.Coverage(rows)
	}
	var change *operators.CoverageChange
	if err == nil {
		list := operators.CoverageList{Rows: coverage, RemoveOthers: page.Remove}
		change, err = p.Operators.ApplyCoverage(v.Ctx(), v.Operator(), list, func(current []models.Coverage) error {
			if seen := values.Get(forms.SeenName); seen != "" && seen != coverageSeen(current) {
				return errRowChanged
			}
			return nil
		})
	}
	if errors.Is(err, errRowChanged) {
		page.Outdated = true
		if err = p.previewCoverage(v, &page, content); err == nil {
			return p.showCoverageFile(v, http.StatusUnprocessableEntity, page)
		}
	}
	if err != nil {
		return p.refuseCoverageFile(v, page, err)
	}
	added, changed, removed := len(change.Added), len(change.Changed), len(change.Removed)
	message := fmt.Sprintf("Cobertura cargada: %d %s, %d %s, %d sin cambio",
		added, format.Plural(added, "agregado", "agregados"), changed, format.Plural(changed, "cambiado", "cambiados"),
		change.Unchanged)
	if page.Remove {
		message += fmt.Sprintf(", %d %s", removed, format.Plural(removed, "quitado", "quitados"))
	}
	return p.done(v, coveragePath, message+".")
}

func (p *Pages) downloadCoverage(v *Request) error {
	places, err := p.coveredPlaces(v)
	if err != nil {
		return err
	}
	rows := make([]coveragefile.Row, len(places))
	for i, covered := range places {
		rows[i] = coveragefile.Row{Place: covered.place, Price: covered.Price}
		rows[i].Place.ID = covered.LocationID // also of a place that the catalog does not have
	}
	return sendCSV(v, "cobertura.csv", coveragefile.Table(rows), csvfile.Semicolon)
}
