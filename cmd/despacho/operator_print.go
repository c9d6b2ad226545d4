package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"despacho/internal/money"
	"despacho/internal/operators"
	"despacho/models"
)

const jsonFlag = "json"

// operatorView is an operator in the JSON output.
type operatorView struct {
	ID          uuid.UUID    `json:"id"`
	Name        string       `json:"name"`
	Country     string       `json:"country"`
	Timezone    string       `json:"timezone"`
	Currency    string       `json:"currency"`
	Plan        models.Plan  `json:"plan"`
	BasePrice   *money.Cents `json:"base_price"`
	SuspendedAt *time.Time   `json:"suspended_at"`
	CreatedAt   time.Time    `json:"created_at"`
}

func viewOperator(o *models.Operator) operatorView {
	return operatorView{
		ID: o.ID, Name: o.Name, Country: o.CountryCode, Timezone: o.Timezone, Currency: o.Currency,
		Plan: o.Plan, BasePrice: o.BasePrice, SuspendedAt: o.SuspendedAt, CreatedAt: o.CreatedAt,
	}
}

func (v operatorView) row() []any {
	price, suspended := "-", "no"
	if v.BasePrice != nil {
		price = v.BasePrice.String()
	}
	if v.SuspendedAt != nil {
		suspended = "since " + v.SuspendedAt.UTC().Format(time.RFC3339)
	}
	return []any{v.ID, v.Name, v.Country, v.Timezone, v.Currency, v.Plan, price, suspended}
}

var operatorColumns = []any{"ID", "NAME", "COUNTRY", "TIME ZONE", "CURRENCY", "PLAN", "BASE PRICE", "SUSPENDED"}

func printOperator(cmd *cobra.Command, operator *models.Operator) error {
	view := viewOperator(operator)
	return printResult(cmd, view, operatorColumns, view.row())
}

func printOperators(cmd *cobra.Command, all []models.Operator) error {
	views := make([]operatorView, len(all))
	rows := make([][]any, len(all))
	for i := range all {
		views[i] = viewOperator(&all[i])
		rows[i] = views[i].row()
	}
	return printResult(cmd, views, operatorColumns, rows...)
}

// userView is a new user in the JSON output; Password is set only when it was generated.
type userView struct {
	ID         uuid.UUID      `json:"id"`
	OperatorID uuid.UUID      `json:"operator_id"`
	StoreID    *uuid.UUID     `json:"store_id"`
	Email      string         `json:"email"`
	Name       string         `json:"name"`
	Role       models.Role    `json:"role"`
	Admin      bool           `json:"admin"`
	Grants     []models.Grant `json:"grants"`
	Password   string         `json:"password,omitempty"`
}

func printUser(cmd *cobra.Command, user *models.User, password string) error {
	columns, row := []any{"ID", "E-MAIL", "NAME", "ROLE", "ADMIN", "GRANTS"},
		[]any{user.ID, user.Email, user.Name, user.Role, user.Admin, user.Grants}
	if password != "" {
		columns, row = append(columns, "PASSWORD (shown once)"), append(row, password)
	}
	return printResult(cmd, viewUser(user, password), columns, row)
}

func viewUser(user *models.User, password string) userView {
	return userView{
		ID: user.ID, OperatorID: user.OperatorID, StoreID: user.StoreID, Email: user.Email, Name: user.Name,
		Role: user.Role, Admin: user.Admin, Grants: models.SplitSpaced[models.Grant](user.Grants), Password: password,
	}
}

// setupView is the result of operator init in the JSON output.
type setupView struct {
	Operator operatorView `json:"operator"`
	Admin    userView     `json:"administrator"`
	Store    partView     `json:"store"`
	Key      partView     `json:"key"`
	TestKey  partView     `json:"test_key"`
	Places   int          `json:"covered_places"`
}

// partView is a store or a key.
type partView struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
	Key  string    `json:"key,omitempty"`
}

func printSetup(cmd *cobra.Command, made *operators.SetupResult) error {
	view := setupView{
		Operator: viewOperator(made.Operator), Admin: viewUser(made.Admin, made.Password),
		Store:   partView{ID: made.Store.ID, Name: made.Store.Name},
		Key:     partView{made.Key.ID, made.Key.Name, made.Key.Plain},
		TestKey: partView{made.TestKey.ID, made.TestKey.Name, made.TestKey.Plain},
		Places:  made.Places,
	}
	return printResult(cmd, view, []any{"PART", "ID", "NAME", "PASSWORD OR KEY (shown once)"},
		[]any{"operator", view.Operator.ID, view.Operator.Name, ""},
		[]any{"administrator", view.Admin.ID, view.Admin.Email, made.Password},
		[]any{"store", view.Store.ID, view.Store.Name, ""},
		[]any{"key", view.Key.ID, view.Key.Name, view.Key.Key},
		[]any{"test key", view.TestKey.ID, view.TestKey.Name, view.TestKey.Key},
		[]any{"coverage", "", fmt.Sprintf("%d places", view.Places), ""})
}

// resetView is a password reset in the JSON output.
type resetView struct {
	UserID    uuid.UUID `json:"user_id"`
	Email     string    `json:"email"`
	Link      string    `json:"link"`
	ExpiresAt time.Time `json:"expires_at"`
}

func printReset(cmd *cobra.Command, reset *operators.PasswordReset, baseURL string) error {
	view := resetView{UserID: reset.User.ID, Email: reset.User.Email, Link: reset.Link(baseURL), ExpiresAt: reset.ExpiresAt}
	return printResult(cmd, view, []any{"E-MAIL", "EXPIRES", "LINK (shown once)"},
		[]any{view.Email, view.ExpiresAt.UTC().Format(time.RFC3339), view.Link})
}

// printResult prints a table, or the value as JSON with --json.
func printResult(cmd *cobra.Command, value any, columns []any, rows ...[]any) error {
	out := cmd.OutOrStdout()
	asJSON, err := cmd.Flags().GetBool(jsonFlag)
	if err != nil {
		return err
	}
	if asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(value)
	}
	table := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, row := range append([][]any{columns}, rows...) {
		printRow(table, row)
	}
	return table.Flush()
}

func printRow(table io.Writer, cells []any) {
	for i, cell := range cells {
		if i > 0 {
			fmt.Fprint(table, "\t")
		}
		fmt.Fprint(table, cell)
	}
	fmt.Fprintln(table)
}
