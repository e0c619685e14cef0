/** The command that prints the rights of `berth serve`, as messages about missing rights name it. */
export const SERVE_RIGHTS = 'berth serve --print-rbac';
