package panel

import (
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"despacho/internal/catalog"
	"despacho/internal/jsonbody"
	"despacho/internal/operators"
	"despacho/internal/panel/format"
	"despacho/internal/panel/forms"
	"despacho/models"
)

const (
	storesPath      = "/panel/tiendas"
	storePricesPath = "/panel/tarifas"
	// basePriceName is what a price is for that is of no place.
	basePriceName = "Precio base"
)

// pricesOf is the page of a store's prices.
func pricesOf(storeID uuid.UUID) string { return storesPath + "/" + storeID.String() + "/tarifas" }

// priceCount says how many prices a store has of its own.
func priceCount(count int) string {
	switch count {
	case 0:
		return "Las de todos"
	case 1:
		return "1 propia"
	}
	return strconv.Itoa(count) + " propias"
}

// storePriceForm is the form of a new price, or of one that is there.
func storePriceForm(v *Request, action string, price *models.StorePrice, index *catalog.Index) *forms.Form {
	fields := []forms.Field{
		{Name: "location_id", Label: "Lugar", Kind: forms.Place, Value: placeOfPrice(index, price, ""),
			Hint: "Un lugar de su cobertura. En blanco, el precio base: vale en todos los que no tienen precio propio."},
		{Name: "price", Label: moneyLabel(v, "Precio"), Kind: forms.Money, Required: true},
		{Name: "from_day", Label: "Desde", Kind: forms.Date, Required: true, Value: price.FromDay},
		{Name: "until_day", Label: "Hasta", Kind: forms.Date, Value: orEmpty(price.UntilDay),
			Hint: "Ese día inclusive. En blanco, sin fin."},
	}
	if price.ID == uuid.Nil {
		return &forms.Form{Action: action, Submit: "Agregar tarifa", Fields: fields}
	}
	fields[1].Value = price.Price.String()
	return editForm(action, fields)
}

// placeOfPrice is the full name of the place that a price is for.
func placeOfPrice(index *catalog.Index, price *models.StorePrice, ofNone string) string {
	if price.LocationID == nil {
		return ofNone
	}
	location, _ := index.Location(*price.LocationID)
	return index.FullName(location)
}

// findStore reads the store of the path.
func (p *Pages) findStore(v *Request, id *uuid.UUID) (*models.Store, error) {
	stores, err := p.Operators.Stores().List(v.Ctx(), v.Operator())
	if err != nil {
		return nil, err
	}
	for i := range stores {
		if id != nil && stores[i].ID == *id {
			return &stores[i], nil
		}
	}
	return nil, operators.ErrStoreNotFound
}

func (p *Pages) showStorePrices(v *Request) error {
	store, index, err := p.openStorePrices(v)
	if err != nil {
		return err
	}
	return p.respondStorePrices(v, http.StatusOK, store, index, p.newPriceForm(v, store, index))
}

func (p *Pages) openStorePrices(v *Request) (*models.Store, *catalog.Index, error) {
	store, err := p.findStore(v, optionalID(v.Param("id")))
	if err != nil {
		return nil, nil, err
	}
	index, err := p.Catalog.Index(v.Ctx())
	return store, index, err
}

func (p *Pages) newPriceForm(v *Request, store *models.Store, index *catalog.Index) *forms.Form {
	return storePriceForm(v, pricesOf(store.ID), &models.StorePrice{FromDay: p.today(v)}, index)
}

func (p *Pages) respondStorePrices(
	v *Request, status int, store *models.Store, index *catalog.Index, form *forms.Form,
) error {
	prices, err := p.Operators.PricesOf(v.Ctx(), v.Operator(), store.ID)
	if err != nil {
		return err
	}
	coverage, err := p.Operators.Coverage().List(v.Ctx(), v.Operator())
	if err != nil {
		return err
	}
	covered := map[uuid.UUID]bool{}
	for _, row := range coverage {
		covered[row.LocationID] = true
	}
	page := resourcePage{
		Back: storesPath + "/" + store.ID.String(), BackLabel: store.Name,
		Intro: "Los precios acordados con esta tienda, en lugar de los de Cobertura y tarifas. El recargo del tamaño se suma aparte. " +
			"Los pedidos que ya existen conservan su tarifa.",
		Columns: []string{"Lugar", "Precio", "Desde", "Hasta", "Estado"}, Add: "Agregar tarifa", Form: form,
		Editable: models.SettingsWrite.Allows(&v.Who.User),
	}
	today := p.today(v)
	for i := range prices {
		price := &prices[i]
		place := placeOfPrice(index, price, basePriceName)
		page.Rows = append(page.Rows, resourceRow{
			Path: storePricesPath + "/" + price.ID.String(), Name: "la tarifa de " + place + " desde el " + format.Day(price.FromDay),
			Cells: []cell{
				plain(place), {Text: format.Amount(price.Price, v.Operator().Currency), Money: true}, plain(format.Day(price.FromDay)),
				plain(orDash(format.Day(orEmpty(price.UntilDay)))), priceState(price, today, covered),
			},
		})
	}
	return p.show(v, status, "resource", "Tarifas de "+store.Name, page)
}

