package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"despacho/internal/webhooks/listener"
	"despacho/internal/webhooks/sender"
)

// The variables of the commands that call a service as a store's system does. What is secret is
// better there than among the arguments, which other users of the machine see.
const (
	urlVariable    = "DESPACHO_URL"
	keyVariable    = "DESPACHO_KEY"
	secretVariable = "DESPACHO_SECRET"

	urlFlagUsage = "address of the service, such as https://despacho.example; or set " + urlVariable
	keyFlagUsage = "; or set " + keyVariable + ", which other users of the machine do not see"
)

func listenCommand() *cobra.Command {
	options := listener.Options{}
	command := &cobra.Command{
		Use:   "listen",
		Short: "Forward a key's events to a program on this machine, as webhooks would be sent to it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			options.Key = cmp.Or(options.Key, os.Getenv(keyVariable))
			options.URL = cmp.Or(options.URL, os.Getenv(urlVariable))
			options.Secret = cmp.Or(options.Secret, os.Getenv(secretVariable), sender.NewSecret())
			options.Out = cmd.OutOrStdout()
			err := errors.Join(checkURL("--url or "+urlVariable, options.URL), checkURL("--forward", options.Forward))
			if options.Key == "" {
				err = errors.Join(err, errors.New("--key or "+keyVariable+" must be an API key with the scope read:orders"))
			}
			if !sender.ValidSecret(options.Secret) {
				err = errors.Join(err, errors.New("--secret or "+secretVariable+
					" must be one that an earlier run has printed, or a webhook's"))
			}
			if err != nil {
				return err
			}
			return listener.Run(cmd.Context(), options)
		},
	}
	flags := command.Flags()
	flags.StringVar(&options.Key, "key", "", "API key with the scope read:orders"+keyFlagUsage)
	flags.StringVar(&options.URL, "url", "", urlFlagUsage)
	flags.StringVar(&options.Forward, "forward", "", "address that events are posted to, such as http://localhost:3000/hook")
	flags.StringVar(&options.Secret, "secret", "", "secret that signs them; or set "+secretVariable+
		". Without it a new one is made and printed")
	return command
}

func checkURL(flag, address string) error {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		return fmt.Errorf("%s must be an http or https address, not %q", flag, address)
	}
	return nil
}
