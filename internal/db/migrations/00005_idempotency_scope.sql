-- Keys of idempotency belong to whoever chose them: an API key, or in the panel a store or an operator. No foreign key can say that.
-- The table is made anew with what it holds, because SQLite cannot drop the one it has.
-- +goose Up

CREATE TABLE kept_records AS SELECT * FROM idempotency_records;
DROP TABLE idempotency_records;
CREATE TABLE idempotency_records (
    scope_id    UUID NOT NULL,
    key         TEXT NOT NULL,
    body_hash   BYTEA NOT NULL,
    lease_token UUID NOT NULL,
    lease_until TIMESTAMPTZ NOT NULL,
    status_code INTEGER,
    location    TEXT,
    response    BYTEA,
    created_at  TIMESTAMPTZ NOT NULL,
    expires_at  TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (scope_id, key)
);
CREATE INDEX idempotency_expiry ON idempotency_records (expires_at);
INSERT INTO idempotency_records (scope_id, key, body_hash, lease_token, lease_until, status_code, location, response, created_at, expires_at)
    SELECT api_key_id, key, body_hash, lease_token, lease_until, status_code, location, response, created_at, expires_at FROM kept_records;
DROP TABLE kept_records;

-- +goose Down
CREATE TABLE kept_records AS SELECT * FROM idempotency_records;
DROP TABLE idempotency_records;
CREATE TABLE idempotency_records (
    api_key_id  UUID NOT NULL REFERENCES api_keys (id),
    key         TEXT NOT NULL,
    body_hash   BYTEA NOT NULL,
    lease_token UUID NOT NULL,
    lease_until TIMESTAMPTZ NOT NULL,
    status_code INTEGER,
    location    TEXT,
    response    BYTEA,
    created_at  TIMESTAMPTZ NOT NULL,
    expires_at  TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (api_key_id, key)
);
CREATE INDEX idempotency_expiry ON idempotency_records (expires_at);
INSERT INTO idempotency_records (api_key_id, key, body_hash, lease_token, lease_until, status_code, location, response, created_at, expires_at)
    SELECT scope_id, key, body_hash, lease_token, lease_until, status_code, location, response, created_at, expires_at FROM kept_records
    WHERE scope_id IN (SELECT id FROM api_keys);
DROP TABLE kept_records;
