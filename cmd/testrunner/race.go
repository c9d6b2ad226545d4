package main

// uninstrumented packages are compiled without the race detector, which makes them many times
// slower (a password's hash 28 times), and all tests together half as slow again. They compute on
// data of their caller's, or have tests of their own; their callers stay instrumented. The first is
// SQLite, C translated to Go.
var uninstrumented = []string{
	"modernc.org/...", "golang.org/x/crypto/...", "golang.org/x/image/...", "image/...", "compress/...",
	"crypto/internal/fips140/...",
	"hash/...", "math/...", "strconv", "internal/strconv", "unicode/...",
}

// uninstrumentedSync are uninstrumented packages that use sync.Map or sync.Once. Their functions
// are not inlined (-l): inlined into such a package, the atomic operations of these two would be
// hidden from the race detector, which would then report races that are none. For the same reason
// no package is listed that uses sync/atomic itself.
var uninstrumentedSync = []string{
	"encoding/base64", "encoding/binary", "encoding/csv", "encoding/hex", "encoding/json", "fmt", "html/...", "net/url",
	"reflect",
	"regexp/...", "text/...", "github.com/goccy/go-yaml/...", "github.com/jackc/pgx/v5", "github.com/jackc/pgx/v5/pgconn/...",
	"github.com/jackc/pgx/v5/pgproto3", "github.com/jackc/pgx/v5/pgtype", "github.com/jackc/pgx/v5/stdlib",
	"github.com/stretchr/testify/...", "go.temporal.io/api/.../v1", "go.yaml.in/...", "golang.org/x/net/http2/hpack",
	"golang.org/x/text/...", "google.golang.org/protobuf/encoding/...", "google.golang.org/protobuf/internal/encoding/...",
	"google.golang.org/protobuf/internal/order", "google.golang.org/protobuf/internal/strs", "google.golang.org/protobuf/proto",
	"gorm.io/...",
}

// raceFlags compile with the race detector. It also checks conversions of unsafe.Pointer, which
// the module does not use.
func raceFlags() []string {
	flags := []string{"-race", "-gcflags=all=-d=checkptr=0"}
	for _, pattern := range uninstrumented {
		flags = append(flags, "-gcflags="+pattern+"=-race=false")
	}
	for _, pattern := range uninstrumentedSync {
		flags = append(flags, "-gcflags="+pattern+"=-race=false -l")
	}
	return flags
}
