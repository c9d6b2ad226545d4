package identity

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConfigs(t *testing.T) {
	t.Parallel()
	configs, err := Configs([]string{"decolecta", "Migo"}, nil, nil)
	require.NoError(t, err)
	require.Equal(t, []Config{{Provider: "decolecta"}, {Provider: "migo"}}, configs)

	configs, err = Configs([]string{"decolecta", "migo"}, []string{"", "http://127.0.0.1:9"}, []string{"a", "b"})
	require.NoError(t, err)
	require.Equal(t, []Config{{Provider: "decolecta", Token: "a"}, {Provider: "migo", URL: "http://127.0.0.1:9", Token: "b"}}, configs)

	configs, err = Configs(nil, nil, nil)
	require.NoError(t, err)
	require.Empty(t, configs)
}

func TestConfigs_listsOfOtherLengthsNameTheVariable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		providers, urls, tokens []string
		want                    []string
	}{
		"too few addresses":       {[]string{"decolecta", "migo"}, []string{"http://a"}, nil, []string{"DNI_URL"}},
		"too many addresses":      {[]string{"decolecta"}, []string{"http://a", "http://b"}, []string{"t"}, []string{"DNI_URL"}},
		"too few tokens":          {[]string{"decolecta", "migo"}, nil, []string{"t"}, []string{"DNI_TOKEN"}},
		"both":                    {[]string{"decolecta", "migo"}, []string{"http://a"}, []string{"t"}, []string{"DNI_URL", "DNI_TOKEN"}},
		"a token without whom":    {nil, nil, []string{"t"}, []string{"DNI_TOKEN"}},
		"an address without whom": {nil, []string{"http://a"}, nil, []string{"DNI_URL"}},
	} {
		_, err := Configs(c.providers, c.urls, c.tokens)
		for _, variable := range c.want {
			require.ErrorContains(t, err, variable, name)
		}
	}
}

func TestNew_anErrorNamesTheVariable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		configs []Config
		want    string
	}{
		"no provider":                 {nil, "DNI_PROVIDER"},
		"an unknown provider":         {[]Config{{Provider: "reniec"}}, `DNI_PROVIDER has "reniec", which is none of apiperu, apisnet, decolecta, dev, jsonpe, migo`},
		"an unnamed provider":         {[]Config{{Provider: "decolecta"}, {}}, "DNI_PROVIDER"},
		"dev without an address":      {[]Config{{Provider: DevProvider}}, "DNI_URL"},
		"an address without scheme":   {[]Config{{Provider: "migo", URL: "api.migo.pe/api"}}, "DNI_URL"},
		"an address without host":     {[]Config{{Provider: "migo", URL: "https:///api"}}, "DNI_URL"},
		"an address that is no HTTP":  {[]Config{{Provider: "migo", URL: "ftp://api.migo.pe"}}, "DNI_URL"},
		"an address that is no URL":   {[]Config{{Provider: "migo", URL: "https://[::1"}}, "DNI_URL"},
		"the second of two addresses": {[]Config{{Provider: "decolecta", Token: someToken}, {Provider: "migo", URL: "x", Token: someToken}}, "migo"},
		"no token":                    {[]Config{{Provider: "migo"}}, "DNI_TOKEN must have a token for migo"},
		"no second token":             {[]Config{{Provider: "migo", Token: someToken}, {Provider: "decolecta"}}, "DNI_TOKEN must have a token for decolecta"},
	} {
		_, err := New(c.configs, Options{})
		require.ErrorContains(t, err, c.want, name)
	}
	_, err := New([]Config{{Provider: "migo", URL: "ftp://user:password@host", Token: someToken}}, Options{})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "password")
	require.NotContains(t, err.Error(), someToken)
}

// An address of one's own, such as a gateway's, may need no token, and the development provider
// needs none.
func TestNew_anAddressOfOnesOwnMayNeedNoToken(t *testing.T) {
	t.Parallel()
	for _, config := range []Config{{Provider: "apisnet", URL: "https://gateway.example/dni?key=1"}, {Provider: DevProvider, URL: "http://127.0.0.1:9000"}} {
		_, err := New([]Config{config}, Options{})
		require.NoError(t, err)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for config, want := range map[Config]string{
		{Provider: "decolecta", Token: someToken}:                       "https://api.decolecta.com/v1/reniec/dni",
		{Provider: "apisnet", Token: someToken}:                         "https://api.apis.net.pe/v2/reniec/dni",
		{Provider: "apiperu", Token: someToken}:                         "https://apiperu.dev/api/dni",
		{Provider: "jsonpe", Token: someToken}:                          "https://api.json.pe/api/dni",
		{Provider: "migo", Token: someToken}:                            "https://api.migo.pe/api/v1/dni",
		{Provider: "migo", URL: "http://127.0.0.1:9000"}:                "http://127.0.0.1:9000/api/v1/dni",
		{Provider: "dev", URL: "http://127.0.0.1:9000/"}:                "http://127.0.0.1:9000/v1/reniec/dni",
		{Provider: "apisnet", URL: "https://gateway.example/dni?key=1"}: "https://gateway.example/dni?key=1",
	} {
		_, endpoint, err := config.resolve()
		require.NoError(t, err)
		require.Equal(t, want, endpoint.String())
	}
}
