-- +goose Up

-- The store that registered a webhook and owns it; null if the operator does. Of the rows that there are nobody knows who registered them:
-- they are the operator's, so that no store gets hold of an address or a secret that is not its own.
ALTER TABLE webhooks ADD COLUMN owner_store_id UUID REFERENCES stores (id);

-- The circuit of a webhook: how many attempts failed in a row, since when it is open, when the next delivery is tried, and until when one is
-- being tried.
ALTER TABLE webhooks ADD COLUMN consecutive_failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE webhooks ADD COLUMN circuit_opened_at TIMESTAMPTZ;
ALTER TABLE webhooks ADD COLUMN next_probe_at TIMESTAMPTZ;
ALTER TABLE webhooks ADD COLUMN probing_until TIMESTAMPTZ;

-- The secrets before the previous one that still sign, as JSON: each is encrypted and says until when.
ALTER TABLE webhooks ADD COLUMN older_secrets BYTEA;

-- +goose Down
ALTER TABLE webhooks DROP COLUMN older_secrets;
ALTER TABLE webhooks DROP COLUMN probing_until;
ALTER TABLE webhooks DROP COLUMN next_probe_at;
ALTER TABLE webhooks DROP COLUMN circuit_opened_at;
ALTER TABLE webhooks DROP COLUMN consecutive_failures;
ALTER TABLE webhooks DROP COLUMN owner_store_id;
