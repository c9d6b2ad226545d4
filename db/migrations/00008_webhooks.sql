-- +goose Up

-- The store that registered a webhook and owns it; null if the operator does. Of the rows that there are nobody knows who registered them:
-- they are the operator's, so that no store gets hold of an address or a secret that is not its own.
ALTER TABLE webhooks ADD COLUMN owner_store_id UUID REFERENCES stores (id);

-- +goose Down
ALTER TABLE webhooks DROP COLUMN owner_store_id;
