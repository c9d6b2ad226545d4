package csvfile

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"strings"
)

// The library takes memory for what a workbook says it has. These bound it, whatever the file says.
const (
	// maxUnzipped is the size of all parts of a workbook together.
	maxUnzipped = 8 << 20
	// maxWorkbookParts and maxDepth are more than any program writes.
	maxWorkbookParts = 1000
	maxDepth         = 100
	// maxRowCells is how many cells a row has, empty ones included.
	maxRowCells = 1100
	// maxCellText is longer than a spreadsheet program lets the text of a cell be.
	maxCellText = 1 << 16
	// maxElements is how many elements the parts have together which the library keeps in memory.
	maxElements = 200_000
)

// checkWorkbook refuses a workbook that would take much more memory than it is long.
func checkWorkbook(content []byte) error {
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil || len(archive.File) > maxWorkbookParts {
		return errors.Join(ErrWorkbook, err)
	}
	left := int64(maxUnzipped)
	elements := 0
	for _, part := range archive.File {
		if left -= int64(min(part.UncompressedSize64, maxUnzipped+1)); left < 0 {
			return ErrTooLarge
		}
		opened, err := part.Open()
		if err != nil {
			return errors.Join(ErrWorkbook, err)
		}
		// A part may be longer than it says.
		limited := io.LimitReader(opened, int64(part.UncompressedSize64)+1)
		switch strings.ToLower(path.Ext(part.Name)) {
		case ".xml", ".rels":
			err = checkPart(limited, &elements)
		default:
			_, err = io.Copy(io.Discard, limited)
		}
		opened.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// checkPart reads a part of a workbook without keeping any of it.
func checkPart(part io.Reader, elements *int) error {
	decoder := xml.NewDecoder(part)
	decoder.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, ErrWorkbook }
	depth, cells, text := 0, 0, 0
	inRow, inText := false, false
	for {
		token, err := decoder.RawToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return errors.Join(ErrWorkbook, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			depth++
			name := token.Name.Local
			switch {
			case name == "row":
				inRow, cells = true, 0
			case name == "c" && inRow:
				cells++
			}
			if name == "c" || name == "si" {
				inText, text = true, 0
			}
			if !inRow {
				*elements++
			}
		case xml.EndElement:
			depth--
			inRow = inRow && token.Name.Local != "row"
			inText = inText && token.Name.Local != "c" && token.Name.Local != "si"
		case xml.CharData:
			if inText {
				text += len(token)
			}
		}
		if depth > maxDepth || cells > maxRowCells || text > maxCellText || *elements > maxElements {
			return ErrTooLarge
		}
	}
}
