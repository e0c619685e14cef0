/** The command that prints the rights of an agent, as messages about missing rights name it. */
export const AGENT_RIGHTS = 'berth agent --print-rbac';
