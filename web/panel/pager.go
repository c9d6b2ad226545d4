package panel

import "strconv"

// pager has the links to the previous and next page of a list.
type pager struct {
	First, Last, Total int64
	Previous, Next     string
	// Past means that the page is after the last one, which Previous leads to.
	Past bool
}

// pagerOf makes the pager of a page; path is the URL of a page by its number.
func pagerOf(number, size int, total int64, path func(int) string) pager {
	first := int64(number-1)*int64(size) + 1
	shown := pager{First: first, Last: min(first+int64(size)-1, total), Total: total}
	if first > total && total > 0 {
		// There are fewer pages than there were, or the address was typed.
		return pager{Total: total, Past: true, Previous: path(int((total + int64(size) - 1) / int64(size)))}
	}
	if number > 1 {
		shown.Previous = path(number - 1)
	}
	if shown.Last < total {
		shown.Next = path(number + 1)
	}
	return shown
}

// pageNumber is the page number in the URL, 1 by default.
func pageNumber(v *Request) int {
	if number, err := strconv.Atoi(v.Query("pagina")); err == nil && number > 0 {
		return number
	}
	return 1
}
