//go:build !linux && !darwin

package telemetry

import "errors"

func diskSpace(string) (free, size uint64, err error) { return 0, 0, errors.ErrUnsupported }
