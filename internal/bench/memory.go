package bench

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// rss is how much memory a process holds, in MiB, as the kernel counts it.
func rss(pid int) (float64, error) {
	file, err := os.Open("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, fmt.Errorf("memory is read from /proc, as Linux has it: %w", err)
	}
	defer file.Close()
	return parseRSS(bufio.NewScanner(file))
}

func parseRSS(status *bufio.Scanner) (float64, error) {
	for status.Scan() {
		text, found := strings.CutPrefix(status.Text(), "VmRSS:")
		if !found {
			continue
		}
		kibibytes, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "kB")), 64)
		return kibibytes / 1024, err
	}
	return 0, fmt.Errorf("the kernel does not say how much memory the process holds")
}

// calm is how long a process is left alone before its memory is read.
const calm = 2 * time.Second

// rssAtRest reads the memory of processes once they have been left alone for a moment.
func rssAtRest(ctx context.Context, processes ...*child) ([]float64, error) {
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(calm):
	}
	list := make([]float64, len(processes))
	for i, process := range processes {
		var err error
		if list[i], err = rss(process.Pid()); err != nil {
			return nil, err
		}
	}
	return list, nil
}
