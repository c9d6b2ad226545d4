package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var backticked = regexp.MustCompile("`([^`]+)`")

// Every table row that ends in a file names declarations of that file in the cell before.
func TestTables_nameDeclarationsOfTheirFiles(t *testing.T) {
	t.Parallel()
	for document, least := range map[string]int{"glossary.md": 30, "architecture.md": 40} {
		content, err := os.ReadFile(document)
		require.NoError(t, err)
		checked := 0
		for line := range strings.Lines(string(content)) {
			cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
			if len(cells) < 2 {
				continue
			}
			file := backticked.FindStringSubmatch(cells[len(cells)-1])
			if file == nil || !strings.HasSuffix(file[1], ".go") {
				continue
			}
			declared := declarations(t, filepath.Join("..", file[1]))
			names := backticked.FindAllStringSubmatch(cells[len(cells)-2], -1)
			require.NotEmpty(t, names, "%s: %s", document, line)
			for _, name := range names {
				require.Contains(t, declared, name[1], "%s: %s declares no %s", document, file[1], name[1])
				checked++
			}
		}
		require.GreaterOrEqual(t, checked, least, document)
	}
}

var goFile = regexp.MustCompile("`([\\w./-]+\\.go)`(?: \\((`[^)]*`)\\))?")

// Whoever reads of a file finds it, also after it was renamed, and in it what is named in
// parentheses behind it.
func TestDocuments_nameFilesThatExist(t *testing.T) {
	t.Parallel()
	documents, err := filepath.Glob("*.md")
	require.NoError(t, err)
	checked := 0
	for _, document := range append(documents, "../README.md", "../CONTRIBUTING.md", "../SECURITY.md") {
		content, err := os.ReadFile(document)
		require.NoError(t, err)
		for _, name := range goFile.FindAllStringSubmatch(string(content), -1) {
			checked++
			if _, err := os.Stat(filepath.Join("..", name[1])); err != nil {
				t.Errorf("%s: %v", document, err)
				continue
			}
			for _, declared := range backticked.FindAllStringSubmatch(name[2], -1) {
				require.Contains(t, declarations(t, filepath.Join("..", name[1])), declared[1], "%s: %s", document, name[1])
			}
		}
	}
	require.Greater(t, checked, 100)
}

// declarations are the package-level names of a file, methods and fields as Type.Name.
func declarations(t *testing.T, path string) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	declared := map[string]bool{}
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			declared[receiver(d)+d.Name.Name] = true
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					declared[s.Name.Name] = true
					addFields(declared, s)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						declared[name.Name] = true
					}
				}
			}
		}
	}
	return declared
}

func addFields(declared map[string]bool, spec *ast.TypeSpec) {
	structure, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, field := range structure.Fields.List {
		for _, name := range field.Names {
			declared[spec.Name.Name+"."+name.Name] = true
		}
	}
}

// receiver is the type of a method with a dot, empty for a function.
func receiver(function *ast.FuncDecl) string {
	if function.Recv == nil {
		return ""
	}
	kind := function.Recv.List[0].Type
	if pointer, ok := kind.(*ast.StarExpr); ok {
		kind = pointer.X
	}
	if generic, ok := kind.(*ast.IndexExpr); ok {
		kind = generic.X
	}
	if name, ok := kind.(*ast.Ident); ok {
		return name.Name + "."
	}
	return ""
}
