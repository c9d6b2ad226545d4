// Package browser holds the tests of the service's pages in a real Chromium. They run on PostgreSQL
// alone: what differs between the databases is below the pages, and the suites panel and api test
// it.
package browser
