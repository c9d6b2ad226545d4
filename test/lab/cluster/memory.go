package cluster

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// RSS is a process's resident set size in MiB.
func RSS(pid int) (float64, error) {
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
	return 0, fmt.Errorf("the kernel does not report the memory of the process")
}
