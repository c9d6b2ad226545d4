package workflows

import (
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"
)

// inbox has the messages that a run has not handled yet, in the sequence of the history.
type inbox struct {
	arrived []arrival
	// signals counts the signals that have arrived in this run.
	signals int
}

// arrival is a message that has arrived.
type arrival struct {
	// signal is the name of a signal, whose content waits in the channel of that name; number is its
	// place among the signals of the run.
	signal string
	number int
	// do is what an update asks for; nil for a signal.
	do func(workflow.Context)
}

// SignalOrder keeps the sequence in which the signals of a run have arrived, in the inbox of the
// run. The SDK has a channel for each name of a signal, and nothing else says which came first.
// Whatever runs or replays the workflow of an order needs this interceptor.
type SignalOrder struct {
	interceptor.WorkerInterceptorBase
}

// InterceptWorkflow implements interceptor.WorkerInterceptor.
func (*SignalOrder) InterceptWorkflow(
	_ workflow.Context, next interceptor.WorkflowInboundInterceptor,
) interceptor.WorkflowInboundInterceptor {
	return &signalOrder{WorkflowInboundInterceptorBase: interceptor.WorkflowInboundInterceptorBase{Next: next}}
}

// signalOrder is the SignalOrder of one run.
type signalOrder struct {
	interceptor.WorkflowInboundInterceptorBase
	inbox inbox
}

type inboxKey struct{}

// ExecuteWorkflow implements interceptor.WorkflowInboundInterceptor.
func (s *signalOrder) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	return s.Next.ExecuteWorkflow(workflow.WithValue(ctx, inboxKey{}, &s.inbox), in)
}

// HandleSignal implements interceptor.WorkflowInboundInterceptor. It is called for each signal in
// the sequence of the history, before any workflow code runs.
func (s *signalOrder) HandleSignal(ctx workflow.Context, in *interceptor.HandleSignalInput) error {
	s.inbox.signals++
	s.inbox.arrived = append(s.inbox.arrived, arrival{signal: in.SignalName, number: s.inbox.signals})
	return s.Next.HandleSignal(ctx, in)
}

// inboxOf is the inbox of the run. It panics if the worker lacks SignalOrder, so that the run waits
// for one that has it.
func inboxOf(ctx workflow.Context) *inbox { return ctx.Value(inboxKey{}).(*inbox) }
