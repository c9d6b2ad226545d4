package dev

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"go.temporal.io/sdk/client"
	"go.yaml.in/yaml/v3"

	"despacho/deploy/temporal"
)

// queueReadsPerSecond bounds how often a queue with new tasks is read; one without is not.
const queueReadsPerSecond = 1000

// TemporalOptions configure Temporal's development server.
type TemporalOptions struct {
	// CLI is the path of the program, as FindTemporalDev gives it: the Temporal CLI, or what takes
	// its arguments.
	CLI string
	// Host is the address to listen on; empty is 127.0.0.1.
	Host string
	// Port is the frontend's; 0 takes a free one.
	Port int
	// PortVariable is the variable that sets Port and UIPort, for error messages.
	PortVariable string
	// UI serves the Web UI; a UIPort implies it.
	UI bool
	// UIPort is the Web UI's; 0 takes a free one if UI is set.
	UIPort int
	// DBFile keeps workflows across restarts; empty keeps them in memory.
	DBFile string
	// Namespace is created if it is not there; empty is "default".
	Namespace string
	// SearchAttributes are registered in the namespace: name → type ("Keyword", "Int", …).
	SearchAttributes map[string]string
	// DynamicConfig are settings besides those of deploy/temporal/dynamicconfig.yaml: name → value.
	DynamicConfig map[string]string
	// Log gets the server's output; nil discards it.
	Log io.Writer
}

// Temporal is a running Temporal server.
type Temporal struct {
	Server
	// Address is the frontend's host:port.
	Address string
	// UIURL is empty when there is no Web UI.
	UIURL string
}

// StartTemporal starts the server and returns when its namespace can be used. ctx bounds the start
// alone.
func StartTemporal(ctx context.Context, options TemporalOptions) (*Temporal, error) {
	options.Host = cmp.Or(options.Host, loopback)
	options.Namespace = cmp.Or(options.Namespace, client.DefaultNamespace)
	address, uiAddress, err := temporalAddresses(options)
	if err != nil {
		return nil, err
	}
	_, statErr := os.Stat(options.DBFile)
	freshFile := options.DBFile != "" && errors.Is(statErr, os.ErrNotExist)
	ready := temporalReadiness{addresses: []string{address}, namespace: options.Namespace,
		searchAttributes: options.SearchAttributes}
	server := &Temporal{Address: address}
	if uiAddress != "" {
		server.UIURL = "http://" + uiAddress
		ready.addresses = append(ready.addresses, uiAddress)
	}
	server.Server = Server{ready: ready.check, command: Command{
		Name: "Temporal", Path: options.CLI, Args: temporalArguments(options, address, uiAddress),
		Env: withoutTemporalVariables(os.Environ()), Log: options.Log,
	}}
	if options.DBFile != "" {
		// The server makes a URI of the file's path: a "#" or a "%41" in the name of a directory
		// would lead to another file.
		server.command.Dir = filepath.Dir(options.DBFile)
	}
	for attempt := 1; ; attempt++ {
		err := server.start(ctx)
		if err == nil {
			return server, nil
		}
		if freshFile {
			// The server creates its schema only where there is no file: one left half made would
			// never work.
			for _, suffix := range []string{"", "-wal", "-shm"} {
				_ = os.Remove(options.DBFile + suffix)
			}
		}
		if attempt == temporalStarts || !strings.Contains(err.Error(), syscall.EADDRINUSE.Error()) {
			return nil, err
		}
	}
}

// temporalStarts is how often a server is started that finds a port of its own in use: it chooses
// the ports of its parts before it listens on them, and another program may be given one meanwhile.
const temporalStarts = 3

// CheckPorts fails, as StartTemporal does, when a port is in use.
func (options TemporalOptions) CheckPorts() error {
	options.Host = cmp.Or(options.Host, loopback)
	_, _, err := temporalAddresses(options)
	return err
}

// temporalAddresses chooses both addresses and checks that they are free.
func temporalAddresses(options TemporalOptions) (address, uiAddress string, err error) {
	if address, err = portAddress(options.Host, options.Port); err != nil {
		return "", "", err
	}
	if err := checkFree(address, options.PortVariable); err != nil {
		return "", "", fmt.Errorf("the address of Temporal: %w", err)
	}
	if !options.UI && options.UIPort == 0 {
		return address, "", nil
	}
	if uiAddress, err = portAddress(options.Host, options.UIPort); err != nil {
		return "", "", err
	}
	if err := checkFree(uiAddress, options.PortVariable); err != nil {
		return "", "", fmt.Errorf("the address of the Temporal Web UI: %w", err)
	}
	return address, uiAddress, nil
}

func temporalArguments(options TemporalOptions, address, uiAddress string) []string {
	host, port, _ := net.SplitHostPort(address)
	arguments := []string{"server", "start-dev", "--ip", host, "--port", port, "--namespace", options.Namespace}
	for _, queue := range []string{"transfer", "timer"} {
		// All workflows of the development server share one shard, and a shard's queues are read 20
		// times a second by default: every task would wait for 25 ms on average.
		arguments = append(arguments, "--dynamic-config-value",
			fmt.Sprintf("history.%sProcessorMaxPollRPS=%d", queue, queueReadsPerSecond))
	}
	for _, kind := range []string{"Read", "Write"} {
		// By default a task queue has four partitions, so that several servers can share its load.
		// One server only forwards tasks and polls from one of its partitions to another.
		arguments = append(arguments, "--dynamic-config-value", fmt.Sprintf("matching.numTaskqueue%sPartitions=1", kind))
	}
	settings := shippedDynamicConfig()
	maps.Copy(settings, options.DynamicConfig)
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		arguments = append(arguments, "--dynamic-config-value", name+"="+settings[name])
	}
	if uiAddress == "" {
		arguments = append(arguments, "--headless")
	} else {
		_, uiPort, _ := net.SplitHostPort(uiAddress)
		arguments = append(arguments, "--ui-port", uiPort)
	}
	if options.DBFile != "" {
		// Three times the workflow starts per second of the default pragmas. What that risks,
		// losing the last writes in a power cut, is fine for development and for nothing else; the
		// death of the process loses nothing.
		arguments = append(arguments, "--db-filename", filepath.Base(options.DBFile),
			"--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=off")
	}
	for _, name := range slices.Sorted(maps.Keys(options.SearchAttributes)) {
		arguments = append(arguments, "--search-attribute", name+"="+options.SearchAttributes[name])
	}
	return arguments
}

// shippedDynamicConfig are the settings of deploy/temporal/dynamicconfig.yaml: name → value. It
// panics where the file, which is part of the binary, cannot be read.
func shippedDynamicConfig() map[string]string {
	var file map[string][]struct{ Value any }
	if err := yaml.Unmarshal(temporal.DynamicConfig, &file); err != nil {
		panic(err)
	}
	settings := map[string]string{}
	for name, values := range file {
		settings[name] = fmt.Sprint(values[0].Value)
	}
	return settings
}

// withoutTemporalVariables keeps what configures our own client (TEMPORAL_ADDRESS,
// TEMPORAL_NAMESPACE, …) from configuring the server's CLI.
func withoutTemporalVariables(environment []string) []string {
	return slices.DeleteFunc(environment, func(setting string) bool { return strings.HasPrefix(setting, "TEMPORAL_") })
}
