-- The events of all orders, as GET /v1/events lists them for 30 days, whether a webhook gets them or not.
-- +goose Up

CREATE TABLE feed_events (
    -- The id is that of the event's entry in order_events. written numbers the rows as they are inserted.
-- begin postgres
    id          UUID PRIMARY KEY,
    written     BIGINT GENERATED ALWAYS AS IDENTITY,
-- end postgres
-- begin sqlite
    id          UUID NOT NULL UNIQUE,
    written     INTEGER PRIMARY KEY,
-- end sqlite
    operator_id UUID NOT NULL,
    store_id    UUID,
    test        BOOLEAN NOT NULL DEFAULT FALSE,
    order_id    UUID NOT NULL REFERENCES orders (id),
    event       TEXT NOT NULL,
    data        TEXT NOT NULL,
    -- What a store gets, where that is not the same.
    store_data  TEXT,
    -- Among the operator's events of the mode; NULL until it is published.
    position    BIGINT,
    created_at  TIMESTAMPTZ NOT NULL,
    erased_at   TIMESTAMPTZ
);
CREATE UNIQUE INDEX feed_events_of_operator ON feed_events (operator_id, test, position) WHERE position IS NOT NULL;
CREATE INDEX feed_events_of_store ON feed_events (store_id, test, position) WHERE position IS NOT NULL AND store_id IS NOT NULL;
CREATE INDEX feed_events_unpublished ON feed_events (written) WHERE position IS NULL;
CREATE INDEX feed_events_unerased ON feed_events (created_at) WHERE erased_at IS NULL;
CREATE INDEX feed_events_expiry ON feed_events (created_at);

INSERT INTO schema_compatibility (version, oldest_binary) VALUES (21, 11);

-- +goose Down
DELETE FROM schema_compatibility WHERE version = 21;
DROP TABLE feed_events;
