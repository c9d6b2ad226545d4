// A module of its own: a store's program needs nothing of the service.
module despacho/clients/go

go 1.23
