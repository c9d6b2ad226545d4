// Package historycodec encrypts the payloads that Temporal stores in workflow histories.
package historycodec

import (
	"fmt"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// Metadata of an encrypted payload. The names of encoding and key id are those of Temporal's
// samples.
const (
	encryptedEncoding = "binary/encrypted"
	keyIDMetadata     = "encryption-key-id"
	ownerMetadata     = "encryption-owner"
)

// Codec encrypts payloads with AES-256-GCM. It implements converter.PayloadCodec. Payloads that are
// not encrypted are returned as they are by Decode, so that encryption can be turned on and off
// while workflows run.
//
// An encrypted payload names its owner in authenticated metadata: the id of the workflow in whose
// history it is. Whoever decodes payloads for other people decides by it what each may read.
type Codec struct {
	keys *Keys
	// plainOwner is the owner whose payloads are not encrypted.
	plainOwner string
	// owner is the owner of the payloads that Encode is given.
	owner string
	// panics makes Decode panic instead of returning an error.
	panics bool
}

var (
	_ converter.PayloadCodec                         = (*Codec)(nil)
	_ converter.PayloadCodecWithSerializationContext = (*Codec)(nil)
)

// New makes a codec. The payloads of the workflow id plainOwner are not encrypted.
func New(keys *Keys, plainOwner string) *Codec { return &Codec{keys: keys, plainOwner: plainOwner} }

// WithOwner returns the codec for payloads of the owner.
func (c *Codec) WithOwner(owner string) *Codec {
	owned := *c
	owned.owner = owner
	return &owned
}

// ForTasks returns the codec for a worker's tasks. Its Decode panics where a payload cannot be
// decrypted: the SDK then fails the workflow task, which Temporal retries, while an error would
// fail the workflow, drop a signal or refuse an update for want of a key.
func (c *Codec) ForTasks() *Codec {
	panicking := *c
	panicking.panics = true
	return &panicking
}

// WithSerializationContext implements converter.PayloadCodecWithSerializationContext: the SDK says
// which workflow the payloads belong to.
func (c *Codec) WithSerializationContext(context converter.SerializationContext) converter.PayloadCodec {
	switch context := context.(type) {
	case converter.WorkflowSerializationContext:
		return c.WithOwner(context.WorkflowID)
	case converter.ActivitySerializationContext:
		return c.WithOwner(context.WorkflowID)
	}
	return c
}

// Encode implements converter.PayloadCodec.
func (c *Codec) Encode(payloads []*common.Payload) ([]*common.Payload, error) {
	if c.keys.encryptWith == "" || (c.plainOwner != "" && c.owner == c.plainOwner) {
		return payloads, nil
	}
	encoded := make([]*common.Payload, len(payloads))
	for i, payload := range payloads {
		plain, err := proto.Marshal(payload)
		if err != nil {
			return nil, fmt.Errorf("encode a payload: %w", err)
		}
		encoded[i] = &common.Payload{Data: c.keys.seal(plain, c.owner), Metadata: map[string][]byte{
			converter.MetadataEncoding: []byte(encryptedEncoding), keyIDMetadata: []byte(c.keys.encryptWith),
			ownerMetadata: []byte(c.owner),
		}}
	}
	return encoded, nil
}

// Decode implements converter.PayloadCodec.
func (c *Codec) Decode(payloads []*common.Payload) ([]*common.Payload, error) {
	decoded := make([]*common.Payload, len(payloads))
	for i, payload := range payloads {
		var err error
		if decoded[i], err = c.decode(payload); err != nil {
			if c.panics {
				panic(err)
			}
			return nil, err
		}
	}
	return decoded, nil
}

func (c *Codec) decode(payload *common.Payload) (*common.Payload, error) {
	if !IsEncrypted(payload) {
		return payload, nil
	}
	plain, err := c.keys.open(payload.Data, string(payload.Metadata[keyIDMetadata]), Owner(payload))
	if err != nil {
		return nil, err
	}
	decoded := &common.Payload{}
	if err := proto.Unmarshal(plain, decoded); err != nil {
		return nil, fmt.Errorf("decode a payload: %w", err)
	}
	return decoded, nil
}

// IsEncrypted reports whether a codec has encrypted the payload.
func IsEncrypted(payload *common.Payload) bool {
	return string(payload.GetMetadata()[converter.MetadataEncoding]) == encryptedEncoding
}

// Owner is the owner that an encrypted payload names. Only decoding shows whether it is true.
func Owner(payload *common.Payload) string { return string(payload.GetMetadata()[ownerMetadata]) }
