package bench

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/models"
	"despacho/test/lab/cluster"
)

// panelPage is a page of the panel's list; its path may depend on the number of orders.
type panelPage struct {
	name string
	path func(orders int) string
	// finds is false for the search that finds nothing.
	finds bool
}

var panelPages = []panelPage{
	{"first page", func(int) string { return "/panel/pedidos?estado=received" }, true},
	{"last page", func(orders int) string {
		return fmt.Sprintf("/panel/pedidos?estado=received&pagina=%d", (orders+ordersPerPage-1)/ordersPerPage)
	}, true},
	{"all statuses", func(int) string { return "/panel/pedidos" }, true},
	{"one store", func(int) string { return "/panel/pedidos?estado=received&tienda=" + id("store", mainOperator).String() }, true},
	{"search", func(int) string { return "/panel/pedidos?estado=received&q=nadie" }, false},
}

const (
	ordersPerPage = 50
	// panelReads is how often a page is read in a round; the shortest counts.
	panelReads = 5
	// panelLimit is the goal of a page, in milliseconds.
	panelLimit = 200
)

// dialects are the databases that the service runs on.
var dialects = []struct {
	dialect db.Dialect
	name    string
}{{db.Postgres, "PostgreSQL"}, {db.SQLite, "SQLite"}}

func panelPageName(sc scale, page, on string) string {
	return fmt.Sprintf("panel, %s orders in a tab: %s, on %s", formatCount(sc.panelOrders), page, on)
}

func panelRows(sc scale) []string {
	var names []string
	for _, on := range dialects {
		for _, page := range panelPages {
			names = append(names, panelPageName(sc, page.name, on.name))
		}
	}
	return names
}

// studyPanel reads pages of the panel's list of an operator with many orders of one status, one
// request at a time.
func studyPanel(ctx context.Context, s *stack) ([]Row, error) {
	var rows []Row
	for _, on := range dialects {
		wanted := func(page panelPage) bool { return s.options.wants(panelPageName(s.scale, page.name, on.name)) }
		if !slices.ContainsFunc(panelPages, wanted) {
			continue
		}
		s.options.log(fmt.Sprintf("inventing %s orders on %s", formatCount(s.scale.panelOrders), on.name))
		measured, err := s.readPanel(ctx, on.dialect, on.name)
		if err != nil {
			return nil, fmt.Errorf("on %s: %w", on.name, err)
		}
		rows = append(rows, measured...)
	}
	return rows, nil
}

