package photos

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
)

// logoSide is enough for a printed label.
const logoSide = 640

// SaveLogo checks a picture by its content as Save does, and stores it as a PNG of its own: encoded
// anew, upright, with its transparency, and with no side over logoSide. It has no thumbnail.
func (s Store) SaveLogo(ctx context.Context, content []byte) (name string, err error) {
	logo, err := encodeLogo(ctx, content)
	if err != nil {
		return "", rejection(ctx, err)
	}
	name = NameOf(newBase(), PNG)
	if err := s.backend.write(ctx, name, logo); err != nil {
		return "", s.abandon(ctx, name, err)
	}
	return name, nil
}

func encodeLogo(ctx context.Context, content []byte) ([]byte, error) {
	p, err := read(content)
	if err != nil {
		return nil, err
	}
	var small *image.RGBA
	if err := p.decoded(ctx, func(pixels image.Image) error {
		small = shrink(pixels, fit(p.width, p.height, logoSide), color.Transparent)
		return nil
	}); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := png.Encode(&out, p.orientation.apply(small)); err != nil {
		return nil, fmt.Errorf("encode a logo: %w", err)
	}
	return out.Bytes(), nil
}