// priceState is the cell that says whether a price holds.
func priceState(price *models.StorePrice, today string, covered map[uuid.UUID]bool) cell {
	switch {
	case price.EndsBefore(today):
		return cell{Text: "Terminada", Style: "quiet"}
	case price.LocationID != nil && !covered[*price.LocationID]:
		return cell{Text: "Sin efecto", Style: "bad", Note: "El lugar ya no está en la cobertura."}
	case price.HoldsOn(today):
		return cell{Text: "Vigente", Style: "good"}
	}
	return cell{Text: "Por venir"}
}

func (p *Pages) addStorePrice(v *Request) error {
	store, index, err := p.openStorePrices(v)
	if err != nil {
		return err
	}
	form := p.newPriceForm(v, store, index)
	return p.handle(v, form, func(in *jsonbody.Object) error {
		if _, err := p.Operators.StorePrices().Create(v.Ctx(), v.Operator(), in.With("store_id", store.ID)); err != nil {
			return err
		}
		return p.done(v, pricesOf(store.ID), "Tarifa agregada.")
	}, func(status int) error { return p.respondStorePrices(v, status, store, index, form) })
}

// openStorePrice reads the price of the path with its store.
func (p *Pages) openStorePrice(v *Request) (price *models.StorePrice, store *models.Store, index *catalog.Index, err error) {
	prices, err := p.Operators.StorePrices().List(v.Ctx(), v.Operator())
	if err != nil {
		return nil, nil, nil, err
	}
	id := optionalID(v.Param("id"))
	for i := range prices {
		if id != nil && prices[i].ID == *id {
			price = &prices[i]
		}
	}
	if price == nil {
		return nil, nil, nil, operators.ErrPriceNotFound
	}
	if store, err = p.findStore(v, &price.StoreID); err != nil {
		return nil, nil, nil, err
	}
	index, err = p.Catalog.Index(v.Ctx())
	return price, store, index, err
}

func (p *Pages) editStorePrice(v *Request) error {
	price, store, index, err := p.openStorePrice(v)
	if err != nil {
		return err
	}
	return p.respondStorePrice(v, http.StatusOK, store, price, storePriceForm(v, priceFormPath(price), price, index))
}

func priceFormPath(price *models.StorePrice) string { return storePricesPath + "/" + price.ID.String() }

func (p *Pages) respondStorePrice(
	v *Request, status int, store *models.Store, price *models.StorePrice, form *forms.Form,
) error {
	page := resourceEdit{Back: pricesOf(store.ID), BackLabel: "Tarifas de " + store.Name}
	if models.SettingsWrite.Allows(&v.Who.User) {
		page.Form = form
		page.Actions = []action{{Title: "Quitar la tarifa", Text: "Los pedidos nuevos de la tienda se cobran como si nunca hubiera existido.",
			Form: &forms.Form{Action: priceFormPath(price) + "/quitar", Submit: "Sí, quitarla", Danger: true}}}
	}
	return p.show(v, status, "resource_edit", "Tarifa de "+store.Name, page)
}

func (p *Pages) changeStorePrice(v *Request) error {
	price, store, index, err := p.openStorePrice(v)
	if err != nil {
		return err
	}
	form := storePriceForm(v, priceFormPath(price), price, index)
	return p.handle(v, form, func(in *jsonbody.Object) error {
		_, err := p.Operators.StorePrices().Change(v.Ctx(), v.Operator(), price.ID, in, func(locked *models.StorePrice) error {
			return requireSeen(form, storePriceForm(v, priceFormPath(locked), locked, index))
		})
		if err != nil {
			return err
		}
		return p.done(v, pricesOf(store.ID), "Tarifa guardada. Los pedidos que ya existen conservan la suya.")
	}, func(status int) error { return p.respondStorePrice(v, status, store, price, form) })
}

func (p *Pages) removeStorePrice(v *Request) error {
	price, store, _, err := p.openStorePrice(v)
	if err != nil {
		return err
	}
	if err := p.Operators.DeleteStorePrice(v.Ctx(), v.Operator(), price.ID); err != nil {
		return err
	}
	return p.done(v, pricesOf(store.ID), "Tarifa quitada.")
}
