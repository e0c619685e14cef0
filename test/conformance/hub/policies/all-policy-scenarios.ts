import type { Scenario } from '../webhooks/scenario.ts';
import { KIND_SCENARIOS } from './kind-scenarios.ts';
import { MATCH_SCENARIOS } from './match-scenarios.ts';
import { PARAM_SCENARIOS } from './param-scenarios.ts';
import { VERDICT_SCENARIOS } from './verdict-scenarios.ts';

/** What a kube-apiserver 1.35 answered to them, one scenario a line. */
export const POLICY_RECORDING = new URL('recorded.jsonl', import.meta.url);

export function allPolicyScenarios(): readonly Scenario[] {
  return [...KIND_SCENARIOS, ...VERDICT_SCENARIOS, ...MATCH_SCENARIOS, ...PARAM_SCENARIOS];
}
