-- +goose Up
-- The reconcile workflow reads unconfirmed orders by the time of their last change, oldest first.
CREATE INDEX orders_unconfirmed ON orders (updated_at, id) WHERE workflow_started_at IS NULL;
DROP INDEX orders_without_workflow;

-- +goose Down
CREATE INDEX orders_without_workflow ON orders (created_at) WHERE workflow_started_at IS NULL;
DROP INDEX orders_unconfirmed;
