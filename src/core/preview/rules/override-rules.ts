import { canonicalJson } from '@berth/runtime/json/json-equal';
import type { Digest } from '../../publish/approval/approval-code.ts';
import { brokenRules, denies } from '../plan-text.ts';
import type { Plan } from '../plan.ts';
import type { RuleResult } from '../plan-verdict.ts';

/** An owner of a guard rule lets one change pass in spite of the rule. */
export interface RuleOverride {
  /** The name of the rule. */
  readonly rule: string;
  readonly by: string;
  readonly reason: string;
  /** Identifies what the plan changes. */
  readonly change: string;
}

/** The rules that deny a change. */
export interface DeniedChange {
  readonly change: string;
  readonly rules: readonly Pick<RuleResult, 'name' | 'owners'>[];
}

/** What the rules of the base deny, without any override. */
export function deniedChange(digest: Digest, plan: Plan): DeniedChange {
  const rules = brokenRules(plan)
    .filter(({ effect }) => effect === 'deny')
    .map(({ name, owners }) => ({ name, owners }));
  return { change: rules.length === 0 ? '' : changeOf(digest, plan), rules };
}

/** The plan with the overrides that are for exactly this change. */
export function overrideRules(
  plan: Plan,
  { change }: DeniedChange,
  overrides: readonly RuleOverride[],
): Plan {
  if (plan.rules === undefined) return plan;
  const base = plan.rules.base.map((rule) => {
    const found = overrides.find((one) => one.rule === rule.name && one.change === change);
    if (found === undefined || rule.outcome === 'kept' || !denies(rule)) return rule;
    return { ...rule, overridden: { by: found.by, reason: found.reason } };
  });
  return { ...plan, rules: { ...plan.rules, base } };
}

/** What a plan moves and changes, without times, places in files and what is only said about it. */
function changeOf(digest: Digest, plan: Plan): string {
  const { placements, deletionsHeld, addOnsHeld, objects, workloads, applications } = plan;
  const content = [
    ...[placements, deletionsHeld, addOnsHeld].map((list) => list.map(({ token }) => token)),
    objects.map(({ location: _location, ...object }) => object),
    ...[workloads, applications],
  ];
  return digest(canonicalJson(content)).slice(0, 12);
}
