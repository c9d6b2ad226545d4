//go:build ignore

// This program is the Temporal development server that package dev compiles, with the module file
// temporal.mod, where the Temporal CLI can neither be found nor downloaded: the CLI needs a module
// that no module proxy has to offer. It takes what StartTemporal gives `temporal server start-dev`
// and runs the same server and Web UI with the same settings.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	uiserver "github.com/temporalio/ui-server/v2/server"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	uioptions "github.com/temporalio/ui-server/v2/server/server_options"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	sqliteschema "go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
)

// clusterName is the name that the CLI gives: a database file of one is of use to the other.
const clusterName = "active"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) < 2 || !slices.Equal(arguments[:2], []string{"server", "start-dev"}) {
		return errors.New("usage: server start-dev [flags]; for everything else install the Temporal CLI (https://docs.temporal.io/cli)")
	}
	options := &devServer{pragmas: pairs{}, dynamicConfig: pairs{}, searchAttributes: pairs{}}
	if err := options.parse(arguments[2:]); err != nil {
		return err
	}
	server, err := options.server()
	if err != nil {
		return err
	}
	if !options.headless {
		go func() {
			if err := options.ui().Start(); err != nil {
				fmt.Fprintln(os.Stderr, "the Web UI:", err)
				os.Exit(1)
			}
		}()
	}
	return server.Start() // until it is interrupted
}

// devServer is the flags of `temporal server start-dev`.
type devServer struct {
	ip, namespace, dbFile                    string
	port, uiPort                             int
	headless                                 bool
	pragmas, dynamicConfig, searchAttributes pairs
}

func (s *devServer) parse(arguments []string) error {
	flags := flag.NewFlagSet("server start-dev", flag.ContinueOnError)
	flags.StringVar(&s.ip, "ip", "127.0.0.1", "address to listen on")
	flags.IntVar(&s.port, "port", 7233, "port of the frontend")
	flags.IntVar(&s.uiPort, "ui-port", 8233, "port of the Web UI")
	flags.BoolVar(&s.headless, "headless", false, "no Web UI")
	flags.StringVar(&s.namespace, "namespace", "default", "namespace to create besides \"default\"")
	flags.StringVar(&s.dbFile, "db-filename", "", "SQLite file; without one everything is in memory")
	flags.Var(s.pragmas, "sqlite-pragma", "name=value, may be repeated")
	flags.Var(s.dynamicConfig, "dynamic-config-value", "key=JSON, may be repeated")
	flags.Var(s.searchAttributes, "search-attribute", "name=type, may be repeated")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return nil
}

// pairs collects the values of a repeated flag.
type pairs map[string]string

func (p pairs) String() string { return "" }

func (p pairs) Set(text string) error {
	name, value, found := strings.Cut(text, "=")
	if !found {
		return errors.New("no = in it")
	}
	p[name] = value
	return nil
}

func (s *devServer) server() (temporal.Server, error) {
	dynamicConfig, err := s.dynamicConfigValues()
	if err != nil {
		return nil, err
	}
	database, err := s.database()
	if err != nil {
		return nil, err
	}
	settings, hosts, err := s.config(database)
	if err != nil {
		return nil, err
	}
	return temporal.NewServer(
		temporal.WithConfig(settings),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(hosts),
		temporal.WithLogger(log.NewZapLogger(log.BuildZapLogger(log.Config{Level: "warn"}))),
		temporal.WithDynamicConfigClient(dynamicConfig),
		temporal.InterruptOn(temporal.InterruptCh()),
	)
}

// dynamicConfigValues are the CLI's own, and over them those of the flags.
func (s *devServer) dynamicConfigValues() (dynamicconfig.StaticClient, error) {
	values := dynamicconfig.StaticClient{
		// New search attributes can be used at once, which takes more reads of the database.
		dynamicconfig.MakeKey("system.forceSearchAttributesCacheRefreshOnRead"): true,
		dynamicconfig.MakeKey("frontend.persistenceMaxQPS"):                     10_000,
		dynamicconfig.MakeKey("history.persistenceMaxQPS"):                      45_000,
		dynamicconfig.HistoryCacheHostLevelMaxSize.Key():                        8096,
		dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance.Key():        100,
	}
	for key, text := range s.dynamicConfig {
		if number, err := strconv.Atoi(text); err == nil {
			values[dynamicconfig.MakeKey(key)] = number
			continue
		}
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			return nil, fmt.Errorf("dynamic config %s: %w", key, err)
		}
		values[dynamicconfig.MakeKey(key)] = value
	}
	return values, nil
}

