-- Which binaries work on the schema that a migration leaves, so that the processes of the previous
-- release run on while the next one is rolled out. Every migration from this one on declares the
-- oldest binary that still works after it, named by the latest migration which that binary knows.
-- +goose Up

CREATE TABLE schema_compatibility (
    version       BIGINT PRIMARY KEY,
    oldest_binary BIGINT NOT NULL
);
INSERT INTO schema_compatibility (version, oldest_binary) VALUES (15, 11);

-- +goose Down
DROP TABLE schema_compatibility;
