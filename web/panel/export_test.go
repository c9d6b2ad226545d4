package panel

// UploadMembers are the members of a creation request that the columns of an uploaded file fill.
func UploadMembers() []string {
	var members []string
	for _, column := range uploadColumns {
		if column.Member != "" {
			members = append(members, column.Member)
		}
	}
	return members
}
