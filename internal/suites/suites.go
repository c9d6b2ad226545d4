package main

import (
	"context"
	"io"
	"strings"
)

// module is the prefix of every package of the project.
const module = "despacho/"

// suite is a set of checks that has a line of its own in the table.
type suite struct {
	name string
	// owns is the directory whose packages are this suite's alone.
	owns string
	// rest makes it the suite of every package that no other one owns.
	rest  bool
	needs []need
	run   func(ctx context.Context, s suite, env *environment, out io.Writer) counts

	packages []string // those whose tests it runs
}

// suites are run in this order. Those whose packages do not exist are not listed.
var suites = []suite{
	{name: "lint", run: lint},
	{name: "units", rest: true, needs: []need{compiler, postgres, temporal}, run: goTest},
	{name: "workflows", owns: "workflows", needs: []need{compiler, temporal}, run: goTest},
	{name: "worker", owns: "worker", needs: []need{compiler, postgres, temporal}, run: goTest},
	{name: "webhooks", owns: "webhooks", needs: []need{compiler, postgres, temporal}, run: goTest},
	{name: "api", owns: "api", needs: []need{compiler, postgres, temporal}, run: goTest},
	{name: "panel", owns: "web", needs: []need{compiler, postgres, temporal}, run: goTest},
	{name: "attacks", owns: "attacks", needs: []need{compiler, postgres, temporal}, run: goTest},
	{name: "chaos", owns: "internal/chaos", needs: []need{compiler, postgres, temporal}, run: goTest},
	{name: "browser", owns: "browser", needs: []need{compiler, chromium, postgres, temporal}, run: goTest},
}

// assign gives every package to its suite and drops the suites that get none.
func assign(packages []string) []suite {
	byOwner := map[string][]string{}
	for _, path := range packages {
		owner := ownerOf(strings.TrimPrefix(path, module))
		byOwner[owner] = append(byOwner[owner], path)
	}
	var assigned []suite
	for _, s := range suites {
		switch {
		case s.rest:
			s.packages = byOwner[""]
		case s.owns != "":
			s.packages = byOwner[s.owns]
		default:
			s.packages = packages
		}
		if len(s.packages) > 0 {
			assigned = append(assigned, s)
		}
	}
	return assigned
}

// ownerOf is the directory of the suite that a package belongs to; empty where it is nobody's.
func ownerOf(directory string) string {
	for _, s := range suites {
		if s.owns != "" && (directory == s.owns || strings.HasPrefix(directory, s.owns+"/")) {
			return s.owns
		}
	}
	return ""
}
