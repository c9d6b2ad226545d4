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
	shown := pager{First: first, Last: min(first+int64(size)-1, total), Total: total}
	if number > 1 {
		shown.Previous = path(number - 1)
	}
	if shown.Last < total {
		shown.Next = path(number + 1)
	}
	return shown
}

// pageNumber is the page number in the URL, 1 by default. One that overflows becomes the largest
// int32: it is after the last page anyway, and its rows can still be counted.
func pageNumber(v *Request) int {
	number, _ := strconv.ParseInt(v.Query("pagina"), 10, 32)
	return max(int(number), 1)
}

// readPage reads the page of a list that number says, and how long the list is. In place of a page
// after the last one it reads the last one, and changes number: the list has become shorter, or
// somebody typed the address.
func readPage[T any](number *int, size int, read func() (page T, total int64, err error)) (T, int64, error) {
	for {
		page, total, err := read()
		last := lastPage(size, total)
		if err != nil || *number <= last {
			return page, total, err
		}
		*number = last
	}
}

// lastPage is the number of the last page of a list; an empty list has one page.
func lastPage(size int, total int64) int {
	return max(int((total+int64(size)-1)/int64(size)), 1)
}
