package main

// expectedSkips are the checks that may be skipped with CI=true, each with its reason. Any other
// skip fails. A linter is named like a test of the package "lint".
var expectedSkips = map[testID]string{
	{"lint", "govulncheck"}:        "its database is on the internet, which may be closed",
	{"lint", "clients/typescript"}: noNodeTools,
	{"lint", "spectral"}:           noNodeTools,
	{"lint", "redocly"}:            noNodeTools,
	{"despacho/test/browser", "TestAccessibility_ofEveryPage"}: noNodeTools,
	{"despacho/test/browser", "TestScreenshots"}:               "it writes the pictures of the README and runs with `make screenshots` alone",
}

const noNodeTools = "Node 20, npm or its registry may be missing"
