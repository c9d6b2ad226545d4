-- The counter asks for the latest receptions of the day.
-- +goose Up

CREATE INDEX orders_operator_received ON orders (operator_id, received_at DESC, id DESC) WHERE received_at IS NOT NULL;

-- +goose Down
DROP INDEX orders_operator_received;
