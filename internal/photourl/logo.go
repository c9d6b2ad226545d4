package photourl

// LogoPath is where uploaded logos are served, below the service's own address.
const LogoPath = "/logos"

// Logo is the address of an uploaded logo. Anybody may see it: it has no signature and never
// expires. With an empty baseURL it is a path.
func Logo(baseURL, name string) string { return baseURL + LogoPath + "/" + name }
