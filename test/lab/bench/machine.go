package bench

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"despacho/internal/dev"
)

// machineInfo describes the machine and the settings of the run.
func machineInfo(ctx context.Context, sc scale, took time.Duration) string {
	return fmt.Sprintf("%s, %d cores, %s, %s; %s; Temporal server %s; %s; PostgreSQL does not wait for the disk. %d rounds, %d clients, %s in all, %s.",
		processor(), runtime.NumCPU(), memory(), runtime.GOOS+"/"+runtime.GOARCH, postgresVersion(ctx), dev.TemporalServerVersion,
		runtime.Version(), sc.rounds, sc.clients, took.Round(time.Second), time.Now().UTC().Format(time.DateOnly))
}

// processor and memory are read from /proc, which only Linux has.
func processor() string { return procValue("/proc/cpuinfo", "model name", "processor unknown") }

func memory() string {
	text := procValue("/proc/meminfo", "MemTotal", "")
	var kibibytes float64
	if _, err := fmt.Sscanf(text, "%f kB", &kibibytes); err != nil {
		return "memory unknown"
	}
	return fmt.Sprintf("%.0f GiB", kibibytes/(1<<20))
}

func procValue(path, name, otherwise string) string {
	file, err := os.Open(path)
	if err != nil {
		return otherwise
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		key, value, found := strings.Cut(lines.Text(), ":")
		if found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return otherwise
}

func postgresVersion(ctx context.Context) string {
	bin, err := dev.FindPostgres()
	if err != nil {
		return "PostgreSQL"
	}
	output, err := exec.CommandContext(ctx, filepath.Join(bin, "postgres"), "--version").Output()
	if err != nil {
		return "PostgreSQL"
	}
	return strings.TrimSpace(strings.Replace(string(output), "postgres (PostgreSQL)", "PostgreSQL", 1))
}
