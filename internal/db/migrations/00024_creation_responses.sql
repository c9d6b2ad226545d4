-- The recorded response to the creation of an order is found by the order: an erasure replaces it.
-- +goose Up

CREATE INDEX idempotency_location ON idempotency_records (location) WHERE location IS NOT NULL;

INSERT INTO schema_compatibility (version, oldest_binary) VALUES (24, 11);

-- +goose Down
DELETE FROM schema_compatibility WHERE version = 24;
DROP INDEX idempotency_location;
