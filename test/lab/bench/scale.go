package bench

import "time"

// scale is how much is measured.
type scale struct {
	// rounds is how often a result and its baseline are measured, by turns.
	rounds int
	// loadTime is how long a round under load lasts, clients how many run concurrently.
	loadTime time.Duration
	clients  int
	// samples is how many moves or orders a round without load has.
	samples int
	// creations is how many orders clients create in a round, burst how many burstClients send at
	// once.
	creations, burst, burstClients int
	// sizes are how many orders the lists are read from, the smallest first.
	sizes []int
	// panelOrders is how many orders one list of the panel has.
	panelOrders int
	// operators is how many operators there are besides those of most measurements.
	operators int
}

var full = scale{
	rounds: 7, loadTime: 5 * time.Second, clients: 32, samples: 40, creations: 800, burst: 2_000, burstClients: 64,
	sizes: []int{1_000, 100_000, 1_000_000}, panelOrders: 10_000, operators: 1_000,
}

// quick only checks that everything works; its figures mean nothing.
var quick = scale{
	rounds: 3, loadTime: time.Second, clients: 16, samples: 5, creations: 100, burst: 300, burstClients: 64,
	sizes: []int{1_000, 10_000, 50_000}, panelOrders: 2_000, operators: 100,
}
