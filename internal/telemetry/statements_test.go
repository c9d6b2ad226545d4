package telemetry_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"despacho/internal/sqlitedialect"
	"despacho/internal/telemetry"
)

type parcel struct {
	ID        int64 `gorm:"primaryKey"`
	Recipient string
	Phone     string `gorm:"unique"`
}

func openDatabase(t *testing.T) *gorm.DB {
	t.Helper()
	db, err := gorm.Open(sqlitedialect.New(openPool(t, 1)), &gorm.Config{Logger: logger.Discard})
	require.NoError(t, err)
	require.NoError(t, db.Exec("CREATE TABLE parcels (id INTEGER PRIMARY KEY, recipient TEXT, phone TEXT UNIQUE)").Error)
	return db
}

func TestTraceGORM_statementsWithoutTheirValues(t *testing.T) {
	collector := startCollector(t)
	flush := startTracing(t, collector.url)
	db := openDatabase(t)
	require.NoError(t, telemetry.TraceGORM(db))

	ctx, request := otel.Tracer("test").Start(t.Context(), "request")
	tx := db.WithContext(ctx)
	quispe := parcel{ID: 70317713, Recipient: "Rosa Quispe", Phone: "+51987654321"}
	require.NoError(t, tx.Create(&quispe).Error)
	require.NoError(t, tx.Where("phone = ?", "+51987654321").Take(&parcel{}).Error)
	require.NoError(t, tx.Model(&parcel{}).Where("recipient = ?", "Rosa Quispe").Update("recipient", "Rosa Quispe Huamán").Error)
	require.NoError(t, tx.Exec("\n\tinsert into parcels (id, recipient, phone) values (?, ?, ?)", 70317714, "Luz Quispe", "+51987654322").Error)
	var phones []string
	require.NoError(t, tx.Raw("select phone from parcels where recipient like ?", "Luz%").Scan(&phones).Error)
	require.Equal(t, []string{"+51987654322"}, phones)
	require.NoError(t, tx.Delete(&quispe).Error)
	request.End()
	flush()

	for name, kind := range map[string]string{
		"INSERT parcels": "INSERT INTO `parcels` (`recipient`,`phone`,`id`) VALUES (?,?,?)",
		"SELECT parcels": "SELECT * FROM `parcels` WHERE phone = ? LIMIT 1",
		"UPDATE parcels": "UPDATE `parcels` SET `recipient`=? WHERE recipient = ?",
		"DELETE parcels": "DELETE FROM `parcels` WHERE `parcels`.`id` = ?",
		"INSERT":         "\n\tinsert into parcels (id, recipient, phone) values (?, ?, ?)",
		"SELECT":         "select phone from parcels where recipient like ?",
	} {
		span := collector.named(t, name)
		require.Contains(t, attributes(span.Attributes)["db.query.text"], kind)
		require.Equal(t, "sqlite", attributes(span.Attributes)["db.system.name"])
		require.Equal(t, tracepb.Span_SPAN_KIND_CLIENT, span.Kind)
		require.Equal(t, collector.named(t, "request").SpanId, span.ParentSpanId, "statements do not nest in one another")
	}
	requireNoValues(t, collector)
}

func TestTraceGORM_anErrorIsNamedWithoutItsText(t *testing.T) {
	collector := startCollector(t)
	flush := startTracing(t, collector.url)
	db := openDatabase(t)
	require.NoError(t, telemetry.TraceGORM(db))

	ctx, request := otel.Tracer("test").Start(t.Context(), "request")
	require.NoError(t, db.Create(&parcel{ID: 1, Phone: "+51987654321"}).Error)
	require.Error(t, db.WithContext(ctx).Create(&parcel{ID: 2, Phone: "+51987654321"}).Error)
	require.ErrorIs(t, db.WithContext(ctx).Where("phone = ?", "Quispe").Take(&parcel{}).Error, gorm.ErrRecordNotFound)
	request.End()
	flush()

	insert := collector.named(t, "INSERT parcels")
	require.Equal(t, tracepb.Status_STATUS_CODE_ERROR, insert.Status.Code)
	require.Equal(t, "2067", attributes(insert.Attributes)["error.type"], "SQLITE_CONSTRAINT_UNIQUE")
	require.Equal(t, tracepb.Status_STATUS_CODE_UNSET, collector.named(t, "SELECT parcels").Status.Code, "no row is no failure")
	require.Equal(t, 3, collector.received(), "a statement outside any trace makes no span")
	requireNoValues(t, collector)
}

func requireNoValues(t *testing.T, collector *collector) {
	t.Helper()
	for _, span := range collector.spans {
		text := protojson.Format(span)
		for _, value := range []string{"Quispe", "Luz", "519876", "7031771"} {
			require.NotContains(t, text, value)
		}
	}
}
