package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"despacho/internal/dev"
	"despacho/test/lab/cluster"
)

const rowReferenceLives = "whole lives a second against temporalio/reference-app-orders-go"

func referenceRows(scale) []string { return []string{rowReferenceLives} }

// studyReference compares whole lives with those of Temporal's reference application for orders, on
// the same Temporal. That program is built from its own repository and named with --reference;
// without it there is nothing to compare with.
func studyReference(ctx context.Context, s *stack) ([]Row, error) {
	if s.options.Reference == "" {
		s.options.log("  not measured: --reference names no program")
		return nil, nil
	}
	reference, err := s.startReference(ctx)
	if err != nil {
		return nil, err
	}
	measured, err := alternate(ctx, s.scale.rounds,
		func(ctx context.Context) (float64, error) { return s.livesPerSecond(ctx, reference.client) },
		func(ctx context.Context) (float64, error) {
			return s.livesPerSecond(ctx, func() lifeClient { return s.main.lifeClient(webhookOperator) })
		})
	if err != nil {
		return nil, err
	}
	row := ratioRow(rowReferenceLives, "lives/s", ratioAtLeast(1.5), measured[0], measured[1]).
		withNote("a life here: created, received, assigned and delivered over HTTP, three webhooks received, the workflow ended; there: created, " +
			"reserved, charged, booked, dispatched and delivered over HTTP, in three workflows, with its data in SQLite, the order's workflow ended")
	return []Row{row}, reference.stop(ctx)
}

// lifeClient makes orders and moves them to their end.
type lifeClient struct {
	create func(context.Context) (id string, err error)
	moves  []func(ctx context.Context, id string) error
	// workflowID is that of the order's workflow.
	workflowID func(id string) string
	close      func()
}

func (s *stack) livesPerSecond(ctx context.Context, connect func() lifeClient) (float64, error) {
	began := time.Now()
	err := s.makeLives(ctx, s.scale.clients, s.scale.lives, connect)
	return float64(s.scale.lives) / time.Since(began).Seconds(), err
}

// makeLives has clients each create their share of the orders, make the first move with all of
// them, then the second, and so on, until the workflows have ended.
func (s *stack) makeLives(ctx context.Context, clients, count int, connect func() lifeClient) error {
	group, ctx := errgroup.WithContext(ctx)
	for n := range clients {
		group.Go(func() error {
			client := connect()
			defer client.close()
			return s.live(ctx, client, (count+n)/clients)
		})
	}
	return group.Wait()
}

func (s *stack) live(ctx context.Context, client lifeClient, count int) error {
	ids := make([]string, count)
	for i := range ids {
		var err error
		if ids[i], err = client.create(ctx); err != nil {
			return err
		}
	}
	for _, move := range client.moves {
		for _, id := range ids {
			if err := move(ctx, id); err != nil {
				return err
			}
		}
	}
	for _, id := range ids {
		if err := s.Client.GetWorkflow(ctx, client.workflowID(id), "").Get(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

func (v *service) lifeClient(number int) lifeClient {
	operator := v.operatorClient(number)
	client := lifeClient{
		create: func(ctx context.Context) (string, error) {
			order, err := operator.create(ctx)
			return order.String(), err
		},
		workflowID: func(id string) string { return workflowOf(uuid.MustParse(id)) },
		close:      operator.Close,
	}
	for _, move := range []func(context.Context, uuid.UUID) error{operator.receive, operator.assign, operator.deliver} {
		client.moves = append(client.moves, func(ctx context.Context, id string) error { return move(ctx, uuid.MustParse(id)) })
	}
	return client
}

// referenceApp is the reference application: one process with its APIs, one with its workers.
type referenceApp struct {
	api, worker       *dev.Process
	orders, shipments string
}

func (s *stack) startReference(ctx context.Context) (*referenceApp, error) {
	directory := filepath.Join(s.Dir, "reference") // its SQLite file is in the working directory
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return nil, err
	}
	environment := []string{"TEMPORAL_ADDRESS=" + s.Temporal.Address}
	addresses := map[string]string{}
	for _, name := range []string{"BILLING", "ORDER", "SHIPMENT", "FRAUD"} {
		address, err := cluster.FreeAddress()
		if err != nil {
			return nil, err
		}
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		addresses[name] = address
		environment = append(environment, name+"_API_PORT="+port, name+"_API_URL=http://"+address)
	}
	reference := &referenceApp{orders: addresses["ORDER"], shipments: addresses["SHIPMENT"]}
	for command, process := range map[string]**dev.Process{cluster.API: &reference.api, cluster.Worker: &reference.worker} {
		var err error
		*process, err = dev.Start(dev.Command{
			Name: "reference " + command, Path: s.options.Reference, Args: []string{command}, Dir: directory, Env: environment,
			StopSignal: syscall.SIGINT,
		})
		if err != nil {
			return nil, err
		}
		s.OnClose((*process).Stop)
	}
	return reference, cluster.Poll(ctx, time.Minute, "the reference application does not answer", func() (bool, error) {
		connection := cluster.NewConnection(reference.orders)
		defer connection.Close()
		_, err := connection.Expect(ctx, http.StatusOK, cluster.Request{Method: http.MethodGet, Path: "/orders"})
		return err == nil, nil
	})
}

// stop stops the processes before the stack is closed.
func (r *referenceApp) stop(ctx context.Context) error {
	return errors.Join(r.api.Stop(ctx), r.worker.Stop(ctx))
}

// shipmentInterval is between two attempts to move a shipment that does not exist yet. It costs the
// reference application little, and a client has other orders meanwhile.
const shipmentInterval = 250 * time.Millisecond

func (r *referenceApp) client() lifeClient {
	orders, shipments := cluster.NewConnection(r.orders), cluster.NewConnection(r.shipments)
	carrierUpdate := func(status string) func(context.Context, string) error {
		return func(ctx context.Context, id string) error {
			request := cluster.Request{
				Method: http.MethodPost, Path: "/shipments/" + id + ":1/status", Body: fmt.Appendf(nil, `{"status":%q}`, status),
			}
			for {
				answer, err := shipments.Do(ctx, request)
				if err != nil {
					return err
				}
				if answer.Status == http.StatusOK {
					return nil
				}
				if answer.Status != http.StatusNotFound {
					return fmt.Errorf("%s answered %d: %.200s", request.Path, answer.Status, answer.Body)
				}
				if err := cluster.Sleep(ctx, shipmentInterval); err != nil {
					return err
				}
			}
		}
	}
	return lifeClient{
		create: func(ctx context.Context) (string, error) {
			id := uuid.NewString()
			_, err := orders.Expect(ctx, http.StatusCreated, cluster.Request{
				Method: http.MethodPost, Path: "/orders", Body: fmt.Appendf(nil, `{"id":%q,"customerId":"1","items":[{"sku":"A","quantity":1}]}`, id),
			})
			return id, err
		},
		moves:      []func(context.Context, string) error{carrierUpdate("dispatched"), carrierUpdate("delivered")},
		workflowID: func(id string) string { return "Order:" + id },
		close: func() {
			orders.Close()
			shipments.Close()
		},
	}
}
