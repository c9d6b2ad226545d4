package catalog

import "fmt"

// demoZones are well-known parts of some districts of Lima, by ubigeo.
var demoZones = []struct {
	ubigeo string
	names  []string
}{
	{"150103", []string{"Huaycán", "Salamanca", "Santa Clara", "Vitarte"}},                    // Ate
	{"150110", []string{"Año Nuevo", "Collique", "El Retablo", "Santa Luzmila"}},              // Comas
	{"150114", []string{"Camacho", "La Planicie", "Rinconada del Lago"}},                      // La Molina
	{"150117", []string{"Covida", "Pro", "Villa Sol"}},                                        // Los Olivos
	{"150122", []string{"Aurora", "San Antonio", "Santa Cruz"}},                               // Miraflores
	{"150130", []string{"Corpac", "San Borja Norte", "San Borja Sur", "Torres de Limatambo"}}, // San Borja
	{"150132", []string{"Campoy", "Canto Grande", "Mangomarca", "Zárate"}},                    // San Juan de Lurigancho
	{"150140", []string{"Chacarilla del Estanque", "Higuereta", "Monterrico", "San Roque"}},   // Santiago de Surco
}

// DemoZones returns zones to try the service with. No public source gives zones
// their limits or centres, so they have no coordinates.
func DemoZones() []Location {
	districts := map[string]Location{}
	for _, location := range peruvianLocations() {
		if location.Type == TypeDistrict {
			districts[location.Ubigeo] = location
		}
	}
	var zones []Location
	for _, group := range demoZones {
		district, found := districts[group.ubigeo]
		if !found {
			panic(fmt.Errorf("catalog: demo zones of an unknown district %s", group.ubigeo))
		}
		for _, name := range group.names {
			zones = append(zones, NewZone(district, name))
		}
	}
	return zones
}
