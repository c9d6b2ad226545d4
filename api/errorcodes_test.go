package api_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// publishedCode is a row of the table of codes: the code and the statuses it comes with.
var publishedCode = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| [0-9]{3}(?:, [0-9]{3})* \\|")

// Every `code` that the source can answer with is in the table of the introduction, and the table
// has no other. The codes are found in the program itself, in whichever package they are; one that
// is made in a way that cannot be followed fails the test.
func TestOpenAPI_listsEveryErrorCode(t *testing.T) {
	t.Parallel()
	document, err := apptest.Document()
	require.NoError(t, err)
	var published []string
	for _, row := range publishedCode.FindAllStringSubmatch(document.Info.Description, -1) {
		require.NotContains(t, published, row[1], "twice in the table of openapi.yaml")
		published = append(published, row[1])
	}
	written := writtenCodes(t)
	for code, place := range written {
		if !slices.Contains(onPagesAlone, code) {
			require.Contains(t, published, code, "written in %s", place)
		}
	}
	for _, code := range published {
		require.Contains(t, written, code, "nothing in the source answers with it")
	}
}

// onPagesAlone are the codes of errors of the panel's forms, which are answered with pages.
var onPagesAlone = []string{
	"row_changed", "hand_in_not_found", "already_paid", "nothing_due", "nothing_to_settle", "period_closed", "amounts_changed", "cash_differs",
}

// codeArgument is the place of the code among the arguments of the functions that take one.
var codeArgument = map[string]int{"apperror.New": 1, "api.notReady": 2, "apperror.Limited": 0}

// otherCodes are fields of that name that are no error's.
var otherCodes = []string{"size.Code", "answer.Code"}

// codeReader finds the codes that a file writes.
type codeReader struct {
	files *token.FileSet
	codes map[string]string
	// function is the one that is read, with its package, and given what it gives to a variable
	// `code`.
	function string
	given    []ast.Expr
}

// writtenCodes returns the codes of the product's source, each with a place where it is written.
func writtenCodes(t *testing.T) map[string]string {
	t.Helper()
	r := &codeReader{files: token.NewFileSet(), codes: map[string]string{}}
	for _, folder := range []string{"api", "internal", "workflows", "activities", "worker", "models"} {
		require.NoError(t, filepath.WalkDir(filepath.Join("..", folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(r.files, path, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			for _, declaration := range file.Decls {
				r.function, r.given = "", nil
				if function, is := declaration.(*ast.FuncDecl); is {
					r.function = file.Name.Name + "." + function.Name.Name
					r.given = givenTo("code", function)
				}
				for node := range ast.Preorder(declaration) {
					r.read(t, file.Name.Name, node)
				}
			}
			return nil
		}))
	}
	return r.codes
}

// givenTo returns what a function gives to its variable of a name.
func givenTo(name string, function *ast.FuncDecl) (given []ast.Expr) {
	for node := range ast.Preorder(function) {
		statement, is := node.(*ast.AssignStmt)
		for i := 0; is && i < len(statement.Lhs); i++ {
			if types.ExprString(statement.Lhs[i]) == name {
				given = append(given, statement.Rhs[min(i, len(statement.Rhs)-1)])
			}
		}
	}
	return given
}

func (r *codeReader) read(t *testing.T, in string, node ast.Node) {
	switch node := node.(type) {
	case *ast.CallExpr:
		name := types.ExprString(node.Fun)
		if _, is := node.Fun.(*ast.Ident); is {
			name = in + "." + name
		}
		if at, takesCode := codeArgument[name]; takesCode {
			r.add(t, node.Args[at])
		}
	case *ast.CompositeLit:
		if name := types.ExprString(node.Type); name == "apperror.Error" || name == "envelope" || in == "apperror" && name == "Error" {
			members := map[string]ast.Expr{}
			for _, element := range node.Elts {
				member := element.(*ast.KeyValueExpr)
				members[types.ExprString(member.Key)] = member.Value
			}
			if members["Code"] != nil || name != "envelope" || members["Error"] != nil {
				r.add(t, members["Code"])
			}
		}
	case *ast.AssignStmt:
		for i, left := range node.Lhs {
			if field := types.ExprString(left); strings.HasSuffix(field, ".Code") && !slices.Contains(otherCodes, field) {
				r.add(t, node.Rhs[min(i, len(node.Rhs)-1)])
			}
		}
	}
}

// add notes the code that an expression is: written there, given to the variable before, or given
// by the callers of a function of codeArgument. That of another error was found where it is made.
func (r *codeReader) add(t *testing.T, expression ast.Expr) {
	if literal, is := expression.(*ast.BasicLit); is {
		code, err := strconv.Unquote(literal.Value)
		require.NoError(t, err)
		r.codes[code] = r.files.Position(literal.Pos()).String()
		return
	}
	require.NotNil(t, expression, "an error without a code in %s", r.function)
	_, byItsCallers := codeArgument[r.function]
	switch text := types.ExprString(expression); {
	case text == "f.Code", text == "err.Code", text == "code" && byItsCallers:
	case text == "code" && len(r.given) > 0:
		for _, given := range r.given {
			require.IsType(t, &ast.BasicLit{}, given, "in %s", r.function)
			r.add(t, given)
		}
	default:
		t.Errorf("%s: the code %s cannot be told from the source", r.files.Position(expression.Pos()), text)
	}
}
