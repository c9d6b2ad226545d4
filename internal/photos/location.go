package photos

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"
)

// bucketScheme begins the location of a bucket.
const bucketScheme = "s3://"

// Location is where photos are stored: a directory, or a bucket of S3 or of a service that is
// compatible with it.
type Location struct {
	// Directory is empty for a bucket.
	Directory string
	// Bucket is empty for a directory. Prefix is what the keys of its photos begin with; empty, or
	// with a slash at its end.
	Bucket, Prefix string
	// Endpoint is the service's address; nil is that of Amazon.
	Endpoint *url.URL
	// Region is empty where the environment or the service tells it.
	Region string
}

// ParseLocation reads the path of a directory, or
// s3://<bucket>[/<prefix>][?endpoint=<URL>&region=<name>]. Its errors do not repeat the location,
// which may hold a secret by mistake.
func ParseLocation(text string) (Location, error) {
	if text == "" {
		return Location{}, errors.New("is empty: it has to be a directory, or s3://<bucket>")
	}
	if !strings.HasPrefix(text, bucketScheme) {
		if scheme, _, found := strings.Cut(text, "://"); found {
			return Location{}, fmt.Errorf("begins with %s://, and has to be a directory or begin with %s", scheme, bucketScheme)
		}
		return Location{Directory: text}, nil
	}
	address, err := url.Parse(text)
	if err != nil {
		return Location{}, errors.New("cannot be read as an address")
	}
	if address.User != nil {
		return Location{}, errors.New("has a user or a password: credentials belong in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	if address.Host == "" || address.Port() != "" {
		return Location{}, errors.New("names no bucket: s3://<bucket>, and the server as ?endpoint=")
	}
	location := Location{Bucket: address.Host}
	if prefix := strings.Trim(address.Path, "/"); prefix != "" {
		if !fs.ValidPath(prefix) {
			return Location{}, errors.New("has a prefix with empty parts or dots")
		}
		location.Prefix = prefix + "/"
	}
	parameters, err := url.ParseQuery(address.RawQuery)
	if err != nil {
		return Location{}, errors.New("has parameters that cannot be read")
	}
	for name := range parameters {
		if !slices.Contains([]string{"endpoint", "region"}, name) {
			return Location{}, fmt.Errorf("has the parameter %q: endpoint and region are known", name)
		}
	}
	location.Region = parameters.Get("region")
	if endpoint := parameters.Get("endpoint"); endpoint != "" {
		location.Endpoint, err = parseEndpoint(endpoint)
	}
	return location, err
}

func parseEndpoint(text string) (*url.URL, error) {
	endpoint, err := url.Parse(text)
	if err != nil || endpoint.Host == "" || (endpoint.Scheme != "http" && endpoint.Scheme != "https") ||
		strings.Trim(endpoint.Path, "/") != "" || endpoint.User != nil || endpoint.RawQuery != "" {
		return nil, errors.New("has an endpoint that is not http:// or https:// with a host alone")
	}
	return endpoint, nil
}
