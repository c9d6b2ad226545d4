package operators

import (
	"errors"

	"despacho/internal/apperror"
)

// Errors shown in the panel.
var (
	ErrKeyNotFound      = apperror.New(apperror.NotFound, "key_not_found", "La clave no existe o ya está revocada.")
	ErrStoreNotFound    = apperror.New(apperror.NotFound, "store_not_found", "La tienda no existe.")
	ErrBranchNotFound   = apperror.New(apperror.NotFound, "branch_not_found", "La sucursal no existe.")
	ErrSizeNotFound     = apperror.New(apperror.NotFound, "size_not_found", "El tamaño no existe.")
	ErrCoverageNotFound = apperror.New(apperror.NotFound, "coverage_not_found", "La cobertura no existe.")
	ErrPriceNotFound    = apperror.New(apperror.NotFound, "store_price_not_found", "La tarifa de la tienda no existe.")
	ErrRiskZoneNotFound = apperror.New(apperror.NotFound, "risk_zone_not_found", "La zona de riesgo no existe.")
	// ErrOwnAccount keeps administrators from changing their own password or second factor without
	// proving who they are: a stolen session must not be enough for that.
	ErrOwnAccount = apperror.New(apperror.Forbidden, "own_account",
		"Es su propio usuario: cámbielo en Mi cuenta, con su contraseña.")
	ErrUserNotFound = apperror.New(apperror.NotFound, "user_not_found", "El usuario no existe.")

	ErrMainBranch = apperror.New(apperror.Conflict, "main_branch_required",
		"Siempre hay una sucursal principal activa: primero haga principal a otra.")
	ErrDefaultSize = apperror.New(apperror.Conflict, "default_size_required",
		"Siempre hay un tamaño predeterminado activo: primero elija otro.")
	// ErrStoreNameTaken is for a name that differs from another store's in case or accents at most:
	// people and files tell stores apart by their names.
	ErrStoreNameTaken = &apperror.Error{
		Kind: apperror.Conflict, Code: "store_name_taken", Message: "Ya hay una tienda con ese nombre.",
		Fields: []apperror.Field{{Field: "name", Message: "ya hay una tienda con ese nombre"}},
	}
	ErrCodeTaken    = apperror.New(apperror.Conflict, "size_code_taken", "Ya hay un tamaño con ese código.")
	ErrCoveredTwice = apperror.New(apperror.Conflict, "location_already_covered",
		"Esa ubicación ya está en la cobertura: cambie su precio.")
	// ErrPriceOverlaps is for a second price of the same on some day.
	ErrPriceOverlaps = &apperror.Error{
		Kind: apperror.Conflict, Code: "store_price_overlaps",
		Message: "La tienda ya tiene otra tarifa para lo mismo en esos días: cambie las fechas, o póngale fin a la otra.",
		Fields:  []apperror.Field{{Field: "from_day", Message: "la tienda ya tiene otra tarifa para lo mismo en esos días"}},
	}
	ErrEmailTaken  = apperror.New(apperror.Conflict, "email_taken", "Ya hay un usuario con ese correo.")
	ErrTooManyKeys = apperror.New(apperror.Conflict, "too_many_keys",
		"Su plan no admite más claves activas: revoque una que ya no se use.")
	// ErrEmailUnavailable does not say why: e-mail addresses are unique over all operators, and who
	// works for another one is not this operator's business.
	ErrEmailUnavailable = apperror.New(apperror.Conflict, "email_unavailable", "Ese correo no se puede usar: escriba otro.")
	ErrLastAdmin        = apperror.New(apperror.Conflict, "last_admin",
		"Es el último administrador activo: primero nombre a otro.")

	ErrBadSignIn = apperror.New(apperror.Unauthenticated, "invalid_credentials",
		"El correo o la contraseña no son correctos.")
	ErrCodeNeeded    = apperror.New(apperror.Unauthenticated, "second_factor_needed", "Falta el código de su segundo factor.")
	ErrBadCode       = apperror.New(apperror.Unauthenticated, "invalid_second_factor", "El código no es correcto, o ya se usó.")
	ErrNoSession     = apperror.New(apperror.Unauthenticated, "no_session", "Inicie sesión para continuar.")
	ErrNotAllowed    = apperror.New(apperror.Forbidden, "role_not_allowed", "Su usuario no tiene permiso para esta acción.")
	ErrStoreInactive = apperror.New(apperror.Forbidden, "store_inactive", "La tienda está desactivada.")
	ErrSuspended     = apperror.New(apperror.Forbidden, "operator_suspended",
		"El operador está suspendido: puede consultar, pero no hacer cambios.")

	ErrSecondStepExpired = apperror.New(apperror.Unauthenticated, "sign_in_expired",
		"Pasó demasiado tiempo: ingrese de nuevo.")
	ErrSecondFactorRequired = apperror.New(apperror.Forbidden, "second_factor_required",
		"El operador pide un segundo factor a sus administradores: actívelo en su cuenta para continuar.")
	ErrSecondFactorActive = apperror.New(apperror.Conflict, "second_factor_active",
		"Ya tiene un segundo factor: quítelo antes de activar otro.")
	ErrNoSecondFactor = apperror.New(apperror.Conflict, "no_second_factor", "No hay un segundo factor: actívelo primero.")
	ErrResetExpired   = apperror.New(apperror.NotFound, "reset_not_found",
		"El enlace ya se usó o venció: pida otro a un administrador.")
)

// isWrongCode reports whether a code of the second factor was refused.
func isWrongCode(err error) bool { return errors.Is(err, ErrBadCode) || errors.Is(err, ErrCodeNeeded) }
