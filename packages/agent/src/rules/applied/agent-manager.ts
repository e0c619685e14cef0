/** Field manager of everything the agent writes that is not applied under another name. */
export const AGENT_MANAGER = 'work-agent';
