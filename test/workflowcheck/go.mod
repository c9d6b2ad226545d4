// A module of its own: the checker must not become a dependency of the product.
module despacho/test/workflowcheck

go 1.26.0

require (
	go.temporal.io/sdk/contrib/tools/workflowcheck v0.6.0
	golang.org/x/tools v0.39.0
)

require gopkg.in/yaml.v2 v2.4.0 // indirect
