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

	"despacho/db"
	"despacho/lab/cluster"
	"despacho/models"
)

// boardPage is a page of the panel's list; where it is may depend on how many orders there are.
type boardPage struct {
	name string
	path func(orders int) string
	// finds is false for the search that finds nothing.
	finds bool
}

var boardPages = []boardPage{
	{"first page", func(int) string { return "/panel/pedidos?estado=received" }, true},
	{"last page", func(orders int) string {
		return fmt.Sprintf("/panel/pedidos?estado=received&pagina=%d", (orders+ordersPerPage-1)/ordersPerPage)
	}, true},
	{"all statuses", func(int) string { return "/panel/pedidos" }, true},
	{"one store", func(int) string { return "/panel/pedidos?estado=received&tienda=" + id("store", theOne).String() }, true},
	{"search", func(int) string { return "/panel/pedidos?estado=received&q=nadie" }, false},
}

const (
	ordersPerPage = 50
	// boardTurns is how often a page is read in a round, of which the quickest counts.
	boardTurns = 5
	// boardLimit is as long as a page may take, in milliseconds.
	boardLimit = 200
)

// dialects are the databases that the service runs on.
var dialects = []struct {
	dialect db.Dialect
	name    string
}{{db.Postgres, "PostgreSQL"}, {db.SQLite, "SQLite"}}

func boardName(sc scale, page, on string) string {
	return fmt.Sprintf("panel, %s orders in a tab: %s, on %s", count(sc.board), page, on)
}

func boardRows(sc scale) []string {
	var names []string
	for _, on := range dialects {
		for _, page := range boardPages {
			names = append(names, boardName(sc, page.name, on.name))
		}
	}
	return names
}

// studyBoard reads pages of the panel's list of an operator that has many orders in one tab, one
// request at a time.
func studyBoard(ctx context.Context, s *stack) ([]Row, error) {
	var rows []Row
	for _, on := range dialects {
		wanted := func(page boardPage) bool { return s.options.wants(boardName(s.scale, page.name, on.name)) }
		if !slices.ContainsFunc(boardPages, wanted) {
			continue
		}
		s.options.log(fmt.Sprintf("inventing %s orders on %s", count(s.scale.board), on.name))
		measured, err := s.readBoard(ctx, on.dialect, on.name)
		if err != nil {
			return nil, fmt.Errorf("on %s: %w", on.name, err)
		}
		rows = append(rows, measured...)
	}
	return rows, nil
}

func (s *stack) readBoard(ctx context.Context, dialect db.Dialect, on string) ([]Row, error) {
	seed, token := s.seedBoard, s.tenants.sessions[theOne]
	if dialect == db.SQLite {
		seed = s.seedSQLiteBoard
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
	for _, page := range boardPages {
		request := cluster.Request{Method: http.MethodGet, Path: page.path(s.scale.board), Token: token}
		best, err := alternate(ctx, s.scale.rounds, func(ctx context.Context) (float64, error) {
			return quickest(ctx, boardTurns, timed(func(ctx context.Context) error {
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
		rows = append(rows, alone(boardName(s.scale, page.name, on), "ms", atMost(boardLimit), best[0]))
	}
	return rows, reader.stop(ctx)
}

// quickest is the least that a call took, in milliseconds: what counts is how long the work takes,
// not how long it waits for the machine.
func quickest(ctx context.Context, turns int, call func(context.Context) (time.Duration, error)) (float64, error) {
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
	return milliseconds(best), nil
}

// seedBoard is a PostgreSQL database with the orders of one operator. The tenants' own sessions
// open it.
func (s *stack) seedBoard(ctx context.Context) (address, token string, err error) {
	if address, err = s.newDatabase(ctx, "bench_board"); err != nil {
		return "", "", err
	}
	return address, "", seedOrders(ctx, address, orderSeed{first: theOne, last: theOne, each: s.scale.board, status: models.StatusReceived})
}

// seedSQLiteBoard is a file with an operator like that, and a session of its staff.
func (s *stack) seedSQLiteBoard(ctx context.Context) (address, token string, err error) {
	address = "sqlite:" + filepath.Join(s.dir, "board.db")
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
			ID: id("operator", theOne), Name: "Operador", CountryCode: "PE", Timezone: "America/Lima", Currency: "PEN", Plan: models.PlanBusiness,
			SettingsVersion: 1, CreatedAt: now, UpdatedAt: now,
		},
		&models.Branch{ID: id("branch", theOne), OperatorID: id("operator", theOne), Name: "Principal", Main: true, Active: true, CreatedAt: now},
		&models.Store{ID: id("store", theOne), OperatorID: id("operator", theOne), Name: "Tienda", Active: true, CreatedAt: now},
	}
	const batch = 500
	for first := 0; first < s.scale.board; first += batch {
		orders := make([]models.Order, min(batch, s.scale.board-first))
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
	token, err = cluster.OpenSession(ctx, database, id("operator", theOne))
	return address, token, err
}

// receivedOrder is what insertOrders makes of the number-th received order.
func receivedOrder(number int, now time.Time) models.Order {
	created, store := now.Add(-time.Duration(number)*time.Second), id("store", theOne)
	return models.Order{
		ID: uuid.New(), OperatorID: id("operator", theOne), StoreID: &store, BranchID: id("branch", theOne),
		GuideCode: fmt.Sprintf("SEED-%d-%d", theOne, number), Status: models.StatusReceived, Seq: 2,
		RecipientName: fmt.Sprintf("Rosa Díaz %d", number), RecipientPhone: "+51987654321", DeliveryType: models.DeliveryHome,
		DeliveryAddress: fmt.Sprintf("Av. Larco %d", number), LocationID: miraflores, Product: "Zapatillas", Size: "M",
		SearchText:   fmt.Sprintf("seed %d %d rosa diaz %d 51987654321 av larco %d", theOne, number, number, number),
		ShippingCost: 900, Currency: "PEN", PaymentType: models.DeliveryOnly, OperativeDay: created.Format(time.DateOnly),
		AutoCancelAt: now.AddDate(0, 0, 30), WorkflowStartedAt: &created, CreatedAt: created, ReceivedAt: &created, UpdatedAt: created,
	}
}
