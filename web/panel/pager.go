package panel

import "strconv"

// pager leads from one page of a list to its neighbours.
type pager struct {
	First, Last, Total int64
	Previous, Next     string
}

// pagerOf describes a page of a list; path is the address of a page by its number.
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

// pageNumber is the page that the address asks for, the first unless it says otherwise.
func pageNumber(v *Request) int {
	if number, err := strconv.Atoi(v.Query("pagina")); err == nil && number > 0 {
		return number
	}
	return 1
}
