// The go.mod that Temporal's programs are compiled with: the development server (devserver/main.go)
// and the server on PostgreSQL. They share their packages, so the second one takes seconds.
module despacho/temporal

go 1.26.8

require (
	// Newer ones want a newer Go than go.mod of the project.
	github.com/temporalio/ui-server/v2 v2.55.0
	go.temporal.io/server v1.32.1
)
