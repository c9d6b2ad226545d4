-- Who changed what: the person or key behind each timeline entry, and a log of everything else that people change.
-- +goose Up

ALTER TABLE order_events ADD COLUMN user_id UUID;
ALTER TABLE order_events ADD COLUMN key_id UUID;
-- The rider of an assignment.
ALTER TABLE order_events ADD COLUMN rider_id UUID;

-- Ids only: names are looked up when the log is read. No foreign keys: an entry outlives what it is about.
CREATE TABLE audit_log (
    id          UUID PRIMARY KEY,
    operator_id UUID NOT NULL REFERENCES operators (id),
    at          TIMESTAMPTZ NOT NULL,
    action      TEXT NOT NULL,
    user_id     UUID,
    key_id      UUID,
    address     TEXT,
    subject_id  UUID,
    detail      TEXT,
    -- Before this time the entry cannot be deleted.
    keep_until  TIMESTAMPTZ NOT NULL
);
CREATE INDEX audit_log_newest ON audit_log (operator_id, at DESC, id DESC);
CREATE INDEX audit_log_expiry ON audit_log (keep_until);

-- begin postgres
-- +goose StatementBegin
CREATE FUNCTION keep_audit_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF OLD.keep_until <= now() THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'audit_log is append-only';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON audit_log FOR EACH ROW EXECUTE FUNCTION keep_audit_log();
CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION keep_audit_log();
-- end postgres
-- begin sqlite
-- +goose StatementBegin
CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log BEGIN
    SELECT RAISE(ABORT, 'audit_log is append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log WHEN julianday(OLD.keep_until) > julianday('now') BEGIN
    SELECT RAISE(ABORT, 'audit_log is append-only');
END;
-- +goose StatementEnd
-- end sqlite

-- +goose Down
DROP TABLE audit_log;
-- begin postgres
DROP FUNCTION keep_audit_log;
-- end postgres
ALTER TABLE order_events DROP COLUMN rider_id;
ALTER TABLE order_events DROP COLUMN key_id;
ALTER TABLE order_events DROP COLUMN user_id;
