-- The store's own number of an order, which the store looks its orders up by. Orders may share one.
-- +goose Up

ALTER TABLE orders ADD COLUMN external_id TEXT;
CREATE INDEX orders_external_newest ON orders (operator_id, external_id, created_at DESC, id DESC) WHERE external_id IS NOT NULL;

INSERT INTO schema_compatibility (version, oldest_binary) VALUES (19, 11);

-- +goose Down
DELETE FROM schema_compatibility WHERE version = 19;
DROP INDEX orders_external_newest;
ALTER TABLE orders DROP COLUMN external_id;
