package dev

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Descendants are the processes that a process has started, and those that they have, as Linux
// lists them under /proc. Where there is no /proc there are none to be found.
func Descendants(pid int) []int {
	children := map[int][]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is right
	for _, file := range files {
		number, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			continue
		}
		if _, parent, known := processState(number); known {
			children[parent] = append(children[parent], number)
		}
	}
	found := children[pid]
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i]]...)
	}
	return found
}

// processState reads a process's state, such as "T" for stopped, and its parent.
func processState(pid int) (state string, parent int, known bool) {
	content, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", 0, false // gone, or no /proc
	}
	// "pid (name) state parent …": the name may hold anything, so it is skipped from its end.
	text := string(content)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 {
		return "", 0, false
	}
	parent, err = strconv.Atoi(fields[1])
	return fields[0], parent, err == nil
}

// pauseTimeout is how long a process may take to stop: a system call under way ends first.
const pauseTimeout = 10 * time.Second

// awaitPaused returns when a process has stopped after SIGSTOP.
func awaitPaused(pid int) {
	for end := time.Now().Add(pauseTimeout); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if state, _, known := processState(pid); !known || state == "T" || state == "Z" {
			return
		}
	}
}
