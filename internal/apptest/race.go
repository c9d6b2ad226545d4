//go:build race

package apptest

// RaceDetector reports whether the race detector slows the program down several times over.
const RaceDetector = true
