package models_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/models"
)

func TestCompareStores(t *testing.T) {
	t.Parallel()
	monday := time.Date(2026, 3, 2, 15, 4, 5, 0, time.UTC)
	older, newer := models.Store{Name: "zapatería", CreatedAt: monday}, models.Store{Name: "Zapatería", CreatedAt: monday.Add(time.Hour)}
	stores := []models.Store{newer, {Name: "Ñandú"}, {Name: "beta"}, older, {Name: "Ópalo"}, {Name: "ánfora"}, {Name: "Nube"}}
	slices.SortFunc(stores, models.CompareStores)
	require.Equal(t, []models.Store{{Name: "ánfora"}, {Name: "beta"}, {Name: "Ñandú"}, {Name: "Nube"}, {Name: "Ópalo"}, older, newer}, stores)
}

func TestCompareBranches(t *testing.T) {
	t.Parallel()
	branches := []models.Branch{{Name: "Óvalo"}, {Name: "Zona Sur", Main: true}, {Name: "este"}}
	slices.SortFunc(branches, models.CompareBranches)
	require.Equal(t, []models.Branch{{Name: "Zona Sur", Main: true}, {Name: "este"}, {Name: "Óvalo"}}, branches)
}
