// Command workflowcheck reports what is not deterministic in workflows. It is Temporal's checker
// as a tool of `go vet`, which keeps what it finds in dependencies in the build cache: Temporal's
// own command analyses all of them again in each run.
package main

import (
	"go.temporal.io/sdk/contrib/tools/workflowcheck/workflow"
	"golang.org/x/tools/go/analysis/unitchecker"
)

func main() {
	unitchecker.Main(workflow.NewChecker(workflow.Config{}).NewAnalyzer())
}
