import { formatRef } from '@berth/kube/model/object-ref';
import { objectNote, rolloutText, staggeredRollouts, workloadVerb } from '../plan-text.ts';
import type { Plan, WorkloadPlan } from '../plan.ts';
import { details, fieldList, items, MAX_MOVES, names } from './comment-blocks.ts';
import { code, prose } from './foreign-text.ts';

/** The works that are created, changed, moved and deleted. */
export function workloadBlocks({ workloads }: Plan): readonly string[] {
  if (workloads.length === 0) return [];
  const lines = workloads.flatMap((plan) => {
    const { kind, namespace, name, added, removed, kept } = plan;
    const where = [
      added.length > 0 ? `+ ${names(added)}` : '',
      removed.length > 0 ? `− ${names(removed)}` : '',
      kept > 0 ? `stays on ${kept}` : '',
    ].filter((part) => part !== '');
    return [
      `- ${code(formatRef({ kind, namespace, name }))} ${workloadVerb(plan)}: ${where.join('; ') || 'on no cluster'}`,
      ...manifestLines(plan),
    ];
  });
  return [details(`Workloads (${workloads.length})`, items(lines))];
}

function manifestLines({ manifests, changedOn }: WorkloadPlan): readonly string[] {
  if (manifests.length === 0) return [];
  const lines = manifests
    .slice(0, MAX_MOVES)
    .map(({ change, ref, fields }) => `  - ${change} ${code(formatRef(ref))}${fieldList(fields)}`);
  const more = manifests.length - lines.length;
  return [`  - on ${names(changedOn)}`, ...lines, ...(more > 0 ? [`  - … and ${more} more`] : [])];
}

/** How changed works are rolled out step by step. */
export function rolloutBlocks(plan: Plan): readonly string[] {
  const staggered = staggeredRollouts(plan);
  if (staggered.length === 0) return [];
  const lines = staggered.map(
    (forecast) => `- ${code(formatRef(forecast))}: ${prose(rolloutText(forecast))}`,
  );
  return [details(`Rollouts (${staggered.length})`, items(lines))];
}

/** The objects that the commit itself changes. */
export function objectBlocks({ objects }: Plan): readonly string[] {
  if (objects.length === 0) return [];
  const lines = objects.map((object) => {
    const { change, ref, fields } = object;
    const what = fieldList(fields.map((path) => ({ path })));
    return `- ${change} ${code(formatRef(ref))}${what}${prose(objectNote(object))}`;
  });
  return [details(`Changed objects (${objects.length})`, items(lines))];
}
