// Package config reads the service's configuration from the environment and checks it before
// anything starts.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/caarlos0/env/v11"

	"despacho/internal/encryption"
	"despacho/internal/historycodec"
	"despacho/internal/photos"
)

// Config is every variable the service reads besides TEMPORAL_*, OTEL_* and AWS_*, which keep the
// meaning their own projects give them. The `doc` tags make the table in docs/configuration.md: a
// test compares the two.
type Config struct {
	HTTPAddr  string `env:"HTTP_ADDR" envDefault:"127.0.0.1:8080" doc:"Address the API, the panel and the tracking page listen on."`
	AdminAddr string `env:"ADMIN_ADDR" doc:"Address of /metrics and /debug/pprof, for whoever runs the service. Empty: not served (dev takes a free port)."`
	BaseURL   string `env:"BASE_URL" doc:"Public address of the service, without a path, used in links; the same for api and worker. Empty: http:// and HTTP_ADDR, with 127.0.0.1 where it names no host."`

	MaxConnectionsPerAddress int `env:"MAX_CONNECTIONS_PER_ADDRESS" envDefault:"200" doc:"Connections one client address (an IPv6 /64 is one) may have open to this process; the next takes the place of one that only waits, or is answered 429. Behind TRUSTED_PROXIES it bounds the requests of each client instead, with 503. 0: no limit."`

	PanelUserLimit     int `env:"PANEL_USER_LIMIT" envDefault:"300" doc:"Requests a minute of one panel user, pages and JSON alike, over all processes; a busy person makes about 100."`
	PanelOperatorLimit int `env:"PANEL_OPERATOR_LIMIT" envDefault:"3000" doc:"Requests a minute of all panel users of one operator and its stores."`

	DatabaseURL      string `env:"DATABASE_URL" doc:"postgres://… or sqlite:<path>. Required outside dev, where it is a SQLite file in DEV_DIR."`
	DatabaseMaxConns int    `env:"DATABASE_MAX_CONNS" envDefault:"20" doc:"Connections this process may hold open to PostgreSQL. A request that gets none within a second is answered 503."`

	SecretKey string `env:"SECRET_KEY" doc:"At least 32 characters; encrypts webhook secrets, second factors and document numbers at rest, and signs cookies and photo addresses. Without a comma, or it cannot be replaced later. Required outside dev. Losing it loses the secrets."`

	SecretKeyOld []string `env:"SECRET_KEY_OLD" doc:"Earlier values of SECRET_KEY, and the next one before it is used, separated by commas: what they encrypted can be read, and photo addresses that they signed work. Empty it when despacho secrets rotate has run and PHOTO_URL_TTL is over."`

	FilesDir string `env:"FILES_DIR" envDefault:"files" doc:"Directory that holds delivery-proof photos, unless PHOTOS says otherwise."`
	FilesURL string `env:"FILES_URL" doc:"Public address photos are served from. Empty: BASE_URL and /files. A server that does not pass requests on to the api has to check their signature itself."`

	Photos string `env:"PHOTOS" doc:"Where photos are stored: a directory, or s3://<bucket>/<prefix>?endpoint=<URL>&region=<name> for object storage. The prefix, the endpoint (Amazon's) and the region (AWS_REGION, or the bucket's own) may be left out. Empty: FILES_DIR."`

	PhotosFallback string `env:"PHOTOS_FALLBACK" doc:"A second place, written as in PHOTOS, where photos are looked for that are not there, and removed from: for as long as a tool copies them (docs/operations.md). Empty: none."`

	PhotoURLTTL time.Duration `env:"PHOTO_URL_TTL" envDefault:"168h" doc:"How long the address of a photo works after it was given out, rounded up to a full hour. Whoever reads the order gets a new one."`

	PhotoQuarantine time.Duration `env:"PHOTO_QUARANTINE" envDefault:"720h" doc:"How long a photo that no delivery refers to is kept, in the folder quarantine beside the others, before it is deleted. 0: kept."`

	AutoCancelAfter time.Duration `env:"AUTO_CANCEL_AFTER" envDefault:"24h" doc:"How long an order may stay registered before it cancels itself."`
	IdempotencyTTL  time.Duration `env:"IDEMPOTENCY_TTL" envDefault:"24h" doc:"How long an Idempotency-Key answers with the first response."`

	AuditRetention time.Duration `env:"AUDIT_RETENTION" envDefault:"8760h" doc:"How long an entry of the audit log is kept; before that the database refuses to delete it."`

	PayloadRetention      time.Duration `env:"PAYLOAD_RETENTION" envDefault:"720h" doc:"How long the personal data of a webhook event and the receiver's response are kept after it was sent. 0: kept."`
	PersonalDataRetention time.Duration `env:"PERSONAL_DATA_RETENTION" envDefault:"0" doc:"How long the recipient's data of a delivered or cancelled order is kept before it is erased. 0: kept until somebody erases it."`

	DNIProvider []string `env:"DNI_PROVIDER" doc:"Identity providers tried in order, separated by commas. Empty: documents are kept as declared."`
	DNIURL      []string `env:"DNI_URL" doc:"Address of each provider, in the same order. Empty: each provider's own."`
	DNIToken    []string `env:"DNI_TOKEN" doc:"Token of each provider, in the same order. Needed at each provider's own address."`

	WebhookAllowNets []netip.Prefix `env:"WEBHOOK_ALLOW_NETS" doc:"CIDRs exempt from the guard against private addresses. Empty outside dev; 127.0.0.0/8 in dev."`
	WebhookCAFile    string         `env:"WEBHOOK_CA_FILE" doc:"PEM file with roots trusted for webhooks besides the system's."`
	WebhooksPaused   bool           `env:"WEBHOOKS_PAUSED" doc:"true: no webhook is called. Events are stored and wait; they are sent once it is unset. For api and worker alike, as in a drill with a restored backup."`

	TrustedProxies []string `env:"TRUSTED_PROXIES" doc:"Addresses or CIDRs of proxies whose X-Forwarded-For is believed. Empty: none."`

	TaskQueue     string `env:"TEMPORAL_TASK_QUEUE" envDefault:"despacho" doc:"Task queue that joins api and worker; give each installation in a shared namespace its own."`
	TemporalUIURL string `env:"TEMPORAL_UI_URL" doc:"Address of the Temporal Web UI, for links from the panel, and the only other origin that may ask /panel/codec. Empty: no links (dev sets it)."`

	HistoryKeys  []string `env:"HISTORY_KEYS" doc:"Keys that payloads in Temporal are encrypted with: id:secret, separated by commas, each secret of at least 32 characters. All of them decrypt."`
	HistoryKeyID string   `env:"HISTORY_KEY_ID" doc:"Id of the key in HISTORY_KEYS that encrypts. Empty: payloads are stored as they are."`

	LogLevel        slog.Level    `env:"LOG_LEVEL" envDefault:"info" doc:"debug, info, warn or error."`
	LogFormat       string        `env:"LOG_FORMAT" envDefault:"text" doc:"text for people, json for machines."`
	DrainDelay      time.Duration `env:"DRAIN_DELAY" envDefault:"3s" doc:"How long a stopping api still takes requests while /readyz answers 503: longer than a balancer needs to notice. If requests still come, up to three times as long. dev does not wait."`
	ShutdownTimeout time.Duration `env:"SHUTDOWN_TIMEOUT" envDefault:"20s" doc:"How long a stopping process waits for requests and tasks in flight."`

	OTLPEndpoint string `env:"OTEL_EXPORTER_OTLP_ENDPOINT" doc:"OTLP/HTTP collector for traces; the other OTEL_* variables apply too. Empty: no traces."`

	DevDir          string `env:"DEV_DIR" envDefault:".dev" doc:"dev only: where its databases, keys and demo.json live."`
	DevTemporalPort int    `env:"DEV_TEMPORAL_PORT" envDefault:"7233" doc:"dev only: port of the Temporal it starts; its Web UI is at this port + 1000."`
	DevInboxAddr    string `env:"DEV_INBOX_ADDR" envDefault:"127.0.0.1:8443" doc:"dev only: address of the webhook inbox."`

	// Timeouts has no variables; Load fills it with the defaults.
	Timeouts Timeouts
	// Limits has no variables either.
	Limits Limits

	// Whether BASE_URL and FILES_URL follow from where the service listens.
	derivesBaseURL, derivesFilesURL bool
}

