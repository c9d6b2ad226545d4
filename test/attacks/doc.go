// Package attacks holds the security tests: access to another tenant's data, script injection, SQL
// injection, request forgery, server-side requests, exhaustion. Routes are taken from the router,
// so that a new one is tested as well.
package attacks
