package operators

import "despacho/internal/apperror"

// Errors shown in the panel.
var (
	ErrKeyNotFound      = apperror.New(apperror.NotFound, "key_not_found", "La clave no existe o ya está revocada.")
	ErrStoreNotFound    = apperror.New(apperror.NotFound, "store_not_found", "La tienda no existe.")
	ErrRiderNotFound    = apperror.New(apperror.NotFound, "rider_not_found", "El motorizado no existe.")
	ErrBranchNotFound   = apperror.New(apperror.NotFound, "branch_not_found", "La sucursal no existe.")
	ErrSizeNotFound     = apperror.New(apperror.NotFound, "size_not_found", "La talla no existe.")
	ErrCoverageNotFound = apperror.New(apperror.NotFound, "coverage_not_found", "La cobertura no existe.")
	ErrRiskZoneNotFound = apperror.New(apperror.NotFound, "risk_zone_not_found", "La zona de riesgo no existe.")
	ErrUserNotFound     = apperror.New(apperror.NotFound, "user_not_found", "El usuario no existe.")

	ErrMainBranch   = apperror.New(apperror.Conflict, "main_branch_required", "Siempre hay una sucursal principal activa: primero haga principal a otra.")
	ErrDefaultSize  = apperror.New(apperror.Conflict, "default_size_required", "Siempre hay una talla predeterminada activa: primero elija otra.")
	ErrCodeTaken    = apperror.New(apperror.Conflict, "size_code_taken", "Ya hay una talla con ese código.")
	ErrCoveredTwice = apperror.New(apperror.Conflict, "location_already_covered", "Esa ubicación ya está en la cobertura: cambie su precio.")
	ErrEmailTaken   = apperror.New(apperror.Conflict, "email_taken", "Ya hay un usuario con ese correo.")
	ErrLastAdmin    = apperror.New(apperror.Conflict, "last_admin", "Es el último administrador activo: primero nombre a otro.")

	ErrBadSignIn  = apperror.New(apperror.Unauthenticated, "invalid_credentials", "El correo o la contraseña no son correctos.")
	ErrNoSession  = apperror.New(apperror.Unauthenticated, "no_session", "Inicie sesión para continuar.")
	ErrNotAllowed = apperror.New(apperror.Forbidden, "role_not_allowed", "Su usuario no tiene permiso para esta acción.")
	ErrSuspended  = apperror.New(apperror.Forbidden, "operator_suspended", "El operador está suspendido: puede consultar, pero no hacer cambios.")
)
