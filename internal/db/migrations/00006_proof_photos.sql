-- Which orders a photo belongs to: what the sweep of photos that belong to none asks.
-- +goose Up
CREATE INDEX orders_proof_photo ON orders (proof_photo) WHERE proof_photo IS NOT NULL;

-- +goose Down
DROP INDEX orders_proof_photo;
