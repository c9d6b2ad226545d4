-- What people corrected in an order after its creation. A value tells who the recipient is, so it
-- goes when the order's data is erased; the audit log has the fields alone.
-- +goose Up

CREATE TABLE order_corrections (
    id        UUID PRIMARY KEY,
    order_id  UUID NOT NULL REFERENCES orders (id),
    entry_id  UUID NOT NULL REFERENCES order_events (id),
    field     TEXT NOT NULL,
    old_value TEXT,
    new_value TEXT
);
CREATE INDEX order_corrections_order ON order_corrections (order_id);
-- Only short values: the photos that were replaced are kept, and phones are looked for when a person
-- asks to be forgotten.
CREATE INDEX order_corrections_photo ON order_corrections (old_value) WHERE field = 'delivery_proof';
CREATE INDEX order_corrections_phone ON order_corrections (old_value) WHERE field = 'recipient_phone';

INSERT INTO schema_compatibility (version, oldest_binary) VALUES (18, 11);

-- +goose Down
DELETE FROM schema_compatibility WHERE version = 18;
DROP TABLE order_corrections;
