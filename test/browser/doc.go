// Package browser holds the tests of the service's pages in a real Chromium.
package browser
