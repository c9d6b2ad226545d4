package api_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
	"despacho/test/testenv"
)

// publishedCode is a row of the table of codes: the code and the statuses it comes with.
var publishedCode = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| [0-9]{3}(?:, [0-9]{3})* \\|")

// Every `code` that the source can answer with is in the table of the introduction, and the table
// has no other. The codes are found in the program itself, in whichever package they are; one that
// is made in a way that cannot be followed fails the test.
func TestOpenAPI_listsEveryErrorCode(t *testing.T) {
	t.Parallel()
	testenv.SkipIfShort(t)
	document, err := apptest.Document()
	require.NoError(t, err)
	var published []string
	for _, row := range publishedCode.FindAllStringSubmatch(document.Info.Description, -1) {
		published = append(published, row[1])
	}
	found := findErrorCodes(t, loadModule(t))
	for _, problem := range found.problems {
		t.Error(problem)
	}
	for code, places := range found.codes {
		if !slices.Contains(published, code) {
			t.Errorf("%q of %s is not in the table of openapi.yaml", code, strings.Join(places, ", "))
		}
	}
	for i, code := range published {
		if found.codes[code] == nil {
			t.Errorf("%q is in the table of openapi.yaml, but nothing in the source answers with it", code)
		}
		if slices.Contains(published[:i], code) {
			t.Errorf("%q is in the table of openapi.yaml twice", code)
		}
	}
}

// module is the source of every package of this module, without its tests, and what the type
// checker knows of it.
type module struct {
	root     string
	fileSet  *token.FileSet
	files    []*ast.File
	packages map[string]*types.Package
	info     *types.Info
}

// loadModule reads and checks all packages of the module. The packages they need from elsewhere
// come compiled, as `go list` has them.
func loadModule(t *testing.T) *module {
	t.Helper()
	m := &module{fileSet: token.NewFileSet(), packages: map[string]*types.Package{}, info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}}
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-export", "-json=ImportPath,Dir,GoFiles,Export,Module", "despacho/...")
	output, err := list.StdoutPipe()
	require.NoError(t, err)
	var complaints strings.Builder
	list.Stderr = &complaints
	require.NoError(t, list.Start())
	compiled := map[string]string{}
	elsewhere := importer.ForCompiler(m.fileSet, "gc", func(path string) (io.ReadCloser, error) { return os.Open(compiled[path]) })
	config := types.Config{Importer: importerFunc(func(path string) (*types.Package, error) {
		if checked := m.packages[path]; checked != nil {
			return checked, nil
		}
		return elsewhere.Import(path)
	})}
	for decoder := json.NewDecoder(output); ; { // a package comes after those that it needs
		var listed struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
			Module                  *struct {
				Main bool
				Dir  string
			}
		}
		if err := decoder.Decode(&listed); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
		if listed.Module == nil || !listed.Module.Main {
			compiled[listed.ImportPath] = listed.Export
			continue
		}
		m.root = listed.Module.Dir
		var files []*ast.File
		for _, name := range listed.GoFiles {
			file, err := parser.ParseFile(m.fileSet, filepath.Join(listed.Dir, name), nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			files = append(files, file)
		}
		m.packages[listed.ImportPath], err = config.Check(listed.ImportPath, m.fileSet, files, m.info)
		require.NoError(t, err)
		m.files = append(m.files, files...)
	}
	require.NoError(t, list.Wait(), complaints.String())
	require.Contains(t, m.packages, "despacho/internal/apperror")
	return m
}

type importerFunc func(path string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }

// errorCodes follows every value that becomes the code of an answer back to the constants it can
// be.
type errorCodes struct {
	*module
	// codes says where each code is written, problems what could not be followed.
	codes    map[string][]string
	problems []string

	// fields hold a code: that of apperror.Error, and those of response structs.
	fields map[*types.Var]bool
	// given is what is written to a variable; nil is something that cannot be followed.
	given      map[types.Object][]ast.Expr
	parameters map[types.Object]parameter
	calls      map[types.Object][]*ast.CallExpr
	// called are the names in front of an argument list; a function whose name stands elsewhere can
	// be called from anywhere.
	called   map[*ast.Ident]bool
	asValue  map[types.Object]bool
	followed map[types.Object]bool
}

