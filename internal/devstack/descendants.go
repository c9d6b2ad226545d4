package devstack

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// descendants are the processes that a process has started, and those that they have, as Linux lists them under /proc. Where there is no /proc
// there are none to be found.
func descendants(pid int) []int {
	children := map[int][]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is right
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			continue // gone meanwhile
		}
		// "pid (name) state parent …": the name may hold anything, so it is skipped from its end.
		own, rest := string(content), ""
		if end := strings.LastIndexByte(own, ')'); end >= 0 {
			rest = own[end+1:]
		}
		fields := strings.Fields(rest)
		number, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || len(fields) < 2 {
			continue
		}
		if parent, err := strconv.Atoi(fields[1]); err == nil {
			children[parent] = append(children[parent], number)
		}
	}
	family := children[pid]
	for i := 0; i < len(family); i++ {
		family = append(family, children[family[i]]...)
	}
	return family
}
