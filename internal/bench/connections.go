package bench

import "despacho/internal/fleet"

// connections are one for each client of a load.
func connections(address string, clients int) []*fleet.Connection {
	list := make([]*fleet.Connection, clients)
	for i := range list {
		list[i] = fleet.NewConnection(address)
	}
	return list
}

func closeAll(list []*fleet.Connection) {
	for _, c := range list {
		c.Close()
	}
}
