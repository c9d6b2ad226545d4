package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// nodePackages has the versions of the tools from npm.
const nodePackages = "test/openapi"

// nodeTool is the command of a tool from npm.
func nodeTool(name string, arguments ...string) []string {
	return append([]string{filepath.Join(nodeToolsDir(), "node_modules", ".bin", name)}, arguments...)
}

// nodeToolsDir is shared by all clones, where the user has a directory for caches. It is named
// after the lock file, so that other versions get another directory.
func nodeToolsDir() string {
	parent, err := os.UserCacheDir()
	if err != nil {
		parent = "bin"
	}
	lock, _ := os.ReadFile(filepath.Join(nodePackages, "package-lock.json")) // copying it reports the error
	sum := sha256.Sum256(lock)
	return filepath.Join(parent, "despacho", "npm", hex.EncodeToString(sum[:6]))
}

// installNodeTools installs the tools from npm unless they are there. Where npm is missing or its
// registry does not answer, it returns that as the reason to skip what needs them.
func installNodeTools(ctx context.Context) (skip string, err error) {
	version, err := exec.CommandContext(ctx, "node", "--version").Output()
	if err != nil {
		return "there is no Node", nil
	}
	var major int
	if _, err := fmt.Sscanf(string(version), "v%d.", &major); err != nil || major < 20 {
		return "Node 20 or later is needed, not " + strings.TrimSpace(string(version)), nil
	}
	installed := nodeToolsDir()
	if _, err := os.Stat(installed); err == nil {
		return "", nil
	}
	asking, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := exec.CommandContext(asking, "npm", "view", "--fetch-retries=0", "typescript", "version").Run(); err != nil {
		return "npm or its registry does not answer: " + err.Error(), nil
	}
	return "", downloadNodeTools(ctx, installed)
}

// downloadNodeTools installs into a directory of its own and then renames it, so that no other run
// finds half of the tools.
func downloadNodeTools(ctx context.Context, installed string) error {
	if err := os.MkdirAll(filepath.Dir(installed), 0o755); err != nil {
		return err
	}
	temporary, err := os.MkdirTemp(filepath.Dir(installed), "installing-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	for _, name := range []string{"package.json", "package-lock.json"} {
		content, err := os.ReadFile(filepath.Join(nodePackages, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(temporary, name), content, 0o600); err != nil {
			return err
		}
	}
	command := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
	command.Dir = temporary
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, output)
	}
	if err := os.Rename(temporary, installed); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
