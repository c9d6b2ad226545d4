package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gotest.tools/gotestsum/testjson"
)

// Nothing that went wrong looks like a success in the table.
func TestRow_add(t *testing.T) {
	t.Parallel()
	const (
		passes = `{"Action":"pass","Package":"despacho/a","Test":"TestOne"}` + "\n"
		skips  = `{"Action":"run","Package":"despacho/a","Test":"TestTwo"}` + "\n" + `{"Action":"skip","Package":"despacho/a","Test":"TestTwo"}` + "\n"
		ends   = `{"Action":"pass","Package":"despacho/a","Elapsed":1.5}` + "\n"
	)
	took := 1500 * time.Millisecond
	for name, c := range map[string]struct {
		events string
		strict bool
		want   row
	}{
		"all is well":                  {passes + ends, true, row{passed: 1, took: took}},
		"a skip on a desk":             {passes + skips + ends, false, row{passed: 1, skipped: 1, took: took}},
		"a skip with CI=true":          {passes + skips + ends, true, row{passed: 1, failed: 1, took: took}},
		"a test fails":                 {passes + `{"Action":"fail","Package":"despacho/a","Test":"TestTwo"}` + "\n" + `{"Action":"fail","Package":"despacho/a","Elapsed":1.5}`, true, row{passed: 1, failed: 1, took: took}},
		"it passes when it runs again": {`{"Action":"fail","Package":"despacho/a","Test":"TestTwo"}` + "\n" + `{"Action":"fail","Package":"despacho/a","Elapsed":1.5}` + "\n" + strings.ReplaceAll(passes, "One", "Two") + ends, true, row{passed: 1, took: took}},
		"it does not build":            {`{"Action":"fail","Package":"despacho/a","FailedBuild":"despacho/a"}`, true, row{failed: 1}},
		"it is killed half way":        {passes, true, row{passed: 1, failed: 1}},
		"nothing was heard of it":      {"", true, row{failed: 1}},
		"only others were heard of":    {`{"Action":"pass","Package":"despacho/b"}`, true, row{failed: 1}},
		"an expected skip, CI=true":    {strings.NewReplacer("despacho/a", "despacho/test/browser", "TestTwo", "TestScreenshots").Replace(skips + ends), true, row{skipped: 1, took: took}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			execution, err := testjson.ScanTestOutput(testjson.ScanConfig{Stdout: strings.NewReader(c.events)})
			require.NoError(t, err)
			path := "despacho/a"
			if strings.Contains(c.events, "test/browser") {
				path = "despacho/test/browser"
			}
			var got row
			got.add(execution, path, c.strict)
			if c.want.took == 0 {
				got.took = 0
			}
			require.Equal(t, c.want, got)
		})
	}
}
