package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

const oapiCodegen = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.1"

// generator makes a client's generated files.
type generator struct {
	client string // the directory of clients
	files  []string
	// commands write the files into a directory.
	commands func(into string) [][]string
	prepare  func(context.Context) (skip string, err error)
}

var generators = []generator{
	{
		client: "go", files: []string{"types.gen.go"},
		commands: func(into string) [][]string {
			return [][]string{{"go", "run", oapiCodegen, "-config", "clients/go/oapi-codegen.yaml", "-o", filepath.Join(into, "types.gen.go"), "api/openapi.yaml"}}
		},
	},
	{
		client: "typescript", files: []string{"openapi.d.ts", "despacho.js", "despacho.d.ts"}, prepare: installNodeTools,
		commands: func(into string) [][]string {
			chosen := filepath.Join(into, "chosen.yaml")
			return [][]string{
				slices.Concat(quietRedocly, nodeTool("redocly", "bundle", "--config", "clients/typescript/redocly.yaml", "client", "-o", chosen)),
				nodeTool("openapi-typescript", chosen, "--default-non-nullable", "false", "-o", filepath.Join(into, "openapi.d.ts")),
				{"cp", "clients/typescript/despacho.ts", "clients/typescript/package.json", "clients/typescript/tsconfig.json", into},
				nodeTool("tsc", "-p", into, "--typeRoots", filepath.Join(nodeToolsDir(), "node_modules", "@types")),
			}
		},
	},
}

// generate writes what is generated from openapi.yaml into clients. With --check it compares
// instead; names choose clients.
func generate(ctx context.Context, arguments []string, out io.Writer) error {
	if err := enterModule(ctx); err != nil {
		return err
	}
	check := slices.Contains(arguments, "--check")
	names := slices.DeleteFunc(slices.Clone(arguments), func(argument string) bool { return argument == "--check" })
	for _, g := range generators {
		if len(names) > 0 && !slices.Contains(names, g.client) {
			continue
		}
		if err := g.run(ctx, check, out); err != nil {
			return fmt.Errorf("clients/%s: %w", g.client, err)
		}
	}
	return nil
}

func (g generator) run(ctx context.Context, check bool, out io.Writer) error {
	if g.prepare != nil {
		skip, err := g.prepare(ctx)
		if err != nil {
			return err
		}
		if skip != "" {
			return errors.New(skip)
		}
	}
	into, err := os.MkdirTemp("bin", "generated-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(into) }()
	for _, command := range g.commands(into) {
		var output bytes.Buffer
		if err := execute(ctx, command, os.Environ(), &output); err != nil {
			return fmt.Errorf("%w\n%s", err, output.Bytes())
		}
	}
	for _, name := range g.files {
		made, err := os.ReadFile(filepath.Join(into, name))
		if err != nil {
			return err
		}
		path := filepath.Join("clients", g.client, name)
		if !check {
			if err := os.WriteFile(path, made, 0o644); err != nil {
				return err
			}
			fmt.Fprintln(out, "generated", path)
		} else if kept, err := os.ReadFile(path); err != nil || !bytes.Equal(kept, made) {
			return fmt.Errorf("%s is not what `make generate` makes of api/openapi.yaml", path)
		}
	}
	return nil
}
