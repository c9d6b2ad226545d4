// Package credentials generates and checks API keys, session tokens and passwords. Keys and tokens
// have enough random bits for a plain hash; passwords do not and are stored with bcrypt.
package credentials

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"math/big"
	"sync"

	"golang.org/x/crypto/bcrypt"
)

// The prefixes of API keys, so that secret scanners recognise a leaked one. What a test key creates
// is a test.
const (
	LiveKeyPrefix = "dsp_live_"
	TestKeyPrefix = "dsp_test_"
)

const (
	keyLength = 32
	base62    = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewAPIKey generates a key with a prefix. It is shown once; only its hash is stored.
func NewAPIKey(prefix string) (string, error) {
	key := make([]byte, keyLength)
	for i := range key {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(base62))))
		if err != nil {
			return "", err
		}
		key[i] = base62[n.Int64()]
	}
	return prefix + string(key), nil
}

// NewToken generates a session token.
func NewToken() (string, error) {
	var secret [32]byte
	if _, err := rand.Read(secret[:]); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(secret[:]), nil
}

// Hash is the form in which a key or a token is stored and looked up.
func Hash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// Bounds of a password. Bcrypt reads no further than 72 bytes.
const (
	minPassword = 8
	maxPassword = 72
)

// The errors of CheckPassword.
var (
	ErrPasswordTooShort = errors.New("the password must have at least 8 characters")
	ErrPasswordTooLong  = errors.New("the password must have at most 72 bytes")
	// ErrPasswordGuessable means one that IsGuessable reports.
	ErrPasswordGuessable = errors.New("the password is too easy to guess: choose another")
)

// CheckPassword checks a new password of a user with the given names.
func CheckPassword(password string, names ...string) error {
	if err := checkLength(password); err != nil {
		return err
	}
	if IsGuessable(password, names...) {
		return ErrPasswordGuessable
	}
	return nil
}

func checkLength(password string) error {
	switch {
	case len([]rune(password)) < minPassword:
		return ErrPasswordTooShort
	case len(password) > maxPassword:
		return ErrPasswordTooLong
	}
	return nil
}

// Cost is bcrypt's cost. Tests that sign in many users lower it before anything runs.
var Cost = bcrypt.DefaultCost

// HashPassword is the form in which a password is stored.
func HashPassword(password string) (string, error) {
	if err := checkLength(password); err != nil {
		return "", err
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(password), Cost)
	return string(hash), err
}

// HashPIN is the form in which a PIN is stored. Its digits are few enough to be tried one by one
// against the hash: what protects it is how few may be entered.
func HashPIN(pin string) (string, error) {
	hash, err := bcrypt.GenerateFromPassword([]byte(pin), Cost)
	return string(hash), err
}

// dummyHash is the hash of a password that no account has: it is compared when the account does not
// exist.
var dummyHash = sync.OnceValue(func() []byte {
	hash, err := bcrypt.GenerateFromPassword([]byte("no account has this password"), Cost)
	if err != nil {
		panic(err)
	}
	return hash
})

// compare is replaced by tests to see what is compared.
var compare = bcrypt.CompareHashAndPassword

// PasswordMatches checks a password. An empty hash, for an account that does not exist, takes as
// long as a wrong password.
func PasswordMatches(hash, password string) bool {
	if hash == "" {
		_ = compare(dummyHash(), []byte(password))
		return false
	}
	return compare([]byte(hash), []byte(password)) == nil
}