// database sets up the schema in a new file and creates the namespaces.
func (s *devServer) database() (*config.SQL, error) {
	database := &config.SQL{
		PluginName: sqlite.PluginName, DatabaseName: strconv.Itoa(rand.IntN(1e9)),
		ConnectAttributes: map[string]string{"mode": "memory", "cache": "shared"},
	}
	if s.dbFile != "" {
		database.DatabaseName, database.ConnectAttributes = s.dbFile, map[string]string{"mode": "rwc"}
	}
	for name, value := range s.pragmas {
		database.ConnectAttributes[name] = value
	}
	if _, err := os.Stat(s.dbFile); s.dbFile != "" && errors.Is(err, fs.ErrNotExist) {
		if err := sqliteschema.SetupSchema(database); err != nil {
			return nil, fmt.Errorf("setting up the schema: %w", err)
		}
	}
	attributes := map[string]enums.IndexedValueType{}
	for name, typeName := range s.searchAttributes {
		valueType, err := enums.IndexedValueTypeFromString(typeName)
		if err != nil {
			return nil, fmt.Errorf("search attribute %s: %w", name, err)
		}
		attributes[name] = valueType
	}
	for _, name := range slices.Compact([]string{"default", s.namespace}) {
		namespace, err := sqliteschema.NewNamespaceConfig(clusterName, name, false, attributes)
		if err != nil {
			return nil, err
		}
		if err := sqliteschema.CreateNamespaces(database, namespace); err != nil {
			return nil, err
		}
	}
	return database, nil
}

// config is the server's, and where its parts find each other without a membership protocol.
func (s *devServer) config(database *config.SQL) (*config.Config, map[primitives.ServiceName]static.Hosts, error) {
	services := []primitives.ServiceName{
		primitives.HistoryService, primitives.MatchingService, primitives.WorkerService, primitives.FrontendService,
	}
	ports, err := freePorts(s.ip, len(services))
	if err != nil {
		return nil, nil, err
	}
	httpPort := ports[len(services)-1]
	ports[len(services)-1] = s.port
	address := net.JoinHostPort(s.ip, strconv.Itoa(s.port))
	settings := &config.Config{
		Global: config.Global{Membership: config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: s.ip}},
		Persistence: config.Persistence{
			NumHistoryShards: 1, DefaultStore: "sqlite", VisibilityStore: "sqlite",
			DataStores: map[string]config.DataStore{"sqlite": {SQL: database}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10, MasterClusterName: clusterName, CurrentClusterName: clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{clusterName: {
				Enabled: true, InitialFailoverVersion: 1, RPCAddress: address,
				HTTPAddress: net.JoinHostPort(s.ip, strconv.Itoa(httpPort)),
			}},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services:            map[string]config.Service{},
		Archival: config.Archival{
			History:    config.HistoryArchival{State: config.ArchivalDisabled},
			Visibility: config.VisibilityArchival{State: config.ArchivalDisabled},
		},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: config.ArchivalDisabled},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: config.ArchivalDisabled},
		}},
		PublicClient: config.PublicClient{HostPort: address},
	}
	hosts := map[primitives.ServiceName]static.Hosts{}
	for i, name := range services {
		rpc := config.RPC{GRPCPort: ports[i], BindOnIP: s.ip}
		if name == primitives.FrontendService {
			rpc.HTTPPort = httpPort
		}
		settings.Services[string(name)] = config.Service{RPC: rpc}
		hosts[name] = static.SingleLocalHost(net.JoinHostPort(s.ip, strconv.Itoa(ports[i])))
	}
	return settings, hosts, nil
}

func (s *devServer) ui() *uiserver.Server {
	return uiserver.NewServer(uioptions.WithConfigProvider(&uiconfig.Config{
		Host: s.ip, Port: s.uiPort, TemporalGRPCAddress: net.JoinHostPort(s.ip, strconv.Itoa(s.port)),
		EnableUI: true, CORS: uiconfig.CORS{CookieInsecure: true}, HideLogs: true,
	}))
}

// freePorts holds all of them before it gives them up, so that no port comes twice.
func freePorts(ip string, count int) ([]int, error) {
	ports := make([]int, count)
	for i := range ports {
		listener, err := net.Listen("tcp", net.JoinHostPort(ip, "0"))
		if err != nil {
			return nil, err
		}
		defer listener.Close()
		ports[i] = listener.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}
