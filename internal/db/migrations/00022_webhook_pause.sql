-- A webhook that its owner has paused: its events are stored and wait.
-- +goose Up

ALTER TABLE webhooks ADD COLUMN paused_at TIMESTAMPTZ;

INSERT INTO schema_compatibility (version, oldest_binary) VALUES (22, 11);

-- +goose Down
DELETE FROM schema_compatibility WHERE version = 22;
ALTER TABLE webhooks DROP COLUMN paused_at;
