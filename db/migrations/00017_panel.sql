-- +goose Up

-- The list of orders by the day of their delivery.
CREATE INDEX orders_operator_delivered ON orders (operator_id, delivered_at DESC, id DESC) WHERE delivered_at IS NOT NULL;
INSERT INTO schema_compatibility (version, oldest_binary) VALUES (17, 11);

-- +goose Down
DELETE FROM schema_compatibility WHERE version = 17;
DROP INDEX orders_operator_delivered;
