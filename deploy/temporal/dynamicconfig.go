// Package temporal has the dynamic configuration that every Temporal server of the project runs
// with.
package temporal

import _ "embed"

// DynamicConfig is dynamicconfig.yaml.
//
//go:embed dynamicconfig.yaml
var DynamicConfig []byte
