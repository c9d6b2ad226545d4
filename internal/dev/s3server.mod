// The go.mod that the S3 server of the tests is compiled with: it is no dependency of the product.
module despacho/s3server

go 1.26.0

require github.com/versity/versitygw v1.8.0
