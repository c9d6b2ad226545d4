package photos

import "encoding/binary"

// jpegFrame is the frame header of a JPEG.
type jpegFrame struct {
	width, height int
	progressive   bool
	components    []jpegComponent
}

type jpegComponent struct {
	id            byte
	across, below int // sampling factors
}

func (w *jpegReader) readFrame(marker byte, payload []byte) error {
	if w.frame.width != 0 {
		return invalidPhoto("JPEG with several frames")
	}
	if len(payload) < 6 || len(payload) != 6+3*int(payload[5]) || payload[0] != 8 {
		return invalidPhoto("JPEG of an unusual kind")
	}
	frame := jpegFrame{
		height:      int(binary.BigEndian.Uint16(payload[1:])),
		width:       int(binary.BigEndian.Uint16(payload[3:])),
		progressive: marker == markerSOF2,
	}
	if err := checkSides(frame.width, frame.height); err != nil {
		return err
	}
	for rest := payload[6:]; len(rest) > 0; rest = rest[3:] {
		component := jpegComponent{id: rest[0], across: int(rest[1] >> 4), below: int(rest[1] & 0x0f)}
		if component.across < 1 || component.across > 4 || component.below < 1 || component.below > 4 {
			return invalidPhoto("JPEG with bad sampling factors")
		}
		frame.components = append(frame.components, component)
	}
	switch len(frame.components) {
	case 1: // a grey picture has one component: its sampling factors have no meaning
		frame.components[0].across, frame.components[0].below = 1, 1
	case 3, 4:
	default:
		return invalidPhoto("JPEG of an unusual kind")
	}
	w.frame = frame
	return nil
}

// decodedBytes is what the decoder allocates: one byte per sample, four more for the coefficients
// of a progressive JPEG, and an interleaved copy where the colours are not YCbCr.
func (f jpegFrame) decodedBytes(adobe bool) int64 {
	first := f.components[0]
	blocksAcross := divideUp(f.width, 8*first.across)
	blocksBelow := divideUp(f.height, 8*first.below)
	samples := int64(0)
	for _, component := range f.components {
		samples += int64(blocksAcross*blocksBelow) * 64 * int64(component.across*component.below)
	}
	total := samples
	if f.progressive {
		total += 4 * samples
	}
	if adobe || f.namedRGB() || len(f.components) == 4 {
		total += 4 * int64(f.width*f.height)
	}
	return total
}

func (f jpegFrame) namedRGB() bool {
	return len(f.components) == 3 &&
		f.components[0].id == 'R' && f.components[1].id == 'G' && f.components[2].id == 'B'
}

func divideUp(a, b int) int { return (a + b - 1) / b }