func (s *stack) readPanel(ctx context.Context, dialect db.Dialect, on string) ([]Row, error) {
	seed, token := s.seedPanelPostgres, s.tenants.sessions[mainOperator]
	if dialect == db.SQLite {
		seed = s.seedPanelSQLite
	}
	address, opened, err := seed(ctx)
	if err != nil {
		return nil, err
	}
	if opened != "" {
		token = opened
	}
	reader, err := s.startReader(ctx, address)
	if err != nil {
		return nil, err
	}
	client := cluster.NewConnection(reader.api.Address)
	defer client.Close()
	var rows []Row
	for _, page := range panelPages {
		request := cluster.Request{Method: http.MethodGet, Path: page.path(s.scale.panelOrders), Token: token}
		best, err := alternate(ctx, s.scale.rounds, func(ctx context.Context) (float64, error) {
			return minLatency(ctx, panelReads, timed(func(ctx context.Context) error {
				answer, err := client.Expect(ctx, http.StatusOK, request)
				if err == nil && bytes.Contains(answer.Body, []byte("SEED-")) != page.finds {
					err = fmt.Errorf("%s shows other orders than it should", request.Path)
				}
				return err
			}))
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, absoluteRow(panelPageName(s.scale, page.name, on), "ms", atMost(panelLimit), best[0]))
	}
	return rows, reader.stop(ctx)
}

// minLatency is the shortest duration of a call, in milliseconds: the time of the work itself,
// without waiting for a busy machine.
func minLatency(ctx context.Context, turns int, call func(context.Context) (time.Duration, error)) (float64, error) {
	var best time.Duration
	for turn := range turns {
		took, err := call(ctx)
		if err != nil {
			return 0, err
		}
		if turn == 0 || took < best {
			best = took
		}
	}
	return cluster.Milliseconds(best), nil
}

// seedPanelPostgres is a PostgreSQL database with the orders of one operator. The tenants' sessions
// are valid in it.
func (s *stack) seedPanelPostgres(ctx context.Context) (address, token string, err error) {
	if address, err = s.newDatabase(ctx, "bench_board"); err != nil {
		return "", "", err
	}
	return address, "", seedOrders(ctx, address, orderSeed{first: mainOperator, last: mainOperator, each: s.scale.panelOrders, status: models.StatusReceived})
}

// seedPanelSQLite is a SQLite file with such an operator and a panel session.
func (s *stack) seedPanelSQLite(ctx context.Context) (address, token string, err error) {
	address = "sqlite:" + filepath.Join(s.Dir, "board.db")
	if err = s.program().Run(ctx, map[string]string{"DATABASE_URL": address}, "migrate", "up"); err != nil {
		return "", "", err
	}
	database, err := db.Open(ctx, address, db.Options{})
	if err != nil {
		return "", "", err
	}
	defer database.Close()
	now := time.Now().UTC().Truncate(time.Microsecond)
	rows := []any{
		&models.Operator{
			ID: id("operator", mainOperator), Name: "Operador", CountryCode: "PE", Timezone: "America/Lima", Currency: "PEN", Plan: models.PlanBusiness,
			SettingsVersion: 1, CreatedAt: now, UpdatedAt: now,
		},
		&models.Branch{ID: id("branch", mainOperator), OperatorID: id("operator", mainOperator), Name: "Principal", Main: true, Active: true, CreatedAt: now},
		&models.Store{ID: id("store", mainOperator), OperatorID: id("operator", mainOperator), Name: "Tienda", Active: true, CreatedAt: now},
	}
	const batch = 500
	for first := 0; first < s.scale.panelOrders; first += batch {
		orders := make([]models.Order, min(batch, s.scale.panelOrders-first))
		for i := range orders {
			orders[i] = receivedOrder(first+i+1, now)
		}
		rows = append(rows, &orders)
	}
	for _, row := range rows {
		if err := database.Insert(ctx, row); err != nil {
			return "", "", err
		}
	}
	token, err = cluster.OpenSession(ctx, database, id("operator", mainOperator))
	return address, token, err
}

// receivedOrder is what insertOrders makes of the number-th received order.
func receivedOrder(number int, now time.Time) models.Order {
	created, store := now.Add(-time.Duration(number)*time.Second), id("store", mainOperator)
	return models.Order{
		ID: uuid.New(), OperatorID: id("operator", mainOperator), StoreID: &store, BranchID: id("branch", mainOperator),
		GuideCode: fmt.Sprintf("SEED-%d-%d", mainOperator, number), Status: models.StatusReceived, Seq: 2,
		RecipientName: fmt.Sprintf("Rosa Díaz %d", number), RecipientPhone: "+51987654321", DeliveryType: models.DeliveryHome,
		DeliveryAddress: fmt.Sprintf("Av. Larco %d", number), LocationID: cluster.Miraflores, Product: "Zapatillas", Size: "M",
		SearchText:   fmt.Sprintf("seed %d %d rosa diaz %d 51987654321 av larco %d", mainOperator, number, number, number),
		ShippingCost: 900, Currency: "PEN", PaymentType: models.DeliveryOnly, OperativeDay: created.Format(time.DateOnly),
		AutoCancelAt: now.AddDate(0, 0, 30), WorkflowStartedAt: &created, CreatedAt: created, ReceivedAt: &created, UpdatedAt: created,
	}
}
