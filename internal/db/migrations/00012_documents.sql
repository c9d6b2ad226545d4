-- The number of the recipient's document, encrypted with SECRET_KEY. recipient_doc_number holds it in
-- clear in orders of earlier releases, until the reconcile workflow has encrypted it.
-- +goose Up

ALTER TABLE orders ADD COLUMN recipient_doc_encrypted BYTEA;
-- What the reconcile workflow looks for. A process of an earlier release that erases an order does not
-- know the new column.
CREATE INDEX orders_documents_to_encrypt ON orders (created_at, id)
    WHERE recipient_doc_number IS NOT NULL OR (recipient_doc_encrypted IS NOT NULL AND erased_at IS NOT NULL);

-- +goose Down
DROP INDEX orders_documents_to_encrypt;
ALTER TABLE orders DROP COLUMN recipient_doc_encrypted;
