//go:build unix && !linux

package dev

import "syscall"

// dieWithParent does nothing where the kernel has no parent-death signal: there only Stop ends a
// child.
func dieWithParent(*syscall.SysProcAttr) {}
