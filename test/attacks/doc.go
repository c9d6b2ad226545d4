// Package attacks holds tests in which somebody tries what they must not: to read or change what is
// another's, to run what they wrote in somebody's browser, to reach into the network, to wear the
// service out. Routes are taken from the router, so that a new one is attacked as well.
package attacks
