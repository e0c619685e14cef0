/** The commands that print the rights of Berth's processes, as messages about missing rights name them. */
export const SERVE_RIGHTS = 'berth serve --print-rbac';
export const AGENT_RIGHTS = 'berth agent --print-rbac';