// Load reads the environment. The returned error names every variable that is wrong.
func Load() (*Config, error) {
	cfg := Config{Timeouts: DefaultTimeouts(), Limits: DefaultLimits()}
	if err := env.ParseWithOptions(&cfg, env.Options{Environment: trimmed(env.ToMap(os.Environ()))}); err != nil {
		return nil, nameVariables(err)
	}
	cfg.derivesBaseURL, cfg.derivesFilesURL = cfg.BaseURL == "", cfg.FilesURL == ""
	cfg.BaseURL, cfg.FilesURL = strings.TrimRight(cfg.BaseURL, "/"), strings.TrimRight(cfg.FilesURL, "/")
	cfg.SetHTTPAddr(cfg.HTTPAddr)
	if err := cfg.check(); err != nil {
		return nil, err
	}
	return &cfg, nil
}

// SetHTTPAddr sets the address that the service really listens on, and the default URLs derived
// from it, which work on this machine.
func (c *Config) SetHTTPAddr(address string) {
	c.HTTPAddr = address
	if c.derivesBaseURL {
		c.BaseURL = "http://" + Reachable(address)
	}
	if c.derivesFilesURL {
		c.FilesURL = c.BaseURL + "/files"
	}
}

func isHostPort(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil || hasSpace(host) {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// hasSpace reports whether a host or an address has white space, which belongs to neither.
func hasSpace(text string) bool { return strings.ContainsFunc(text, unicode.IsSpace) }

// isBaseURL reports whether paths can be appended to an address.
func isBaseURL(address string) bool {
	u, err := url.Parse(address)
	return err == nil && !hasSpace(address) && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") &&
		!strings.ContainsAny(address, "?#")
}

// hasPath reports whether an address that isBaseURL has a path. The panel's pages link to /panel,
// and its cookies are for that path: below another one nobody could sign in.
func hasPath(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Path != ""
}

func (c *Config) check() error {
	var errs []error
	complain := func(variable, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s %s", variable, fmt.Sprintf(format, args...)))
	}
	c.checkAddresses(complain)
	c.checkDurations(complain)
	c.checkNumbers(complain)
	c.checkKeys(complain)
	c.checkNames(complain)
	c.checkFiles(complain)
	if c.LogFormat != "text" && c.LogFormat != "json" {
		complain("LOG_FORMAT", "must be text or json, not %q", c.LogFormat)
	}
	return errors.Join(errs...)
}

// complaint records what is wrong with the value of a variable.
type complaint func(variable, format string, args ...any)

func (c *Config) checkAddresses(complain complaint) {
	for variable, address := range map[string]string{"HTTP_ADDR": c.HTTPAddr, "ADMIN_ADDR": c.AdminAddr,
		"DEV_INBOX_ADDR": c.DevInboxAddr} {
		if !isHostPort(address) && !(address == "" && variable == "ADMIN_ADDR") {
			complain(variable, "must be host:port, not %q", address)
		}
	}
	// What follows from HTTP_ADDR is as right as that.
	urls := []struct {
		variable, value string
		unset           bool
	}{{"BASE_URL", c.BaseURL, c.derivesBaseURL}, {"FILES_URL", c.FilesURL, c.derivesFilesURL},
		{"TEMPORAL_UI_URL", c.TemporalUIURL, c.TemporalUIURL == ""}}
	for _, u := range urls {
		if !u.unset && !isBaseURL(u.value) {
			complain(u.variable, "must be an http or https address without ? and #, not %q", u.value)
		} else if u.variable == "BASE_URL" && hasPath(u.value) {
			complain(u.variable, "must be without a path, not %q", u.value)
		}
	}
	for _, proxy := range c.TrustedProxies {
		if _, err := parseProxy(proxy); err != nil {
			complain("TRUSTED_PROXIES", "has %q, which is neither an address nor a CIDR", proxy)
		}
	}
}

func (c *Config) checkDurations(complain complaint) {
	for variable, value := range map[string]time.Duration{
		"AUTO_CANCEL_AFTER": c.AutoCancelAfter, "IDEMPOTENCY_TTL": c.IdempotencyTTL, "SHUTDOWN_TIMEOUT": c.ShutdownTimeout,
		"AUDIT_RETENTION": c.AuditRetention, "PHOTO_URL_TTL": c.PhotoURLTTL,
	} {
		if value <= 0 {
			complain(variable, "must be a positive duration such as 24h, not %s", value)
		}
	}
	for variable, value := range map[string]time.Duration{
		"DRAIN_DELAY": c.DrainDelay, "PAYLOAD_RETENTION": c.PayloadRetention, "PERSONAL_DATA_RETENTION": c.PersonalDataRetention,
		"PHOTO_QUARANTINE": c.PhotoQuarantine,
	} {
		if value < 0 {
			complain(variable, "must not be negative, not %s", value)
		}
	}
}

func (c *Config) checkNumbers(complain complaint) {
	if c.MaxConnectionsPerAddress < 0 {
		complain("MAX_CONNECTIONS_PER_ADDRESS", "must not be negative, not %d", c.MaxConnectionsPerAddress)
	}
	for variable, value := range map[string]int{"PANEL_USER_LIMIT": c.PanelUserLimit,
		"PANEL_OPERATOR_LIMIT": c.PanelOperatorLimit} {
		if value < 1 {
			complain(variable, "must be at least 1, not %d", value)
		}
	}
	if c.DatabaseMaxConns < 2 {
		complain("DATABASE_MAX_CONNS", "must be at least 2, not %d", c.DatabaseMaxConns)
	}
	if c.DevTemporalPort < 1 || c.DevTemporalPort > 64535 {
		complain("DEV_TEMPORAL_PORT", "must be between 1 and 64535, not %d", c.DevTemporalPort)
	}
}

func (c *Config) checkKeys(complain complaint) {
	if _, err := encryption.New(c.SecretKey); c.SecretKey != "" && err != nil {
		complain("SECRET_KEY", "must have at least %d characters", encryption.MinKeyLength)
	}
	for _, old := range c.SecretKeyOld {
		if _, err := encryption.New(old); err != nil {
			complain("SECRET_KEY_OLD", "must have at least %d characters in each key (a comma separates keys and is part of none)", encryption.MinKeyLength)
			break
		}
	}
	if _, err := historycodec.ParseKeys(c.HistoryKeys, ""); err != nil {
		complain("HISTORY_KEYS", "cannot be used: %v", err)
	} else if _, err := historycodec.ParseKeys(c.HistoryKeys, c.HistoryKeyID); err != nil {
		complain("HISTORY_KEY_ID", "must be the id of a key in HISTORY_KEYS: %v", err)
	}
}

// checkNames refuses quotes that the reader of an env file leaves in place, as Docker's --env-file
// does: they would make an absolute path a relative one, and photos would be lost with the
// container.
func (c *Config) checkNames(complain complaint) {
	for variable, value := range map[string]string{
		"FILES_DIR": c.FilesDir, "PHOTOS": c.Photos, "PHOTOS_FALLBACK": c.PhotosFallback, "DEV_DIR": c.DevDir,
	} {
		if hasQuotesAround(value) {
			complain(variable, "must be without quotes around it, not %s", value)
		}
	}
	// Temporal's list queries have the name in quotes, where neither of the first two can be written;
	// the others are reserved in the name of a Worker Deployment.
	if strings.ContainsAny(c.TaskQueue, `'\.:`) {
		complain("TEMPORAL_TASK_QUEUE", `must be without ' \ . and :, not %q`, c.TaskQueue)
	}
}

func hasQuotesAround(text string) bool {
	return len(text) > 1 && strings.ContainsRune(`"'`, rune(text[0])) && text[0] == text[len(text)-1]
}

func (c *Config) checkFiles(complain complaint) {
	for variable, location := range map[string]string{"PHOTOS": c.Photos, "PHOTOS_FALLBACK": c.PhotosFallback} {
		if location == "" || hasQuotesAround(location) {
			continue
		}
		if _, err := photos.ParseLocation(location); err != nil {
			complain(variable, "%v", err)
		}
	}
	if c.WebhookCAFile != "" {
		if _, err := os.Stat(c.WebhookCAFile); err != nil {
			complain("WEBHOOK_CA_FILE", "cannot be read: %v", err)
		}
	}
}

// ProxyNets are TRUSTED_PROXIES as networks.
func (c *Config) ProxyNets() []netip.Prefix {
	var nets []netip.Prefix
	for _, proxy := range c.TrustedProxies {
		if network, err := parseProxy(proxy); err == nil {
			nets = append(nets, network)
		}
	}
	return nets
}

func parseProxy(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(address, address.BitLen()), nil
	}
	return netip.ParsePrefix(text)
}

// PhotoOptions say where the photos are.
func (c *Config) PhotoOptions() photos.Options {
	return photos.Options{Location: cmp.Or(c.Photos, c.FilesDir), Fallback: c.PhotosFallback, Timeout: c.Timeouts.Bucket}
}

// RequireDatabase is for commands that cannot choose a database by themselves.
func (c *Config) RequireDatabase() error {
	if c.DatabaseURL == "" {
		return errors.New("DATABASE_URL is required: postgres://user:password@host:5432/despacho or sqlite:<path>")
	}
	return nil
}

// DerivesBaseURL reports whether BASE_URL is not set: it then follows from where this process
// listens, which is right only on this machine, and only for the process that serves the panel.
func (c *Config) DerivesBaseURL() bool { return c.derivesBaseURL }

// RequireBaseURL is for commands that print a link: where they run says nothing about where the api
// listens.
func (c *Config) RequireBaseURL() error {
	if c.DerivesBaseURL() {
		return errors.New("BASE_URL is required: the public address of the service as the api has it, such as https://despacho.example")
	}
	return nil
}

// RequireSecrets is for the processes that serve real users.
func (c *Config) RequireSecrets() error {
	if c.SecretKey == "" {
		return errors.New("SECRET_KEY is required: at least 32 random characters, for example from `openssl rand -hex 32`")
	}
	return nil
}

// trimmed removes the spaces and line ends around the values, which files leave there, and around
// each value of a list.
func trimmed(environment map[string]string) map[string]string {
	for _, variable := range Variables() {
		if value, isSet := environment[variable.Name]; isSet {
			environment[variable.Name] = strings.TrimSpace(value)
			if variable.isList {
				environment[variable.Name] = listSpaces.ReplaceAllString(strings.TrimSpace(value), ",")
			}
		}
	}
	return environment
}

var listSpaces = regexp.MustCompile(`\s*,\s*`)

// nameVariables rewrites the parser's errors, which name struct fields, to name the variables.
func nameVariables(err error) error {
	var all env.AggregateError
	if !errors.As(err, &all) {
		return err
	}
	var errs []error
	for _, one := range all.Errors {
		var parse env.ParseError
		if errors.As(one, &parse) {
			errs = append(errs, fmt.Errorf("%s has a value that cannot be read: %w", variableOf(parse.Name), parse.Err))
			continue
		}
		errs = append(errs, one)
	}
	return errors.Join(errs...)
}
