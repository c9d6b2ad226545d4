-- Written for PostgreSQL; db/dialect.go translates the type names for SQLite.
-- +goose Up

CREATE TABLE countries (
    code          TEXT PRIMARY KEY CHECK (length(code) = 2),
    name          TEXT NOT NULL,
    phone_prefix  TEXT NOT NULL,
    currency      TEXT NOT NULL,
    timezone      TEXT NOT NULL,
    document_name TEXT NOT NULL
);

CREATE TABLE locations (
    id            UUID PRIMARY KEY,
    country_code  TEXT NOT NULL REFERENCES countries (code),
    type          TEXT NOT NULL CHECK (type IN ('country', 'city', 'district', 'zone')),
    name          TEXT NOT NULL,
    ubigeo        TEXT,
    ubigeo_reniec TEXT,
    parent_id     UUID REFERENCES locations (id),
    city          TEXT NOT NULL,
    department    TEXT NOT NULL,
    lat           DOUBLE PRECISION,
    lng           DOUBLE PRECISION,
    CHECK ((type = 'country') = (parent_id IS NULL))
);
CREATE UNIQUE INDEX locations_ubigeo ON locations (country_code, ubigeo) WHERE type = 'district';
CREATE INDEX locations_parent ON locations (parent_id);

CREATE TABLE operators (
    id                   UUID PRIMARY KEY,
    name                 TEXT NOT NULL CHECK (length(name) > 0),
    country_code         TEXT NOT NULL REFERENCES countries (code),
    timezone             TEXT NOT NULL,
    currency             TEXT NOT NULL,
    plan                 TEXT NOT NULL CHECK (plan IN ('basic', 'pro', 'business')),
    suspended_at         TIMESTAMPTZ,
    base_price_cents     BIGINT CHECK (base_price_cents >= 0),
    share_proof_location BOOLEAN NOT NULL,
    logo_url             TEXT,
    -- Grows with every change to what the operator has set up, so that a process knows when its copy is old.
    settings_version     BIGINT NOT NULL,
    created_at           TIMESTAMPTZ NOT NULL,
    updated_at           TIMESTAMPTZ NOT NULL
);

CREATE TABLE branches (
    id          UUID PRIMARY KEY,
    operator_id UUID NOT NULL REFERENCES operators (id),
    name        TEXT NOT NULL,
    main        BOOLEAN NOT NULL,
    active      BOOLEAN NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL
);
CREATE INDEX branches_operator ON branches (operator_id);
CREATE UNIQUE INDEX branches_one_main ON branches (operator_id) WHERE main;

CREATE TABLE stores (
    id          UUID PRIMARY KEY,
    operator_id UUID NOT NULL REFERENCES operators (id),
    name        TEXT NOT NULL,
    active      BOOLEAN NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL
);
CREATE INDEX stores_operator ON stores (operator_id);

CREATE TABLE riders (
    id          UUID PRIMARY KEY,
    operator_id UUID NOT NULL REFERENCES operators (id),
    name        TEXT NOT NULL,
    phone       TEXT NOT NULL,
    active      BOOLEAN NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL
);
CREATE INDEX riders_operator ON riders (operator_id);

CREATE TABLE sizes (
    id              UUID PRIMARY KEY,
    operator_id     UUID NOT NULL REFERENCES operators (id),
    code            TEXT NOT NULL,
    name            TEXT NOT NULL,
    surcharge_cents BIGINT NOT NULL CHECK (surcharge_cents >= 0),
    is_default      BOOLEAN NOT NULL,
    active          BOOLEAN NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL,
    UNIQUE (operator_id, code)
);
CREATE UNIQUE INDEX sizes_one_default ON sizes (operator_id) WHERE is_default;

CREATE TABLE coverage (
    id          UUID PRIMARY KEY,
    operator_id UUID NOT NULL REFERENCES operators (id),
    location_id UUID NOT NULL REFERENCES locations (id),
    price_cents BIGINT CHECK (price_cents >= 0),
    created_at  TIMESTAMPTZ NOT NULL,
    UNIQUE (operator_id, location_id)
);
CREATE INDEX coverage_location ON coverage (location_id);

CREATE TABLE risk_zones (
    id          UUID PRIMARY KEY,
    operator_id UUID NOT NULL REFERENCES operators (id),
    name        TEXT NOT NULL,
    location_id UUID REFERENCES locations (id),
    words       TEXT NOT NULL,
    active      BOOLEAN NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    CHECK (location_id IS NOT NULL OR words <> '')
);
CREATE INDEX risk_zones_operator ON risk_zones (operator_id);

