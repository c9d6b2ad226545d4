package panel

import "net/http"

const keyboardPath = "/panel/teclas"

// keyboardKeys are the keys of the panel's scripts, for the page that lists them.
var keyboardKeys = []struct{ Keys, Does string }{
	{"/", "Ir a la búsqueda, desde cualquier página. Una guía exacta abre su pedido."},
	{"↓ ↑", "Pasar de un pedido a otro en una lista, y en Asignación también por los distritos."},
	{"Enter", "Abrir el pedido en el que está, o abrir y cerrar el distrito."},
	{"x", "Marcar el pedido o el distrito en el que está, o quitarle la marca."},
	{"?", "Ver estas teclas."},
	{"Tab", "La primera vez que se presiona en una página lleva a su contenido o a su lista."},
	{"Esc", "Cerrar lo que está desplegado."},
}

func (p *Pages) showKeyboard(v *Request) error {
	return p.show(v, http.StatusOK, "keyboard", "Teclas", keyboardKeys)
}
