// Package demo seeds a development database with four operators and writes demo.json with their
// keys and users.
package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"despacho/models"
)

// Document is demo.json: what a person or a tool needs to try the service.
type Document struct {
	BaseURL       string     `json:"base_url"`
	PanelURL      string     `json:"panel_url"`
	TemporalUIURL string     `json:"temporal_ui_url"`
	DocsURL       string     `json:"docs_url"`
	WebhookInbox  Inbox      `json:"webhook_inbox"`
	Operators     []Operator `json:"operators"`
}

// Inbox is where the demo webhook sends events and where they can be read.
type Inbox struct {
	URL       string `json:"url"`
	EventsURL string `json:"events_url"`
}

// Operator is one demo operator with its keys.
type Operator struct {
	ID        uuid.UUID   `json:"id"`
	Name      string      `json:"name"`
	Plan      models.Plan `json:"plan"`
	Suspended bool        `json:"suspended"`
	Panel     SignIn      `json:"panel"`
	Keys      Keys        `json:"keys"`
	Stores    []Store     `json:"stores"`
	Riders    []Rider     `json:"riders"`
	// RiderLink opens the page of the first rider on a phone; empty if that rider was deactivated.
	RiderLink string   `json:"rider_link"`
	Branches  []Branch `json:"branches"`
	Sizes     []Size   `json:"sizes"`
	Covered   Place    `json:"covered"`
	Uncovered Place    `json:"uncovered"`
	Risk      Risk     `json:"risk"`
}

// SignIn opens the panel.
type SignIn struct {
	Email    string `json:"email"`
	Password string `json:"password"`
}

// Keys are the operator's unbound API keys.
type Keys struct {
	All      string `json:"all"`
	ReadOnly string `json:"read_only"`
	Expired  string `json:"expired"`
	Revoked  string `json:"revoked"`
	// Test is a test key with every scope.
	Test string `json:"test"`
}

// Store is a demo store with its bound key.
type Store struct {
	ID    uuid.UUID `json:"id"`
	Name  string    `json:"name"`
	Key   string    `json:"key"`
	Panel SignIn    `json:"panel"`
}

// Rider is a demo rider.
type Rider struct {
	ID    uuid.UUID `json:"id"`
	Name  string    `json:"name"`
	Phone string    `json:"phone"`
}

// Branch is a demo branch.
type Branch struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
	Main bool      `json:"main"`
}

// Size is a demo package size.
type Size struct {
	Code    string `json:"code"`
	Default bool   `json:"default"`
}

// Place is a destination by both of its identifiers.
type Place struct {
	LocationID uuid.UUID `json:"location_id"`
	Ubigeo     string    `json:"ubigeo"`
}

// Risk is a destination that the operator warns about.
type Risk struct {
	LocationID      uuid.UUID `json:"location_id"`
	DeliveryAddress string    `json:"delivery_address"`
}

// Read reads a document written before; nil when there is none.
func Read(file string) (*Document, error) {
	content, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var document Document
	if err := json.Unmarshal(content, &document); err != nil {
		return nil, nil // unreadable: written anew, like a missing one
	}
	return &document, nil
}

// Write writes the document where only its owner can read it: it holds keys and passwords.
func (d *Document) Write(file string) error {
	content, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(file), ".demo-*.json") // created with mode 0600
	if err != nil {
		return fmt.Errorf("writing demo.json: %w", err)
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(append(content, '\n'))
	if err := errors.Join(err, temporary.Close()); err != nil {
		return fmt.Errorf("writing demo.json: %w", err)
	}
	return os.Rename(temporary.Name(), file)
}
