package panel

import "html/template"

// icons are the drawings of the panel: the paths of strokes in a square of 24.
var icons = map[string]string{
	"today":       "M12 4v2M12 18v2M4 12h2M18 12h2M6.3 6.3l1.4 1.4M16.3 16.3l1.4 1.4M6.3 17.7l1.4-1.4M16.3 7.7l1.4-1.4M12 8.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7",
	"orders":      "M4 6h16M4 12h16M4 18h10",
	"reception":   "M4 9l8-5 8 5v10H4zM12 9v7M9 13l3 3 3-3",
	"assign":      "M5 17.5a2.5 2.5 0 1 0 5 0 2.5 2.5 0 1 0-5 0M15 17.5a2.5 2.5 0 1 0 5 0 2.5 2.5 0 1 0-5 0M10 17.5h5l-2-8h-3M13 9.5h4l1.5 5.6",
	"upload":      "M12 16V5M8 9l4-4 4 4M5 19h14",
	"summary":     "M5 19V11M12 19V5M19 19v-6",
	"cash":        "M4 7h16v10H4zM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5M7 12h.01M17 12h.01",
	"settlements": "M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6M9 12h6",
	"settings":    "M4 7h9M17 7h3M4 17h3M11 17h9M15 4.5v5M9 14.5v5",
	"new":         "M12 5v14M5 12h14",
	"menu":        "M4 7h16M4 12h16M4 17h16",
	"unfold":      "M9 6l6 6-6 6",
	"more":        "M6 12h.01M12 12h.01M18 12h.01",
	"search":      "M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12M15.5 15.5L20 20",
	"phone":       "M6 4h3l2 5-2.5 1.5a11 11 0 0 0 5 5L15 13l5 2v3a2 2 0 0 1-2 2A14 14 0 0 1 4 6a2 2 0 0 1 2-2",
	"message":     "M4 20l1.4-4A8 8 0 1 1 8.6 19z",
	"copy":        "M9 9h10v10H9zM6 15H5V5h10v1",
	"map":         "M12 21s-6-5.6-6-11a6 6 0 0 1 12 0c0 5.4-6 11-6 11M12 8a2 2 0 1 0 0 4 2 2 0 0 0 0-4",
	"no-point":    "M12 21s-6-5.6-6-11c0-1.2.3-2.2.9-3.1M9.2 4.7A6 6 0 0 1 18 10c0 2-.8 4-1.9 5.9M4 4l16 16",
	"note":        "M5 4h14v11l-5 5H5zM14 20v-5h5M8 9h8M8 13h4",
	"risk":        "M12 4l9 16H3zM12 10v4M12 17h.01",
	"failed":      "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16M9 9l6 6M15 9l-6 6",
	"retry":       "M5 12a7 7 0 1 1 2 5M5 18v-4h4",
	"return":      "M9 7l-4 4 4 4M5 11h9a5 5 0 0 1 0 10h-3",
	"close":       "M6 6l12 12M18 6L6 18",
}

// icon is a drawing beside a word; screen readers pass over it.
func icon(name string) template.HTML {
	return template.HTML(`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d="` + icons[name] + `"/></svg>`)
}
