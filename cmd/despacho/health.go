package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"despacho/internal/config"
)

// healthTimeout bounds the health check; it is longer than /readyz waits for the database and
// Temporal. Tests lengthen it.
var healthTimeout = 4 * time.Second

func healthCommand() *cobra.Command {
	var ready, admin bool
	command := &cobra.Command{
		Use:   "health",
		Short: "Ask the process on this machine whether it is well: the health check of an image without a shell",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.Load()
			if err != nil {
				return err
			}
			switch {
			case ready:
				return checkHealth(cmd.Context(), cfg.HTTPAddr, "/readyz")
			case admin && cfg.AdminAddr == "":
				return errors.New("ADMIN_ADDR is not set: the process serves no /readyz to ask there")
			case admin:
				return checkHealth(cmd.Context(), cfg.AdminAddr, "/readyz")
			}
			return checkAlive(cmd.Context(), cfg)
		},
	}
	command.Flags().BoolVar(&ready, "ready", false,
		"ask /readyz of an api: the database answers and takes changes, and its schema is one that this binary works on")
	command.Flags().BoolVar(&admin, "admin", false,
		"ask /readyz on ADMIN_ADDR, the only address a worker has: the database and Temporal answer, and the worker polls")
	command.MarkFlagsMutuallyExclusive("ready", "admin")
	return command
}

// checkAlive asks whichever process runs here, because an image has one health check for all of
// them: an api listens on HTTP_ADDR, a worker on ADMIN_ADDR alone, where no api answers /healthz.
func checkAlive(ctx context.Context, cfg *config.Config) error {
	err := checkHealth(ctx, cfg.HTTPAddr, "/healthz")
	if cfg.AdminAddr == "" || !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	if workerErr := checkHealth(ctx, cfg.AdminAddr, "/healthz"); workerErr != nil {
		return errors.Join(err, workerErr)
	}
	return nil
}

// checkHealth returns nil when the process listening on address responds 200 to path.
func checkHealth(ctx context.Context, address, path string) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	url := "http://" + config.Reachable(address) + path
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	// No proxy: the process is on this machine.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, response.Status)
	}
	return nil
}
