module runner

go 1.23

require despacho/clients/go v0.0.0

replace despacho/clients/go => ../../../../clients/go
