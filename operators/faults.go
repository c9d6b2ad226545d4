package operators

import "despacho/internal/fault"

// What the operator's people are told in the panel.
var (
	ErrKeyNotFound      = fault.New(fault.NotFound, "key_not_found", "La clave no existe o ya está revocada.")
	ErrStoreNotFound    = fault.New(fault.NotFound, "store_not_found", "La tienda no existe.")
	ErrRiderNotFound    = fault.New(fault.NotFound, "rider_not_found", "El motorizado no existe.")
	ErrBranchNotFound   = fault.New(fault.NotFound, "branch_not_found", "La sucursal no existe.")
	ErrSizeNotFound     = fault.New(fault.NotFound, "size_not_found", "La talla no existe.")
	ErrCoverageNotFound = fault.New(fault.NotFound, "coverage_not_found", "La cobertura no existe.")
	ErrRiskZoneNotFound = fault.New(fault.NotFound, "risk_zone_not_found", "La zona de riesgo no existe.")
	ErrUserNotFound     = fault.New(fault.NotFound, "user_not_found", "El usuario no existe.")

	ErrMainBranch   = fault.New(fault.Conflict, "main_branch_required", "Siempre hay una sucursal principal activa: primero haga principal a otra.")
	ErrDefaultSize  = fault.New(fault.Conflict, "default_size_required", "Siempre hay una talla predeterminada activa: primero elija otra.")
	ErrCodeTaken    = fault.New(fault.Conflict, "size_code_taken", "Ya hay una talla con ese código.")
	ErrCoveredTwice = fault.New(fault.Conflict, "location_already_covered", "Esa ubicación ya está en la cobertura: cambie su precio.")
	ErrEmailTaken   = fault.New(fault.Conflict, "email_taken", "Ya hay un usuario con ese correo.")
	ErrLastAdmin    = fault.New(fault.Conflict, "last_admin", "Es el último administrador activo: primero nombre a otro.")
)
