-- +goose Up

-- A pending delivery is sent by a workflow or, if it is queued, by the workers from this table.
ALTER TABLE deliveries ADD COLUMN queued BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX deliveries_queue ON deliveries (webhook_id, next_attempt_at) WHERE queued AND status = 'pending';

-- +goose Down
DROP INDEX deliveries_queue;
ALTER TABLE deliveries DROP COLUMN queued;
