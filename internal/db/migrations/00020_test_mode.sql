-- Test mode: what an API key of test mode creates is apart from everything else.
-- +goose Up

ALTER TABLE api_keys ADD COLUMN test BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE orders ADD COLUMN test BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE webhooks ADD COLUMN test BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE deliveries ADD COLUMN test BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE riders ADD COLUMN test BOOLEAN NOT NULL DEFAULT FALSE;

-- Lists and counts ask for one mode. With the column in the index, counting still reads the index alone.
CREATE INDEX orders_operator_list ON orders (operator_id, created_at DESC, id DESC, test);
DROP INDEX orders_operator_newest;
CREATE INDEX orders_operator_status_list ON orders (operator_id, status, created_at DESC, id DESC, test);
DROP INDEX orders_operator_status_newest;
CREATE INDEX deliveries_list ON deliveries (operator_id, created_at DESC, test);
DROP INDEX deliveries_log;
-- What the retention of test orders looks for.
CREATE INDEX orders_test_unerased ON orders (updated_at, id) WHERE test AND erased_at IS NULL;

INSERT INTO schema_compatibility (version, oldest_binary) VALUES (20, 11);

-- +goose Down
DELETE FROM schema_compatibility WHERE version = 20;
DROP INDEX orders_test_unerased;
CREATE INDEX deliveries_log ON deliveries (operator_id, created_at DESC);
DROP INDEX deliveries_list;
CREATE INDEX orders_operator_status_newest ON orders (operator_id, status, created_at DESC, id DESC);
DROP INDEX orders_operator_status_list;
CREATE INDEX orders_operator_newest ON orders (operator_id, created_at DESC, id DESC);
DROP INDEX orders_operator_list;
ALTER TABLE riders DROP COLUMN test;
ALTER TABLE deliveries DROP COLUMN test;
ALTER TABLE webhooks DROP COLUMN test;
ALTER TABLE orders DROP COLUMN test;
ALTER TABLE api_keys DROP COLUMN test;
