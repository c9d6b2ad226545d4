package maplink

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWebLink(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		"https://maps.app.goo.gl/AbC":                                "https://maps.app.goo.gl/AbC",
		"HTTPS://maps.app.goo.gl/AbC":                                "https://maps.app.goo.gl/AbC",
		"http://goo.gl/maps/AbC":                                     "http://goo.gl/maps/AbC",
		"maps.app.goo.gl/AbC":                                        "https://maps.app.goo.gl/AbC",
		"Mi ubicación: https://maps.app.goo.gl/AbC":                  "https://maps.app.goo.gl/AbC",
		"Estoy aquí (https://maps.app.goo.gl/AbC), casa azul":        "https://maps.app.goo.gl/AbC",
		"https://maps.app.goo.gl/AbC tercer piso":                    "https://maps.app.goo.gl/AbC",
		"maps.app.goo.gl/AbC tercer piso":                            "https://maps.app.goo.gl/AbC",
		"https://www.google.com/maps?q=-12.04, -77.04":               "https://www.google.com/maps?q=-12.04, -77.04",
		"https://www.google.com/maps?q=Larcomar":                     "https://www.google.com/maps?q=Larcomar",
		"https://www.google.com/maps/@-12.1,-77.03,15z puerta verde": "https://www.google.com/maps/@-12.1,-77.03,15z",
		"https://mapas.example/punto/1":                              "https://mapas.example/punto/1",
		"mapas.example/punto/1":                                      "",
		"javascript:alert(1)":                                        "",
		"javascript://maps.app.goo.gl/%0Aalert(1)":                   "",
		"data:text/html,https://maps.app.goo.gl/AbC":                 "",
		"ftp://maps.app.goo.gl/AbC":                                  "",
		"geo:-12.1,-77.03":                                           "",
		"-12.1, -77.03":                                              "",
		"a la vuelta de mi casa":                                     "",
		"https://":                                                   "",
		"":                                                           "",
	} {
		require.Equal(t, want, WebLink(sent), sent)
	}
}