CREATE TABLE users (
    id            UUID PRIMARY KEY,
    operator_id   UUID NOT NULL REFERENCES operators (id),
    store_id      UUID REFERENCES stores (id),
    email         TEXT NOT NULL UNIQUE,
    name          TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    role          TEXT NOT NULL CHECK (role IN ('operator', 'store')),
    admin         BOOLEAN NOT NULL,
    active        BOOLEAN NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    CHECK ((role = 'store') = (store_id IS NOT NULL))
);
CREATE INDEX users_operator ON users (operator_id);

CREATE TABLE sessions (
    id         UUID PRIMARY KEY,
    user_id    UUID NOT NULL REFERENCES users (id),
    token_hash BYTEA NOT NULL UNIQUE,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX sessions_expiry ON sessions (expires_at);

CREATE TABLE api_keys (
    id          UUID PRIMARY KEY,
    operator_id UUID NOT NULL REFERENCES operators (id),
    store_id    UUID REFERENCES stores (id),
    name        TEXT NOT NULL,
    prefix      TEXT NOT NULL,
    last4       TEXT NOT NULL,
    hash        BYTEA NOT NULL UNIQUE,
    scopes      TEXT NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    expires_at  TIMESTAMPTZ,
    revoked_at  TIMESTAMPTZ
);
CREATE INDEX api_keys_operator ON api_keys (operator_id);

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

-- Unlogged: counting a request must not wait for the disk, and a count is worth nothing after its minute.
CREATE UNLOGGED TABLE rate_windows (
    subject TEXT NOT NULL,
    minute  BIGINT NOT NULL,
    used    INTEGER NOT NULL,
    PRIMARY KEY (subject, minute)
);

CREATE TABLE orders (
    id                            UUID PRIMARY KEY,
    operator_id                   UUID NOT NULL REFERENCES operators (id),
    store_id                      UUID REFERENCES stores (id),
    branch_id                     UUID NOT NULL REFERENCES branches (id),
    guide_code                    TEXT NOT NULL UNIQUE,
    status                        TEXT NOT NULL CHECK (status IN ('registered', 'received', 'assigned', 'delivered', 'cancelled')),
    seq                           INTEGER NOT NULL CHECK (seq > 0),
    recipient_name                TEXT NOT NULL,
    recipient_phone               TEXT NOT NULL,
    recipient_doc_type            TEXT CHECK (recipient_doc_type IN ('dni', 'ce', 'passport', 'other')),
    recipient_doc_number          TEXT,
    recipient_doc_verified        BOOLEAN,
    delivery_type                 TEXT NOT NULL CHECK (delivery_type IN ('home', 'agency')),
    delivery_address              TEXT NOT NULL,
    delivery_reference            TEXT,
    location_id                   UUID NOT NULL REFERENCES locations (id),
    delivery_lat                  DOUBLE PRECISION CHECK (delivery_lat BETWEEN -90 AND 90),
    delivery_lng                  DOUBLE PRECISION CHECK (delivery_lng BETWEEN -180 AND 180),
    delivery_maps_url             TEXT,
    point_source                  TEXT CHECK (point_source IN ('given', 'operator', 'pin', 'query', 'path', 'viewport')),
    product                       TEXT NOT NULL,
    size                          TEXT NOT NULL,
    notes                         TEXT,
    amount_to_collect_cents       BIGINT NOT NULL CHECK (amount_to_collect_cents >= 0),
    actual_amount_collected_cents BIGINT CHECK (actual_amount_collected_cents >= 0),
    shipping_cost_cents           BIGINT NOT NULL CHECK (shipping_cost_cents >= 0),
    currency                      TEXT NOT NULL,
    payment_type                  TEXT NOT NULL CHECK (payment_type IN ('cash_on_delivery', 'delivery_only')),
    operative_day                 TEXT NOT NULL CHECK (length(operative_day) = 10),
    risk_zone                     TEXT,
    rider_id                      UUID REFERENCES riders (id),
    proof_photo                   TEXT,
    proof_captured_at             TIMESTAMPTZ,
    proof_lat                     DOUBLE PRECISION,
    proof_lng                     DOUBLE PRECISION,
    cancelled_by                  TEXT CHECK (cancelled_by IN ('store', 'operator', 'auto')),
    cancel_reason                 TEXT,
    cancel_note                   TEXT,
    auto_cancel_at                TIMESTAMPTZ NOT NULL,
    workflow_started_at           TIMESTAMPTZ,
    created_at                    TIMESTAMPTZ NOT NULL,
    received_at                   TIMESTAMPTZ,
    assigned_at                   TIMESTAMPTZ,
    delivered_at                  TIMESTAMPTZ,
    cancelled_at                  TIMESTAMPTZ,
    updated_at                    TIMESTAMPTZ NOT NULL,
    CHECK ((delivery_lat IS NULL) = (delivery_lng IS NULL)),
    CHECK ((status = 'cancelled') = (cancelled_by IS NOT NULL)),
    CHECK (status NOT IN ('assigned', 'delivered') OR rider_id IS NOT NULL)
);
-- The list is newest first, for the whole operator or one store, with or without a status.
CREATE INDEX orders_operator_newest ON orders (operator_id, created_at DESC, id DESC);
CREATE INDEX orders_store_newest ON orders (store_id, created_at DESC, id DESC);
CREATE INDEX orders_operator_status_newest ON orders (operator_id, status, created_at DESC, id DESC);
-- What the reconcile workflow looks for; nearly always empty.
CREATE INDEX orders_without_workflow ON orders (created_at) WHERE workflow_started_at IS NULL;
CREATE INDEX orders_waiting ON orders (auto_cancel_at) WHERE status = 'registered';

CREATE TABLE order_events (
    id       UUID PRIMARY KEY,
    order_id UUID NOT NULL REFERENCES orders (id),
    seq      INTEGER CHECK (seq > 0),
    type     TEXT NOT NULL,
    status   TEXT NOT NULL CHECK (status IN ('registered', 'received', 'assigned', 'delivered', 'cancelled')),
    actor    TEXT NOT NULL,
    detail   TEXT,
    at       TIMESTAMPTZ NOT NULL
);
-- One entry for each move, whoever tries to write it again.
CREATE UNIQUE INDEX order_events_move ON order_events (order_id, seq);

CREATE TABLE webhooks (
    id                    UUID PRIMARY KEY,
    operator_id           UUID NOT NULL REFERENCES operators (id),
    store_id              UUID REFERENCES stores (id),
    url                   TEXT NOT NULL,
    events                TEXT NOT NULL,
    secret                BYTEA NOT NULL,
    previous_secret       BYTEA,
    previous_secret_until TIMESTAMPTZ,
    retry                 BOOLEAN NOT NULL,
    active                BOOLEAN NOT NULL,
    failing_since         TIMESTAMPTZ,
    deactivated_at        TIMESTAMPTZ,
    deactivated_reason    TEXT,
    created_at            TIMESTAMPTZ NOT NULL
);
CREATE INDEX webhooks_active ON webhooks (operator_id) WHERE active;

CREATE TABLE deliveries (
    id              UUID PRIMARY KEY,
    webhook_id      UUID NOT NULL REFERENCES webhooks (id),
    operator_id     UUID NOT NULL REFERENCES operators (id),
    order_id        UUID REFERENCES orders (id),
    order_seq       INTEGER NOT NULL,
    event           TEXT NOT NULL,
    data            TEXT NOT NULL,
    status          TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
    next_attempt_at TIMESTAMPTZ,
    created_at      TIMESTAMPTZ NOT NULL,
    finished_at     TIMESTAMPTZ,
    CHECK ((status = 'pending') = (finished_at IS NULL))
);
-- The outbox row of a move is written once, whoever tries to write it again.
CREATE UNIQUE INDEX deliveries_outbox ON deliveries (order_id, order_seq, webhook_id);
CREATE INDEX deliveries_log ON deliveries (operator_id, created_at DESC);
CREATE INDEX deliveries_webhook ON deliveries (webhook_id, created_at DESC);
CREATE INDEX deliveries_pending ON deliveries (next_attempt_at) WHERE status = 'pending';

CREATE TABLE delivery_attempts (
    delivery_id UUID NOT NULL REFERENCES deliveries (id),
    number      INTEGER NOT NULL CHECK (number > 0),
    cause       TEXT NOT NULL CHECK (cause IN ('auto', 'redelivery')),
    started_at  TIMESTAMPTZ NOT NULL,
    finished_at TIMESTAMPTZ,
    status_code INTEGER,
    duration_ms BIGINT,
    error       TEXT,
    response    TEXT,
    PRIMARY KEY (delivery_id, number)
);

-- +goose Down
DROP TABLE delivery_attempts;
DROP TABLE deliveries;
DROP TABLE webhooks;
DROP TABLE order_events;
DROP TABLE orders;
DROP TABLE rate_windows;
DROP TABLE idempotency_records;
DROP TABLE api_keys;
DROP TABLE sessions;
DROP TABLE users;
DROP TABLE risk_zones;
DROP TABLE coverage;
DROP TABLE sizes;
DROP TABLE riders;
DROP TABLE stores;
DROP TABLE branches;
DROP TABLE operators;
DROP TABLE locations;
DROP TABLE countries;
