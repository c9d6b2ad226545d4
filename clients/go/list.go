package despacho

import (
	"net/url"
	"strconv"
)

// page is a part of a list, which is sorted from the newest to the oldest.
type page[T any] struct {
	elements []T
	total    int64
	limit    int32
}

// place is where an element is in a list: the second of its time, or its number, which others may
// have too.
type place struct {
	id   string
	rank int64
}

// each yields the elements of a list page after page, each at most once.
//
// What enters the list pushes known elements onto the next page: only what follows the last element
// that was yielded is yielded. What leaves the list, as by what is done with an element, pulls
// unknown ones onto pages that were read already: if the list became shorter, the way goes back to
// a page with a known element.
func each[T any](yield func(T, error) bool, placeOf func(T) place, read func(number int) (page[T], error)) {
	var reached position
	var total int64
	for number, back := 1, false; ; {
		now, err := read(number)
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		var following []T
		for _, element := range now.elements {
			if reached.precedes(placeOf(element)) {
				following = append(following, element)
			}
		}
		back = number > 1 && len(following) == len(now.elements) && (back || now.total < total)
		total = now.total
		if back {
			pages := (total + int64(now.limit) - 1) / int64(now.limit)
			number = max(1, int(min(int64(number-1), pages)))
			continue
		}
		for _, element := range following {
			reached.pass(placeOf(element))
			if !yield(element, nil) {
				return
			}
		}
		if len(now.elements) == 0 || int64(number)*int64(now.limit) >= total {
			return
		}
		number++
	}
}

// position is the rank of the last element that was yielded, and which ones of that rank were.
type position struct {
	rank  int64
	known map[string]bool
}

func (p *position) precedes(element place) bool {
	return p.known == nil || element.rank < p.rank || element.rank == p.rank && !p.known[element.id]
}

func (p *position) pass(element place) {
	if p.known == nil || element.rank != p.rank {
		p.rank, p.known = element.rank, map[string]bool{}
	}
	p.known[element.id] = true
}

// pageQuery adds a page to a query. A page is as long as the service allows unless limit is set.
func pageQuery(query url.Values, number, limit int) url.Values {
	query.Set("page", strconv.Itoa(number))
	query.Set("limit", strconv.Itoa(orDefault(limit, 200)))
	return query
}
