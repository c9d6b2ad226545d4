-- The store's own number of an order, which the store looks its orders up by. Orders may share one.
-- The uploaded logo of an operator. What the tracking page may show: how to reach the store, and the photo
-- of the delivery.
-- +goose Up

ALTER TABLE orders ADD COLUMN external_id TEXT;
CREATE INDEX orders_external_newest ON orders (operator_id, external_id, created_at DESC, id DESC) WHERE external_id IS NOT NULL;

-- The name of the file. An operator has this or logo_url.
ALTER TABLE operators ADD COLUMN logo_photo TEXT;
CREATE INDEX operators_logo ON operators (logo_photo) WHERE logo_photo IS NOT NULL;

ALTER TABLE stores ADD COLUMN contact_phone TEXT;
ALTER TABLE stores ADD COLUMN contact_whatsapp TEXT;
ALTER TABLE stores ADD COLUMN contact_email TEXT;
ALTER TABLE operators ADD COLUMN share_proof_photo BOOLEAN NOT NULL DEFAULT FALSE;

INSERT INTO schema_compatibility (version, oldest_binary) VALUES (19, 11);

-- +goose Down
DELETE FROM schema_compatibility WHERE version = 19;
ALTER TABLE operators DROP COLUMN share_proof_photo;
ALTER TABLE stores DROP COLUMN contact_email;
ALTER TABLE stores DROP COLUMN contact_whatsapp;
ALTER TABLE stores DROP COLUMN contact_phone;
DROP INDEX operators_logo;
ALTER TABLE operators DROP COLUMN logo_photo;
DROP INDEX orders_external_newest;
ALTER TABLE orders DROP COLUMN external_id;
