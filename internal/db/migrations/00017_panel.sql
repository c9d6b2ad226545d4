-- The list of orders by the day of their delivery, and the responses to the panel's forms.
-- +goose Up

CREATE INDEX orders_operator_delivered ON orders (operator_id, delivered_at DESC, id DESC) WHERE delivered_at IS NOT NULL;

-- The page that answers a form, until the browser that was redirected to it asks for it. The content is encrypted.
CREATE TABLE stored_pages (
    id         UUID PRIMARY KEY,
    session_id UUID NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    status     INTEGER NOT NULL,
    once       BOOLEAN NOT NULL,
    content    BYTEA NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX stored_pages_session ON stored_pages (session_id, created_at DESC);
CREATE INDEX stored_pages_expiry ON stored_pages (expires_at);

INSERT INTO schema_compatibility (version, oldest_binary) VALUES (17, 11);

-- +goose Down
DELETE FROM schema_compatibility WHERE version = 17;
DROP TABLE stored_pages;
DROP INDEX orders_operator_delivered;
