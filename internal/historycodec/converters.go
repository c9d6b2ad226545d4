package historycodec

import (
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
)

// Apply makes a client encode with the codec everything that it sends to Temporal, besides search
// attributes and headers.
func (c *Codec) Apply(options *client.Options) {
	data := converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), c)
	options.DataConverter = data
	options.FailureConverter = newFailureConverter(data, c.keys.encryptWith != "")
}

// failureConverter converts errors like the SDK's default, whose payloads name no owner because it
// takes no serialization context.
type failureConverter struct {
	*temporal.DefaultFailureConverter
	data converter.DataConverter
	// encodes means that messages and stack traces are encoded, too.
	encodes bool
}

var _ converter.FailureConverterWithSerializationContext = (*failureConverter)(nil)

func newFailureConverter(data converter.DataConverter, encodes bool) *failureConverter {
	return &failureConverter{
		DefaultFailureConverter: temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{
			DataConverter: data, EncodeCommonAttributes: encodes,
		}),
		data: data, encodes: encodes,
	}
}

// WithSerializationContext implements converter.FailureConverterWithSerializationContext.
func (f *failureConverter) WithSerializationContext(context converter.SerializationContext) converter.FailureConverter {
	return newFailureConverter(converter.WithDataConverterSerializationContext(f.data, context), f.encodes)
}
