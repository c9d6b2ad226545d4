package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"despacho/worker"
)

// versionView is a version of the deployment in the JSON output.
type versionView struct {
	Version       string     `json:"version"`
	Status        string     `json:"status"`
	Workers       int        `json:"workers"`
	OpenWorkflows int64      `json:"open_workflows"`
	CreatedAt     *time.Time `json:"created_at"`
}

func (v versionView) row() []any {
	created := "-"
	if v.CreatedAt != nil {
		created = v.CreatedAt.UTC().Format(time.RFC3339)
	}
	return []any{v.Version, v.Status, v.Workers, v.OpenWorkflows, created}
}

var versionColumns = []any{"VERSION", "STATUS", "WORKERS", "OPEN WORKFLOWS", "FIRST SEEN"}

func printDeployment(ctx context.Context, cmd *cobra.Command, d *worker.Deployment) error {
	views, err := viewDeployment(ctx, d)
	if err != nil {
		return err
	}
	rows := make([][]any, len(views))
	for i, view := range views {
		rows[i] = view.row()
	}
	return printResult(cmd, views, versionColumns, rows...)
}

// viewDeployment lists the versions, and the workers without a version if there is anything to say
// about them.
func viewDeployment(ctx context.Context, d *worker.Deployment) ([]versionView, error) {
	routing, err := d.Routing(ctx)
	if errors.Is(err, worker.ErrNoDeployment) {
		routing, err = &worker.Routing{}, nil
	}
	if err != nil {
		return nil, err
	}
	workers, err := d.Workers(ctx)
	if err != nil {
		return nil, err
	}
	views := []versionView{}
	for _, version := range append(routing.Versions, worker.Version{BuildID: worker.Unversioned}) {
		open, err := d.OpenWorkflows(ctx, version.BuildID)
		if err != nil {
			return nil, err
		}
		view := versionView{
			Version: worker.VersionName(version.BuildID), Status: statusOf(version, routing),
			Workers: workers[version.BuildID], OpenWorkflows: open,
		}
		if !version.CreatedAt.IsZero() {
			view.CreatedAt = &version.CreatedAt
		}
		if version.BuildID != worker.Unversioned || view.Workers > 0 || open > 0 || view.Status != inactive {
			views = append(views, view)
		}
	}
	return views, nil
}

const inactive = "inactive"

func statusOf(version worker.Version, routing *worker.Routing) string {
	switch {
	case version.BuildID == routing.Current:
		return "current"
	case routing.Percentage > 0 && version.BuildID == routing.Ramping:
		return fmt.Sprintf("ramping %g%%", routing.Percentage)
	case version.Drainage == client.WorkerDeploymentVersionDrainageStatusDraining:
		return "draining"
	case version.Drainage == client.WorkerDeploymentVersionDrainageStatusDrained:
		return "drained"
	}
	return inactive
}
