-- The photos of erased orders. Their files are deleted wherever they turn up: in the api, whose disk the worker does not
-- have, and after an older copy of the files was restored.
-- +goose Up
CREATE TABLE erased_photos (
    name TEXT PRIMARY KEY,
    erased_at TIMESTAMPTZ NOT NULL
);

-- +goose Down
DROP TABLE erased_photos;
