-- What the identity registry said of a recipient's DNI, and its answers kept for a while.
-- +goose Up

ALTER TABLE orders ADD COLUMN doc_outcome TEXT
    CHECK (doc_outcome IN ('found', 'not_found', 'invalid', 'unavailable', 'quota_or_credentials'));
ALTER TABLE orders ADD COLUMN doc_name_matches BOOLEAN;

-- The key is a keyed hash of the DNI and the name is encrypted: the table names nobody.
CREATE TABLE identity_answers (
    key        TEXT PRIMARY KEY,
    outcome    TEXT NOT NULL CHECK (outcome IN ('found', 'not_found')),
    name       BYTEA NOT NULL,
    provider   TEXT NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX identity_answers_expiry ON identity_answers (expires_at);

-- +goose Down
DROP TABLE identity_answers;
ALTER TABLE orders DROP COLUMN doc_name_matches;
ALTER TABLE orders DROP COLUMN doc_outcome;
