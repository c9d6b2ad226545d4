// Package models defines the database rows, the statuses of an order and its transition table.
package models
