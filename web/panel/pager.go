package panel

import "strconv"

// pager has the links to the previous and next page of a list.
type pager struct {
	First, Last, Total int64
	Previous, Next     string
}

// pagerOf makes the pager of a page; path is the URL of a page by its number.
func pagerOf(number, size int, total int64, path func(int) string) pager {
	first := int64(number-1)*int64(size) + 1
	shown := pager{First: min(first, total), Last: min(first+int64(size)-1, total), Total: total}
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
