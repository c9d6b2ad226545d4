package docs

import (
	"errors"
	"iter"
	"strings"

	"go.yaml.in/yaml/v3"
)

// node is a node of the OpenAPI file. Unlike a decoded map it keeps the file's order, which is the
// order of the page.
type node struct {
	root, yaml *yaml.Node
	// ref is the name of the component that a $ref led to; empty for an inline node.
	ref string
}

func parse(document []byte) (node, error) {
	var tree yaml.Node
	if err := yaml.Unmarshal(document, &tree); err != nil {
		return node{}, err
	}
	if len(tree.Content) != 1 || tree.Content[0].Kind != yaml.MappingNode {
		return node{}, errors.New("not a YAML mapping")
	}
	return node{root: tree.Content[0], yaml: tree.Content[0]}, nil
}

// get follows keys and $refs. A missing key gives an empty node.
func (n node) get(keys ...string) node {
	for _, key := range keys {
		n = n.member(key).resolve()
	}
	return n
}

func (n node) member(key string) node {
	if n.yaml != nil && n.yaml.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.yaml.Content); i += 2 {
			if n.yaml.Content[i].Value == key {
				return node{root: n.root, yaml: n.yaml.Content[i+1]}
			}
		}
	}
	return node{root: n.root}
}

func (n node) resolve() node {
	pointer := n.member("$ref").text()
	if pointer == "" {
		return n
	}
	target := node{root: n.root, yaml: n.root}
	keys := strings.Split(strings.TrimPrefix(pointer, "#/"), "/")
	for _, key := range keys {
		target = target.member(key)
	}
	target = target.resolve()
	target.ref = keys[len(keys)-1]
	return target
}

func (n node) exists() bool { return n.yaml != nil }

func (n node) text() string {
	if n.yaml == nil || n.yaml.Kind != yaml.ScalarNode {
		return ""
	}
	return n.yaml.Value
}

func (n node) isTrue() bool { return n.text() == "true" }

// pairs lists the members of a mapping in the file's order.
func (n node) pairs() iter.Seq2[string, node] {
	return func(yield func(string, node) bool) {
		if n.yaml == nil || n.yaml.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.yaml.Content); i += 2 {
			value := node{root: n.root, yaml: n.yaml.Content[i+1]}.resolve()
			if !yield(n.yaml.Content[i].Value, value) {
				return
			}
		}
	}
}

// items lists the elements of a sequence.
func (n node) items() iter.Seq[node] {
	return func(yield func(node) bool) {
		if n.yaml == nil || n.yaml.Kind != yaml.SequenceNode {
			return
		}
		for _, item := range n.yaml.Content {
			if !yield(node{root: n.root, yaml: item}.resolve()) {
				return
			}
		}
	}
}

// words returns the elements of a sequence of scalars.
func (n node) words() []string {
	var list []string
	for item := range n.items() {
		list = append(list, item.text())
	}
	return list
}
