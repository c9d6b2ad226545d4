package clients

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// anyText is what a case expects of a text that is not empty.
const anyText = "<text>"

func requirePart(t *testing.T, name string, want, got any) {
	t.Helper()
	require.Empty(t, difference(want, got), "%s: %v", name, got)
}

// difference says where a value is not what a case expects: an object may have more members. A
// client that has no fields to name may say so with null.
func difference(want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		members, is := got.(map[string]any)
		if !is {
			return fmt.Sprintf("%v is no object", got)
		}
		for name, value := range want {
			if found := difference(value, members[name]); found != "" {
				return name + ": " + found
			}
		}
		return ""
	case []any:
		list, is := got.([]any)
		if !is && (got != nil || len(want) > 0) || len(list) != len(want) {
			return fmt.Sprintf("%v is not %v", got, want)
		}
		for i := range want {
			if found := difference(want[i], list[i]); found != "" {
				return fmt.Sprintf("%d: %s", i, found)
			}
		}
		return ""
	case int:
		return difference(float64(want), got)
	case string:
		if text, is := got.(string); want == anyText && is && text != "" {
			return ""
		}
	}
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return fmt.Sprintf("%v (%T) is not %v (%T)", got, got, want, want)
}

// resolve replaces the texts that begin with $ by what they name: a known value, or a member of one
// with dots.
func resolve(t *testing.T, value any, known map[string]any) any {
	t.Helper()
	switch value := value.(type) {
	case map[string]any:
		resolved := make(map[string]any, len(value))
		for name, member := range value {
			resolved[name] = resolve(t, member, known)
		}
		return resolved
	case []any:
		resolved := make([]any, len(value))
		for i := range value {
			resolved[i] = resolve(t, value[i], known)
		}
		return resolved
	case string:
		if !strings.HasPrefix(value, "$") {
			return value
		}
		var found any = known
		for name := range strings.SplitSeq(value[1:], ".") {
			members, is := found.(map[string]any)
			require.True(t, is, value)
			require.Contains(t, members, name, value)
			found = members[name]
		}
		return found
	}
	return value
}
