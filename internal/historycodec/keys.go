package historycodec

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"despacho/internal/encryption"
)

// keyPurpose separates these keys from others derived from the same text.
const keyPurpose = "despacho temporal payloads v1"

var validKeyID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// Keys are the keys that payloads are encrypted with. All of them decrypt.
type Keys struct {
	ciphers map[string]*encryption.Cipher
	// encryptWith is the id of the key that encrypts; empty if payloads are not encrypted.
	encryptWith string
}

// ParseKeys reads entries of the form id:secret. encryptWith is the id of the key that encrypts, or
// empty. Errors do not repeat a secret.
func ParseKeys(entries []string, encryptWith string) (*Keys, error) {
	keys := &Keys{ciphers: map[string]*encryption.Cipher{}, encryptWith: encryptWith}
	for i, entry := range entries {
		id, secret, separated := strings.Cut(entry, ":")
		switch {
		case !separated || !validKeyID.MatchString(id):
			return nil, fmt.Errorf("entry %d must be id:secret, with an id of at most 64 letters, digits, '.', '_' and '-'", i+1)
		case keys.ciphers[id] != nil:
			return nil, fmt.Errorf("the id %q is there twice", id)
		}
		cipher, err := encryption.NewFor(keyPurpose, secret)
		if errors.Is(err, encryption.ErrShortKey) {
			return nil, fmt.Errorf("the secret of %q must have at least %d characters", id, encryption.MinKeyLength)
		}
		if err != nil {
			return nil, err
		}
		keys.ciphers[id] = cipher
	}
	if encryptWith != "" && keys.ciphers[encryptWith] == nil {
		return nil, fmt.Errorf("no entry has the id %q", encryptWith)
	}
	return keys, nil
}

// EncryptWith is the id of the key that encrypts; empty if payloads are not encrypted.
func (k *Keys) EncryptWith() string { return k.encryptWith }

func (k *Keys) seal(plain []byte, owner string) []byte {
	return k.ciphers[k.encryptWith].Seal(plain, associatedData(k.encryptWith, owner))
}

// open decrypts what was sealed with the key for the owner.
func (k *Keys) open(sealed []byte, keyID, owner string) ([]byte, error) {
	cipher := k.ciphers[keyID]
	if cipher == nil {
		return nil, &UnreadableError{KeyID: keyID, unknown: true}
	}
	plain, err := cipher.Open(sealed, associatedData(keyID, owner))
	if err != nil {
		return nil, &UnreadableError{KeyID: keyID}
	}
	return plain, nil
}

// associatedData authenticates a payload's key id and owner, so that neither can be replaced. A key
// id has no line break.
func associatedData(keyID, owner string) []byte { return []byte(keyID + "\n" + owner) }

// UnreadableError means that an encrypted payload cannot be decrypted here.
type UnreadableError struct {
	KeyID   string
	unknown bool
}

func (e *UnreadableError) Error() string {
	if e.unknown {
		return fmt.Sprintf("a payload in Temporal is encrypted with the key %q, which is not in HISTORY_KEYS of this process",
			e.KeyID)
	}
	return fmt.Sprintf("a payload in Temporal cannot be decrypted with the key %q: "+
		"HISTORY_KEYS has another secret under this id, or the payload was changed", e.KeyID)
}
