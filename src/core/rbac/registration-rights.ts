import { acceptedRules, REGISTRATION_RULES, WORK_RULES } from '../registration/acceptance/agent-rules.ts';
import type { RegistrationDuty } from '../registration/duties.ts';
import { renderRules } from './render-role.ts';
import { rights } from './rights.ts';

/** What Berth grants to agents: RBAC lets nobody grant rights that he does not have. */
const GRANTED = 'granted';

/** The parts of rights.yaml that each registration controller needs. */
const NEEDED: Readonly<Record<RegistrationDuty, readonly string[]>> = {
  acceptance: ['clusters', 'cluster-status', 'acceptance', 'certificate-requests', 'events', GRANTED],
  approval: ['certificate-requests', 'approval'],
  health: ['cluster-status', 'leases', 'events'],
  taints: ['clusters'],
  sets: ['sets', 'clusters', 'set-members', 'cluster-status'],
  cleanup: ['clusters', 'cluster-status', 'cleanup', 'events'],
};

/** Needed with `--registration`: rules as YAML lines. */
export function registrationRights(duties: readonly RegistrationDuty[]): readonly string[] {
  const parts = new Set(duties.flatMap((duty) => NEEDED[duty]));
  return [...parts].flatMap((part) => (part === GRANTED ? grantedToAgents() : rights(part)));
}

function grantedToAgents(): readonly string[] {
  const why =
    'Berth grants this to the agents of accepted clusters, each in its own namespace, and must hold it for that.';
  return renderRules(
    [...acceptedRules(''), ...REGISTRATION_RULES, ...WORK_RULES].map(({ apiGroups, ...rule }) => ({
      ...{ groups: apiGroups, resources: rule.resources, verbs: rule.verbs },
      why,
    })),
  );
}
