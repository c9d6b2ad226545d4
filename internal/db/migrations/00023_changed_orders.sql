-- What was changed since somebody looked: counts of orders are kept in memory, day by day.
-- +goose Up

CREATE INDEX orders_operator_changed ON orders (operator_id, updated_at);

INSERT INTO schema_compatibility (version, oldest_binary) VALUES (23, 11);

-- +goose Down
DELETE FROM schema_compatibility WHERE version = 23;
DROP INDEX orders_operator_changed;
