-- +goose Up

-- An event comes after the pending ones of its order at the same webhook. Without an index of the
-- pending ones alone, looking for them reads all that the order has had.
CREATE INDEX deliveries_pending_events ON deliveries (order_id, webhook_id, order_seq) WHERE status = 'pending';
INSERT INTO schema_compatibility (version, oldest_binary) VALUES (16, 11);

-- +goose Down
DELETE FROM schema_compatibility WHERE version = 16;
DROP INDEX deliveries_pending_events;
