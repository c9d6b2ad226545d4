package bench

import "despacho/test/lab/cluster"

// connections opens one for each client.
func connections(address string, clients int) []*cluster.Connection {
	list := make([]*cluster.Connection, clients)
	for i := range list {
		list[i] = cluster.NewConnection(address)
	}
	return list
}

func closeAll(list []*cluster.Connection) {
	for _, c := range list {
		c.Close()
	}
}
