package docs

import (
	"fmt"
	"html/template"
	"strings"
)

// sample is a program that sends an operation's example request.
type sample struct {
	Language string
	Code     template.HTML
}

// sent is a request as a sample sends it.
type sent struct {
	method, url string
	// variable is the environment variable of the credential, which goes into a header after a prefix.
	header, prefix, variable string
	headers                  [][2]string
	body                     node
}

var credentials = map[string]sent{
	"X-API-Key": {header: "X-API-Key", variable: "DESPACHO_KEY"},
	"Bearer":    {header: "Authorization", prefix: "Bearer ", variable: "DESPACHO_TOKEN"},

	"cookie del celular": {header: "Cookie", prefix: "despacho_rider=", variable: "DESPACHO_RIDER"},
}

// samples are an operation's request in every language. There is none of a form with a file.
func (b *builder) samples(method, path string, op node) []sample {
	if formOnly(op) {
		return nil
	}
	s := sent{}
	if access := b.access(op); len(access) > 0 {
		s = credentials[access[0]]
	}
	target, headers := exampleTarget(path, op)
	s.method, s.url, s.headers = strings.ToUpper(method), b.baseURL+target, headers
	if s.body = firstExample(op.get("requestBody", "content", "application/json")); s.body.exists() {
		s.headers = append(s.headers, [2]string{"Content-Type", "application/json"})
	}
	var list []sample
	for _, language := range []struct {
		name  string
		write func() string
	}{{"curl", s.curl}, {"Go", s.golang}, {"TypeScript", s.typescript}, {"Python", s.python}, {"PHP", s.php}} {
		list = append(list, sample{language.name, escaped(language.write())})
	}
	return list
}

// formOnly reports whether the request's body can only be a form.
func formOnly(op node) bool {
	content := op.get("requestBody", "content")
	return content.exists() && !content.get("application/json").exists()
}

// escaped leaves quotation marks as they are, unlike the template: samples are full of them.
func escaped(text string) template.HTML {
	return template.HTML(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text))
}

func (s sent) curl() string {
	command := "curl "
	if s.method != "GET" {
		command += "-X " + s.method + " "
	}
	parts := []string{command + `"` + s.url + `"`}
	if s.variable != "" {
		parts = append(parts, fmt.Sprintf(`-H "%s: %s$%s"`, s.header, s.prefix, s.variable))
	}
	for _, header := range s.headers {
		parts = append(parts, "-H "+shellQuote(header[0]+": "+header[1]))
	}
	if s.body.exists() {
		parts = append(parts, "-d "+shellQuote(written(s.body, jsonNotation, "")))
	}
	return strings.Join(parts, " \\\n  ")
}

func (s sent) golang() string {
	body := "nil"
	var lines []string
	if s.body.exists() {
		body = "body"
		lines = append(lines, "body := strings.NewReader("+goQuote(written(s.body, jsonNotation, ""))+")")
	}
	lines = append(lines, fmt.Sprintf("request, err := http.NewRequest(%q, %q, %s)", s.method, s.url, body), "if err != nil {",
		"\treturn err", "}")
	if s.variable != "" {
		value := fmt.Sprintf("os.Getenv(%q)", s.variable)
		if s.prefix != "" {
			value = fmt.Sprintf("%q+%s", s.prefix, value)
		}
		lines = append(lines, fmt.Sprintf("request.Header.Set(%q, %s)", s.header, value))
	}
	for _, header := range s.headers {
		lines = append(lines, fmt.Sprintf("request.Header.Set(%q, %s)", header[0], goQuote(header[1])))
	}
	lines = append(lines, "response, err := http.DefaultClient.Do(request)", "if err != nil {", "\treturn err", "}",
		"defer response.Body.Close()",
		"_, err = io.Copy(os.Stdout, response.Body)", "return err")
	return strings.Join(lines, "\n")
}

func (s sent) typescript() string {
	options := []string{"method: " + quote(s.method)}
	if headers := s.pairs(`process.env.%s ?? ""`); headers != "" {
		options = append(options, "headers: { "+headers+" }")
	}
	if s.body.exists() {
		options = append(options, "body: JSON.stringify("+written(s.body, jsonNotation, "  ")+")")
	}
	return "const response = await fetch(" + quote(s.url) + ", {\n  " + strings.Join(options, ",\n  ") +
		",\n});\nconsole.log(response.status, await response.text());"
}

func (s sent) python() string {
	arguments := []string{quote(s.url), "method=" + quote(s.method)}
	if headers := s.pairs(`os.environ["%s"]`); headers != "" {
		arguments = append(arguments, "headers={"+headers+"}")
	}
	modules := "os, urllib.request"
	if s.body.exists() {
		modules = "json, " + modules
		arguments = append(arguments, "data=json.dumps("+written(s.body, pythonNotation, "    ")+").encode()")
	}
	return "import " + modules + "\n\nrequest = urllib.request.Request(\n    " + strings.Join(arguments, ",\n    ") +
		",\n)\nwith urllib.request.urlopen(request) as response:\n    print(response.status, response.read().decode())"
}

func (s sent) php() string {
	options := []string{"'method' => " + phpQuote(s.method)}
	var headers []string
	if s.variable != "" {
		headers = append(headers, fmt.Sprintf("%s . getenv('%s')", phpQuote(s.header+": "+s.prefix), s.variable))
	}
	for _, header := range s.headers {
		headers = append(headers, phpQuote(header[0]+": "+header[1]))
	}
	if len(headers) > 0 {
		options = append(options, "'header' => ["+strings.Join(headers, ", ")+"]")
	}
	if s.body.exists() {
		options = append(options, "'content' => json_encode("+written(s.body, phpNotation, "    ")+")")
	}
	return "$context = stream_context_create(['http' => [\n    " + strings.Join(options, ",\n    ") +
		",\n]]);\necho file_get_contents(" + phpQuote(s.url) + ", false, $context);"
}

// pairs writes the headers as members of an object. environment formats the reading of a variable.
func (s sent) pairs(environment string) string {
	var list []string
	if s.variable != "" {
		value := fmt.Sprintf(environment, s.variable)
		if s.prefix != "" {
			value = quote(s.prefix) + " + (" + value + ")"
		}
		list = append(list, quote(s.header)+": "+value)
	}
	for _, header := range s.headers {
		list = append(list, quote(header[0])+": "+quote(header[1]))
	}
	return strings.Join(list, ", ")
}

func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func phpQuote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}

// goQuote writes a text as a raw string where that is easier to read and Go has one for it.
func goQuote(text string) string {
	if strings.ContainsAny(text, "`\r") || !strings.ContainsAny(text, "\"\n") {
		return fmt.Sprintf("%q", text)
	}
	return "`" + text + "`"
}
