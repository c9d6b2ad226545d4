package dev

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"time"

	"go.temporal.io/sdk/temporal"
)

const (
	// infoTimeout is the delay of a first start without internet access.
	infoTimeout = 3 * time.Second
	// archiveTimeout is for the archive, which may be on another host.
	archiveTimeout = 10 * time.Minute
)

// cliArchive is what the download service answers.
type cliArchive struct {
	URL  string `json:"archiveUrl"`
	File string `json:"fileToExtract"`
}

// download writes the prebuilt CLI to destination.
func (s temporalDevFinder) download(ctx context.Context, destination string) error {
	archive, err := s.chooseArchive(ctx)
	if err != nil {
		return err
	}
	return s.fetchArchive(ctx, archive, destination)
}

func (s temporalDevFinder) chooseArchive(ctx context.Context) (archive cliArchive, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.infoTimeout,
		fmt.Errorf("%s did not answer within %s", s.downloads, s.infoTimeout))
	defer cancel()
	query := url.Values{
		"platform": {runtime.GOOS}, "arch": {runtime.GOARCH},
		"sdk-name": {"sdk-go"}, "sdk-version": {temporal.SDKVersion},
	}
	response, err := get(ctx, s.downloads+"/cli/"+temporalCLIVersion+"?"+query.Encode())
	if err != nil {
		return archive, err
	}
	defer response.Body.Close()
	if err := json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(&archive); err != nil {
		return archive, fmt.Errorf("%s answered something unexpected: %w", s.downloads, contextCause(ctx, err))
	}
	return archive, nil
}

func (s temporalDevFinder) fetchArchive(ctx context.Context, archive cliArchive, destination string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, archiveTimeout,
		errors.New("the download took more than "+archiveTimeout.String()))
	defer cancel()
	response, err := get(ctx, archive.URL)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	s.progress("downloading the Temporal CLI from " + archive.URL)
	began := time.Now()
	defer Every(s.interval, func() { s.progress("downloading the Temporal CLI: " + elapsed(began).String()) })()
	if err := extract(response.Body, archive.File, destination); err != nil {
		return fmt.Errorf("downloading %s: %w", archive.URL, contextCause(ctx, err))
	}
	return nil
}

// extract writes the named file of a .tar.gz to destination, as a program.
func extract(archive io.Reader, name, destination string) error {
	unzipped, err := gzip.NewReader(archive)
	if err != nil {
		return err
	}
	files := tar.NewReader(unzipped)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("the archive has no file %s", name)
		}
		if err != nil {
			return err
		}
		if header.Name != name {
			continue
		}
		program, err := os.OpenFile(destination, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
		if err != nil {
			return err
		}
		_, err = io.Copy(program, files)
		return errors.Join(err, program.Close())
	}
}

func get(ctx context.Context, address string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		if failure := (*url.Error)(nil); errors.As(err, &failure) {
			err = fmt.Errorf("%s cannot be reached: %w", request.URL.Host, failure.Err) // shorter than the whole address
		}
		return nil, contextCause(ctx, err)
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, fmt.Errorf("%s answered %s", address, response.Status)
	}
	return response, nil
}

// contextCause prefers the cause of an ended context to the error that followed from it.
func contextCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}