type parameter struct {
	function *types.Func
	at       int
}

func findErrorCodes(t *testing.T, m *module) *errorCodes {
	t.Helper()
	c := &errorCodes{
		module: m, codes: map[string][]string{}, fields: map[*types.Var]bool{}, given: map[types.Object][]ast.Expr{},
		parameters: map[types.Object]parameter{}, calls: map[types.Object][]*ast.CallExpr{},
		called: map[*ast.Ident]bool{}, asValue: map[types.Object]bool{}, followed: map[types.Object]bool{},
	}
	faultError := m.packages["despacho/internal/apperror"].Scope().Lookup("Error").Type().Underlying().(*types.Struct)
	for field := range faultError.Fields() {
		c.fields[field] = field.Name() == "Code"
	}
	c.eachNode(c.learn)
	for name, object := range m.info.Uses {
		if function, is := object.(*types.Func); is && !c.called[name] {
			c.asValue[function.Origin()] = true
		}
	}
	c.eachNode(c.find)
	return c
}

func (c *errorCodes) eachNode(visit func(ast.Node)) {
	for _, file := range c.files {
		for node := range ast.Preorder(file) {
			visit(node)
		}
	}
}

// learn notes where values come from.
func (c *errorCodes) learn(node ast.Node) {
	switch node := node.(type) {
	case *ast.StructType:
		if field := codeOfAnswer(c.info.TypeOf(node).(*types.Struct)); field != nil {
			c.fields[field] = true
		}
	case *ast.FuncDecl:
		function := c.info.Defs[node.Name].(*types.Func)
		parameters := function.Signature().Params()
		for at := range parameters.Len() {
			c.parameters[parameters.At(at)] = parameter{function, at}
		}
	case *ast.CallExpr:
		if name := nameOf(node.Fun); name != nil {
			if function, is := c.info.Uses[name].(*types.Func); is {
				c.called[name] = true
				c.calls[function.Origin()] = append(c.calls[function.Origin()], node)
			}
		}
	case *ast.AssignStmt:
		for i, left := range node.Lhs {
			c.give(left, assigned(node, i))
		}
	case *ast.ValueSpec:
		for i, name := range node.Names {
			if len(node.Values) == len(node.Names) {
				c.give(name, node.Values[i])
			} else {
				c.give(name, nil)
			}
		}
	case *ast.RangeStmt:
		c.give(node.Key, nil)
		c.give(node.Value, nil)
	case *ast.UnaryExpr:
		if node.Op == token.AND {
			c.give(node.X, nil)
		}
	}
}

// give notes what a variable is given.
func (c *errorCodes) give(variable, value ast.Expr) {
	if name, is := variable.(*ast.Ident); is {
		if object := c.info.ObjectOf(name); object != nil {
			c.given[object] = append(c.given[object], value)
		}
	}
}

// assigned is what the variable at a place of an assignment gets, nil if that is not an expression
// of its own.
func assigned(statement *ast.AssignStmt, at int) ast.Expr {
	if len(statement.Lhs) != len(statement.Rhs) || statement.Tok != token.ASSIGN && statement.Tok != token.DEFINE {
		return nil
	}
	return statement.Rhs[at]
}

// codeOfAnswer is the code of a struct that is an answer: it has members `error` and `code`.
func codeOfAnswer(s *types.Struct) *types.Var {
	members := map[string]*types.Var{}
	for i := range s.NumFields() {
		name, _, _ := strings.Cut(reflect.StructTag(s.Tag(i)).Get("json"), ",")
		members[name] = s.Field(i)
	}
	if members["error"] == nil {
		return nil
	}
	return members["code"]
}

// nameOf is the name that an expression refers to something by, with or without a package or a
// value in front of it.
func nameOf(expression ast.Expr) *ast.Ident {
	switch expression := ast.Unparen(expression).(type) {
	case *ast.Ident:
		return expression
	case *ast.SelectorExpr:
		return expression.Sel
	}
	return nil
}

