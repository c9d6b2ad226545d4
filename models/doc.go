// Package models holds the rows of the database, the statuses of an order and the one table of its
// moves.
package models
