-- When the personal data of an order and of a webhook delivery was erased.
-- +goose Up

ALTER TABLE orders ADD COLUMN erased_at TIMESTAMPTZ;
ALTER TABLE deliveries ADD COLUMN erased_at TIMESTAMPTZ;
-- What retention looks for.
CREATE INDEX orders_unerased ON orders (updated_at) WHERE erased_at IS NULL AND status IN ('delivered', 'cancelled');
CREATE INDEX deliveries_unerased ON deliveries (finished_at) WHERE erased_at IS NULL;

-- +goose Down
DROP INDEX deliveries_unerased;
DROP INDEX orders_unerased;
ALTER TABLE deliveries DROP COLUMN erased_at;
ALTER TABLE orders DROP COLUMN erased_at;
