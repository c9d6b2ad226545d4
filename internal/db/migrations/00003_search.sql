-- What people in the panel look for an order by: guide code, recipient, phone and address, in lower case and without accents.
-- +goose Up

ALTER TABLE orders ADD COLUMN search_text TEXT NOT NULL DEFAULT '';
UPDATE orders SET search_text = lower(replace(guide_code, '-', ' ') || ' ' || recipient_name || ' ' || replace(recipient_phone, '+', '') || ' ' || delivery_address);

-- The panel's board asks for one rider's orders.
CREATE INDEX orders_rider_newest ON orders (rider_id, created_at DESC, id DESC);

-- +goose Down
DROP INDEX orders_rider_newest;
ALTER TABLE orders DROP COLUMN search_text;