// find looks for what writes a code.
func (c *errorCodes) find(node ast.Node) {
	switch node := node.(type) {
	case *ast.CompositeLit:
		switch of := c.info.TypeOf(node).Underlying().(type) {
		case *types.Struct:
			c.findInStruct(node, of)
		case *types.Map:
			if members := c.members(node); members["error"] != nil && members["code"] != nil {
				c.follow(node, members["code"])
			}
		}
	case *ast.AssignStmt:
		for i, left := range node.Lhs {
			if c.isCode(left) {
				c.follow(node, assigned(node, i))
			}
		}
	case *ast.UnaryExpr:
		if node.Op == token.AND && c.isCode(node.X) {
			c.follow(node, nil)
		}
	}
}

// findInStruct follows the code of a struct that is written out. An answer may have none if it is
// not about an error.
func (c *errorCodes) findInStruct(literal *ast.CompositeLit, of *types.Struct) {
	for i := range of.NumFields() {
		if !c.fields[of.Field(i)] {
			continue
		}
		members := c.members(literal)
		value := members["Code"]
		if members == nil && len(literal.Elts) > i {
			value = literal.Elts[i]
		}
		if value != nil || codeOfAnswer(of) == nil || members["Error"] != nil {
			c.follow(literal, value)
		}
	}
}

// members are what a composite literal writes out by name, by field or by constant key; nil if it
// names nothing.
func (c *errorCodes) members(literal *ast.CompositeLit) map[string]ast.Expr {
	var members map[string]ast.Expr
	for _, element := range literal.Elts {
		pair, is := element.(*ast.KeyValueExpr)
		if !is {
			continue
		}
		if members == nil {
			members = map[string]ast.Expr{}
		}
		if key := c.info.Types[pair.Key].Value; key != nil && key.Kind() == constant.String {
			members[constant.StringVal(key)] = pair.Value
		} else if name, is := pair.Key.(*ast.Ident); is {
			members[name.Name] = pair.Value
		}
	}
	return members
}

// isCode reports whether an expression is the code of an error or of an answer.
func (c *errorCodes) isCode(expression ast.Expr) bool {
	selector, is := ast.Unparen(expression).(*ast.SelectorExpr)
	if !is || c.info.Selections[selector] == nil {
		return false
	}
	field, is := c.info.Selections[selector].Obj().(*types.Var)
	return is && c.fields[field]
}

// follow finds the constants that a value can be.
func (c *errorCodes) follow(from ast.Node, value ast.Expr) {
	if value == nil {
		c.problems = append(c.problems, c.place(from)+": the code that is written here cannot be told from the source")
		return
	}
	if known := c.info.Types[value].Value; known != nil && known.Kind() == constant.String {
		code := constant.StringVal(known)
		c.codes[code] = append(c.codes[code], c.place(value))
		return
	}
	if c.isCode(value) {
		return // passed on: it was found where it was first written
	}
	name, is := ast.Unparen(value).(*ast.Ident)
	if !is {
		c.follow(value, nil)
		return
	}
	c.followVariable(name, c.info.ObjectOf(name))
}

// followVariable follows everything that a variable is given, and what a parameter is called with.
func (c *errorCodes) followVariable(name *ast.Ident, variable types.Object) {
	if c.followed[variable] {
		return
	}
	c.followed[variable] = true
	of, isParameter := c.parameters[variable]
	if isParameter {
		function := of.function
		// A method may be called through an interface, a function that is used as a value by
		// whoever has it.
		if function.Signature().Recv() != nil || function.Signature().Variadic() || c.asValue[function] {
			c.follow(name, nil)
		}
		for _, call := range c.calls[function] {
			if len(call.Args) == function.Signature().Params().Len() {
				c.follow(call, call.Args[of.at])
			} else {
				c.follow(call, nil)
			}
		}
	}
	for _, value := range c.given[variable] {
		c.follow(name, value)
	}
	if !isParameter && len(c.given[variable]) == 0 {
		c.follow(name, nil)
	}
}

func (c *errorCodes) place(node ast.Node) string {
	at := c.fileSet.Position(node.Pos())
	file, err := filepath.Rel(c.root, at.Filename)
	if err != nil {
		file = at.Filename
	}
	return filepath.ToSlash(file) + ":" + strconv.Itoa(at.Line)
}
