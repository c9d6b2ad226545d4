-- Second factors and password resets of panel users, and when and from where a key was last used.
-- +goose Up

ALTER TABLE operators ADD COLUMN require_second_factor BOOLEAN NOT NULL DEFAULT FALSE;

-- The secret is encrypted; it counts from its confirmation on. A code's step is stored when it is used, so that no code is used twice.
ALTER TABLE users ADD COLUMN totp_secret BYTEA;
ALTER TABLE users ADD COLUMN totp_confirmed_at TIMESTAMPTZ;
ALTER TABLE users ADD COLUMN totp_last_step BIGINT NOT NULL DEFAULT 0;

ALTER TABLE api_keys ADD COLUMN last_used_at TIMESTAMPTZ;
ALTER TABLE api_keys ADD COLUMN last_used_from TEXT;

-- A row is deleted when its code is used.
CREATE TABLE recovery_codes (
    user_id UUID NOT NULL REFERENCES users (id),
    hash    BYTEA NOT NULL,
    PRIMARY KEY (user_id, hash)
);

-- One for each user: a new reset replaces the one before.
CREATE TABLE password_resets (
    user_id    UUID PRIMARY KEY REFERENCES users (id),
    token_hash BYTEA NOT NULL UNIQUE,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);

-- +goose Down
DROP TABLE password_resets;
DROP TABLE recovery_codes;
ALTER TABLE api_keys DROP COLUMN last_used_from;
ALTER TABLE api_keys DROP COLUMN last_used_at;
ALTER TABLE users DROP COLUMN totp_last_step;
ALTER TABLE users DROP COLUMN totp_confirmed_at;
ALTER TABLE users DROP COLUMN totp_secret;
ALTER TABLE operators DROP COLUMN require_second_factor;
