package dev

import "syscall"

// dieWithParent has the kernel kill the child when we die, even by SIGKILL.
func dieWithParent(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGKILL }
