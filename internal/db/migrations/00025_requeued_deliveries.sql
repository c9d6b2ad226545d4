-- The attempts at a delivery from before it was last queued again, which do not count for its
-- retries.
-- +goose Up

ALTER TABLE deliveries ADD COLUMN attempts_before INTEGER NOT NULL DEFAULT 0;

INSERT INTO schema_compatibility (version, oldest_binary) VALUES (25, 11);

-- +goose Down
DELETE FROM schema_compatibility WHERE version = 25;
ALTER TABLE deliveries DROP COLUMN attempts_before;
