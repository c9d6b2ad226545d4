package maplink

import "strings"

// service is a map service: the hosts whose links are parsed in the same way.
type service int

const (
	serviceUnknown service = iota
	serviceGoogle
	serviceWaze
	serviceApple
	serviceOSM
	servicePlusCodes
	serviceShort
)

var servicesByHost = map[string]service{
	"waze.com": serviceWaze, "www.waze.com": serviceWaze, "ul.waze.com": serviceWaze, "embed.waze.com": serviceWaze,
	"waze.to": serviceWaze,

	"maps.apple.com": serviceApple,

	"openstreetmap.org": serviceOSM, "www.openstreetmap.org": serviceOSM, "osm.org": serviceOSM, "www.osm.org": serviceOSM,

	"plus.codes": servicePlusCodes, "www.plus.codes": servicePlusCodes,
}

// shortHosts are the hosts of short links, each with its paths for maps. No other host is ever
// requested.
var shortHosts = map[string][]string{
	"maps.app.goo.gl": {"/"},
	"app.goo.gl":      {"/"},
	"goo.gl":          {"/maps/"},
	"g.co":            {"/kgs/", "/maps/"},
	"maps.apple":      {"/p/"},
	"maps.apple.com":  {"/p/"},
}

// googleDomains are the suffixes after "google.". They are listed one by one: a pattern would
// accept google.com.example.
var googleDomains = setOf(`com ac ad ae al am as at az ba be bf bg bi bj bs bt by ca cat cc cd cf cg ch ci cl cm cn cv cz
	de dj dk dm dz ee es fi fm fr ga ge gf gg gl gm gp gr gy hn hr ht hu ie im io iq is it je jo kg ki kz la li lk lt lu lv
	md me mg mk ml mn ms mu mv mw ne nl no nr nu pl pn ps pt ro rs ru rw sc se sh si sk sm sn so sr st td tg tk tl tm tn to
	tt us vg vu ws
	co.ao co.bw co.ck co.cr co.id co.il co.in co.jp co.ke co.kr co.ls co.ma co.mz co.nz co.th co.tz co.ug co.uk co.uz co.ve
	co.vi co.za co.zm co.zw
	com.af com.ag com.ai com.ar com.au com.bd com.bh com.bn com.bo com.br com.bz com.co com.cu com.cy com.do com.ec com.eg
	com.et com.fj com.gh com.gi com.gt com.hk com.jm com.kh com.kw com.lb com.lc com.ly com.mm com.mt com.mx com.my com.na
	com.nf com.ng com.ni com.np com.om com.pa com.pe com.pg com.ph com.pk com.pr com.py com.qa com.sa com.sb com.sg com.sl
	com.sv com.tj com.tr com.tw com.ua com.uy com.vc com.vn`)

func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// serviceOf returns the service of a host, and of its path where a host serves more than maps.
func serviceOf(host, path string) service {
	for _, prefix := range shortHosts[host] {
		if strings.HasPrefix("/"+strings.TrimPrefix(path, "/"), prefix) {
			return serviceShort
		}
	}
	if known, ok := servicesByHost[host]; ok {
		return known
	}
	subdomain, domain, ok := strings.Cut("."+host, ".google.")
	if !ok || !googleDomains[domain] {
		return serviceUnknown
	}
	switch subdomain {
	case ".www", ".maps", ".consent":
		return serviceGoogle
	case "":
		if path == "/maps" || strings.HasPrefix(path, "/maps/") {
			return serviceGoogle
		}
	}
	return serviceUnknown
}
