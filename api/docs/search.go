package docs

import (
	"encoding/json"
	"strings"
)

// searchPath is the index that the pages' script searches.
const searchPath = Root + "/search.json"

// searchIndex lists the pages and what is on them: title, URL, and other words to be found by.
func (r *reference) searchIndex() ([]byte, error) {
	var entries [][3]string
	for _, p := range r.Pages {
		entries = append(entries, [3]string{p.Title, r.targets[p.ID], ""})
		words := map[string]string{}
		for _, o := range p.Operations {
			list := []string{o.Method, o.Path, o.Scope}
			for _, f := range o.Parameters {
				list = append(list, f.Name)
			}
			for _, b := range o.Bodies {
				for _, f := range b.Fields {
					list = append(list, f.Name)
				}
			}
			words["op-"+o.ID] = strings.Join(append(list, o.Description), " ")
		}
		for _, o := range p.Objects {
			list := append([]string{o.Description}, o.Values...)
			for _, f := range o.Fields {
				list = append(list, f.Name)
			}
			words["obj-"+o.Name] = strings.Join(list, " ")
		}
		for _, e := range p.Codes {
			words["e-"+e.Code] = e.words()
		}
		for _, entry := range p.Entries {
			entries = append(entries, [3]string{entry.Title, r.targets[entry.ID], words[entry.ID]})
		}
	}
	return json.Marshal(map[string]any{"data": entries})
}
