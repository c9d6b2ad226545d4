// Command workflowcheck reports what is not deterministic in workflows. It is Temporal's checker
// as a tool of `go vet`, which keeps what it finds in dependencies in the build cache: Temporal's
// own command analyses all of them again in each run.
package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"log"
	"os"
	"slices"

	"go.temporal.io/sdk/contrib/tools/workflowcheck/workflow"
	"golang.org/x/tools/go/analysis/unitchecker"
)

func main() {
	if slices.Equal(os.Args[1:], []string{"-V=full"}) {
		if err := printVersion(); err != nil {
			log.Fatal(err)
		}
		return
	}
	unitchecker.Main(workflow.NewChecker(workflow.Config{}).NewAnalyzer())
}

// printVersion prints the line by which `go vet` identifies the tool. The one that unitchecker
// prints begins with the program's path, and `go vet` does not understand it if that has a space.
func printVersion() error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	program, err := os.Open(path)
	if err != nil {
		return err
	}
	defer program.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, program); err != nil {
		return err
	}
	_, err = fmt.Printf("workflowcheck version devel buildID=%x\n", hash.Sum(nil))
	return err
}
