// Package browser holds the tests that look at the service's pages as people do, in a real
// Chromium.
package browser
