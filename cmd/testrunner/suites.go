package main

import "strings"

// module is the prefix of every package of the project.
const module = "despacho/"

// suite is a set of checks with its own row in the table.
type suite struct {
	name string
	// owns is the directory whose packages belong to this suite; the test suite without one gets
	// all other packages.
	owns  string
	needs []need
	// lints marks the suite of the linters, which tests no package.
	lints bool
	// withoutRace: the suite runs without the race detector, which makes them two to four times
	// slower: they drive the handlers and use cases from outside that the other suites test with it.
	withoutRace bool

	packages []string // those whose tests it runs
}

// suites are shown in this order. Those whose packages do not exist are not listed.
var suites = []suite{
	{name: "lint", lints: true},
	{name: "units", needs: []need{compiler, postgres, temporal, objectStorage}},
	{name: "workflows", owns: "workflows", needs: []need{compiler, temporal}},
	{name: "worker", owns: "worker", needs: []need{compiler, postgres, temporal}},
	{name: "webhooks", owns: "internal/webhooks", needs: []need{compiler, postgres, temporal}},
	{name: "api", owns: "api", needs: []need{compiler, postgres, temporal, objectStorage}},
	{name: "panel", owns: "internal/panel", needs: []need{compiler, postgres, temporal}, withoutRace: true},
	{name: "clients", owns: "test/clients", needs: []need{compiler, postgres, temporal, node, python, php, curl}, withoutRace: true},
	{name: "attacks", owns: "test/attacks", needs: []need{compiler, postgres, temporal}, withoutRace: true},
	{name: "lab", owns: "test/lab", needs: []need{compiler, postgres, temporal}},
	{name: "browser", owns: "test/browser", needs: []need{compiler, chromium, postgres, temporal}, withoutRace: true},
}

// assign gives every package to its suite and drops the suites without packages.
func assign(packages []string) []suite {
	byOwner := map[string][]string{}
	for _, path := range packages {
		owner := ownerOf(strings.TrimPrefix(path, module))
		byOwner[owner] = append(byOwner[owner], path)
	}
	var assigned []suite
	for _, s := range suites {
		if !s.lints {
			s.packages = byOwner[s.owns]
		}
		if s.lints || len(s.packages) > 0 {
			assigned = append(assigned, s)
		}
	}
	return assigned
}

// ownerOf is the directory of the suite that a package belongs to; empty where no suite owns it.
func ownerOf(directory string) string {
	for _, s := range suites {
		if s.owns != "" && (directory == s.owns || strings.HasPrefix(directory, s.owns+"/")) {
			return s.owns
		}
	}
	return ""
}
