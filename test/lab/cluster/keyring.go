package cluster

import "sync/atomic"

// KeyRing returns API keys round-robin, so that none reaches its rate limit, which stays on.
type KeyRing struct {
	Keys []string
	next atomic.Uint64
}

// Key is the next key.
func (r *KeyRing) Key() string { return r.Keys[r.next.Add(1)%uint64(len(r.Keys))] }
