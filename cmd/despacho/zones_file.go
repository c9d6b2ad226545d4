package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"despacho/internal/catalog"
	"despacho/internal/maplink"
	"despacho/internal/panel/csvfile"
)

const (
	// ubigeoCountry is the country whose districts have ubigeos.
	ubigeoCountry = "PE"
	maxZones      = 20_000
	maxZoneName   = 200
	// maxZoneProblems is how many errors of a file are shown.
	maxZoneProblems = 20
)

var zoneColumns = []string{"ubigeo", "zone", "alias", "lat", "lng"}

// readZones reads a file of zones. Its error names the line and the column of each wrong cell.
func readZones(content []byte) ([]catalog.Location, error) {
	table, err := csvfile.Read(content, maxZones)
	if err != nil {
		return nil, err
	}
	known := make([]csvfile.Column, len(zoneColumns))
	for i, name := range zoneColumns {
		known[i] = csvfile.Column{Name: name}
	}
	columns := table.Match(known, nil)
	if wrong := slices.Concat(columns.Unknown, columns.Repeated); len(wrong) > 0 || !columns.Has("ubigeo") ||
		!columns.Has("zone") {
		return nil, fmt.Errorf("line 1: the columns have to be %s, of which ubigeo and zone must be there; these are %q",
			strings.Join(zoneColumns, ", "), table.Header)
	}
	r := zoneReader{index: catalog.NewIndex(catalog.Embedded()), lines: map[uuid.UUID]int{}}
	zones := make([]catalog.Location, len(table.Rows))
	for i, row := range table.Rows {
		r.line = row.Number
		if row.Overflows {
			r.refuse("lng", "more cells than columns")
		}
		zones[i] = r.read(columns.Of(row))
	}
	if len(r.problems) > maxZoneProblems {
		r.problems = append(r.problems[:maxZoneProblems], fmt.Errorf("and %d more", len(r.problems)-maxZoneProblems))
	}
	return zones, errors.Join(r.problems...)
}

// zoneReader reads the rows of a file one by one.
type zoneReader struct {
	index    *catalog.Index
	line     int
	lines    map[uuid.UUID]int // of the zones before
	problems []error
}

func (r *zoneReader) refuse(column, reason string) {
	r.problems = append(r.problems, fmt.Errorf("line %d, column %s: %s", r.line, column, reason))
}

func (r *zoneReader) read(cells map[string]string) catalog.Location {
	district, known := r.index.Resolve(ubigeoCountry, catalog.WrittenPlace{Ubigeo: cells["ubigeo"]}).Only()
	if cells["ubigeo"] == "" || !known {
		r.refuse("ubigeo", fmt.Sprintf("no district has the code %q", cells["ubigeo"]))
	}
	zone := catalog.NewZone(district, r.text(cells, "zone"))
	if zone.Alias = r.text(cells, "alias"); zone.Name == "" {
		r.refuse("zone", "is missing")
	} else if earlier, repeated := r.lines[zone.ID]; repeated && known {
		r.refuse("zone", fmt.Sprintf("%q is the zone of line %d", zone.Name, earlier))
	}
	r.lines[zone.ID] = r.line
	zone.Lat, zone.Lng = r.degrees(cells, "lat"), r.degrees(cells, "lng")
	bounds, _ := maplink.Country(ubigeoCountry)
	switch {
	case (cells["lat"] == "") != (cells["lng"] == ""):
		r.refuse("lat", "lat and lng go together")
	case zone.Lat != nil && zone.Lng != nil && !bounds.Contains(*zone.Lat, *zone.Lng):
		r.refuse("lat", "the point is not in the country; are lat and lng swapped?")
	}
	return zone
}

func (r *zoneReader) text(cells map[string]string, column string) string {
	text := strings.Join(strings.Fields(cells[column]), " ")
	switch {
	case utf8.RuneCountInString(text) > maxZoneName:
		r.refuse(column, fmt.Sprintf("has more than %d characters", maxZoneName))
	case strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == '\x7f' }):
		r.refuse(column, "has control characters")
	}
	return text
}

// degrees reads a number with a point or, as spreadsheets of many countries write it, a comma.
func (r *zoneReader) degrees(cells map[string]string, column string) *float64 {
	if cells[column] == "" {
		return nil
	}
	value, err := strconv.ParseFloat(strings.Replace(cells[column], ",", ".", 1), 64)
	if err != nil {
		r.refuse(column, fmt.Sprintf("%q is not a number of degrees", cells[column]))
		return nil
	}
	return &value
}
