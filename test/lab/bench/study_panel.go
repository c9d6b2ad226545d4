package bench

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

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
	{"filtered", func(int) string {
		return "/panel/pedidos?estado=received&distrito=" + cluster.Miraflores.String()
	}, true},
	{"searched", func(orders int) string { return fmt.Sprintf("/panel/pedidos?estado=received&q=larco+%d", orders/2) }, true},
	{"search", func(int) string { return "/panel/pedidos?estado=received&q=nadie" }, false},
}

const (
	ordersPerPage = 50
	// panelReads is how often a page is read in a round; the shortest counts.
	panelReads = 5
	// panelLimit is the goal of a page, in milliseconds.
	panelLimit = 200
)

func panelPageName(sc scale, page string) string {
	return fmt.Sprintf("panel, %s orders in a tab: %s", formatCount(sc.panelOrders), page)
}

func panelRows(sc scale) []string {
	var names []string
	for _, page := range panelPages {
		names = append(names, panelPageName(sc, page.name))
	}
	return names
}

// studyPanel reads pages of the panel's list of an operator with many orders of one status, one
// request at a time.
func studyPanel(ctx context.Context, s *stack) ([]Row, error) {
	s.options.log(fmt.Sprintf("inventing %s orders", formatCount(s.scale.panelOrders)))
	address, err := s.newDatabase(ctx, "bench_board")
	if err != nil {
		return nil, err
	}
	err = seedOrders(ctx, address, orderSeed{first: mainOperator, last: mainOperator, each: s.scale.panelOrders,
		status: models.StatusReceived})
	if err != nil {
		return nil, err
	}
	reader, err := s.startReader(ctx, address)
	if err != nil {
		return nil, err
	}
	client := cluster.NewConnection(reader.api.Address)
	defer client.Close()
	var rows []Row
	for _, page := range panelPages {
		request := cluster.Request{Method: http.MethodGet, Path: page.path(s.scale.panelOrders),
			Token: s.tenants.sessions[mainOperator]}
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
		rows = append(rows, absoluteRow(panelPageName(s.scale, page.name), "ms", atMost(panelLimit), best[0]))
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
