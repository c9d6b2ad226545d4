package bench

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/lab/cluster"
)

var someRows = []Row{
	ratioRow("POST", "orders/s", ratioAtLeast(0.8), []float64{200, 220, 210}, []float64{180, 150, 190}).withNote("a remark"),
	countRow("events", "events", atMost(45), 43),
	{Name: "GET", Failure: "connection refused"},
}

func TestMarkdownTable(t *testing.T) {
	t.Parallel()
	require.Equal(t, `| name | goal | baseline | result | ratio | spread | verdict |
| --- | --- | --- | --- | --- | --- | --- |
| POST | ≥ 0.80× | 210 | 180 orders/s | 0.90× | 0.79–0.90 | met |
| events | ≤ 45 events |  | 43 events |  | exact | met |
| GET |  |  |  |  |  | not measured: connection refused |

- POST: a remark
`, markdownTable(someRows))
}

func TestFigure(t *testing.T) {
	t.Parallel()
	for value, want := range map[float64]string{0.5: "0.50", 1: "1", 9.876: "9.88", 43: "43", 12.34: "12.3", 1234.5: "1234"} {
		require.Equal(t, want, formatFigure(value))
	}
	require.Equal(t, []string{"7", "1,000", "100,000", "1,000,000"}, []string{formatCount(7), formatCount(1_000), formatCount(100_000), formatCount(1_000_000)})
}

func TestJSON_hasEveryMemberOfARow(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "bin", "bench.json")
	require.NoError(t, cluster.WriteJSON(file, someRows))
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	var rows []map[string]any
	require.NoError(t, json.Unmarshal(content, &rows))
	require.Len(t, rows, 3)
	for _, row := range rows {
		for _, member := range []string{"name", "goal", "baseline", "result", "ratio", "ok"} {
			require.Contains(t, row, member)
		}
	}
	require.Equal(t, 210.0, rows[0]["baseline"])
	require.Equal(t, true, rows[0]["ok"])
	require.Nil(t, rows[1]["baseline"])
	require.Equal(t, false, rows[2]["ok"])
}
