package catalog

import (
	"slices"
	"strings"

	"despacho/internal/textnorm"
)

// Similar are the locations that somebody may have meant by a name that none has, the likeliest
// first: names with few other letters, and names with those around them written without a comma.
func (index *Index) Similar(country, typed string, limit int, types ...LocationType) []Location {
	if len(typed) > maxWritten {
		return nil
	}
	wanted := []rune(textnorm.String(typed))
	if len(wanted) < 4 {
		return nil
	}
	most := min(3, len(wanted)/4)
	type candidate struct {
		location Location
		distance int
	}
	var found []candidate
	for _, n := range index.searchable[strings.ToUpper(country)] {
		if len(types) > 0 && !slices.Contains(types, n.Type) {
			continue
		}
		name := n.paddedName[1:]
		nearest := editDistance(wanted, []rune(name), most)
		if n.parent != nil {
			nearest = min(nearest, editDistance(wanted, []rune(name+n.parent.paddedName), most))
		}
		if nearest <= most {
			found = append(found, candidate{n.Location, nearest})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.distance - b.distance })
	similar := make([]Location, min(len(found), limit))
	for i := range similar {
		similar[i] = found[i].location
	}
	return similar
}

// editDistance is how many letters must be added, left out or replaced (Levenshtein), or most + 1
// if they are more than most.
func editDistance(a, b []rune, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, letter := range a {
		diagonal := row[0]
		row[0] = i + 1
		nearest := row[0]
		for j, other := range b {
			replaced := diagonal
			if letter != other {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
			nearest = min(nearest, row[j+1])
		}
		if nearest > most {
			return most + 1 // later letters bring no text nearer
		}
	}
	return min(row[len(b)], most+1)
}
