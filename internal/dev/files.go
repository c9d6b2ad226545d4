package dev

// The files of `despacho dev` in its directory.
const (
	DatabaseFile = "despacho.db"
	TemporalFile = "temporal.db"
	TemporalLog  = "temporal.log"
	FilesDir     = "files"
)
