package bench

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"

	"despacho/test/lab/cluster"
)

const rowIsolation = "webhook arrival, how much later beside a receiver that hangs than beside one that answers, p50"

func isolationRows(scale) []string { return []string{rowIsolation} }

// studyIsolation measures the time from a creation to the arrival of its event, while a second
// receiver of the same orders answers and while it hangs, by turns.
func studyIsolation(ctx context.Context, s *stack) (rows []Row, err error) {
	answering, err := cluster.StartReceiver(s.Certificates, func(*http.Request, []byte) {})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, answering.Kill()) }()
	released := make(chan struct{})
	var held atomic.Int64
	hanging, err := cluster.StartReceiver(s.Certificates, func(*http.Request, []byte) {
		held.Add(1)
		<-released
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, hanging.Kill()) }()
	release := sync.OnceFunc(func() { close(released) })
	defer release() // before the receiver is closed

	caller := s.main.operatorClient(webhookOperator)
	defer caller.Close()
	delayWith := func(other *cluster.Receiver) func(context.Context) (float64, error) {
		return func(ctx context.Context) (float64, error) {
			webhook, err := s.main.register(ctx, other.URL)
			if err != nil {
				return 0, err
			}
			drain(s.receiver.arrivals)
			delay, err := medianLatency(ctx, s.scale.samples, timed(func(ctx context.Context) error {
				if _, err := caller.create(ctx); err != nil {
					return err
				}
				_, err := s.receiver.arrival(ctx)
				return err
			}))
			return delay, errors.Join(err, s.main.deactivate(ctx, webhook))
		}
	}
	measured, err := alternate(ctx, s.scale.rounds, delayWith(answering), delayWith(hanging))
	if err != nil {
		return nil, err
	}
	if held.Load() == 0 {
		return nil, errors.New("the receiver that hangs was never called")
	}
	later := make([]float64, len(measured[0]))
	for i := range later {
		later[i] = measured[1][i] - measured[0][i]
	}
	row := absoluteRow(rowIsolation, "ms", atMost(100), later).
		withNote("from the creation's request to the arrival: %s ms beside one that answers, %s ms beside one that hangs", formatFigure(median(measured[0])), formatFigure(median(measured[1])))
	return []Row{row}, nil
}

// deactivate ends a webhook of the operator that has one.
func (v *service) deactivate(ctx context.Context, webhook string) error {
	return v.deactivateAs(ctx, v.stack.tenants.webhookKeys.Key(), webhook)
}

// deactivateAs ends a webhook with a key.
func (v *service) deactivateAs(ctx context.Context, key, webhook string) error {
	client := cluster.NewConnection(v.api.Address)
	defer client.Close()
	_, err := client.Expect(ctx, http.StatusOK, cluster.Request{
		Method: http.MethodDelete, Path: "/v1/webhooks/" + webhook, Key: key,
	})
	return err
}

// webhookID is the id of a webhook that was just registered.
func webhookID(answer []byte) (string, error) {
	var registered struct{ Data struct{ ID string } }
	if err := json.Unmarshal(answer, &registered); err != nil {
		return "", err
	}
	if registered.Data.ID == "" {
		return "", errors.New("the new webhook has no id")
	}
	return registered.Data.ID, nil
}
