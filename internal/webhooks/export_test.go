package webhooks

// What tests read and write of a webhook.
var (
	ReadHook       = readHook
	SaveSecrets    = saveSecrets
	DeactivateHook = deactivateHook
)
