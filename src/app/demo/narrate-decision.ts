import { decideInSnapshot } from '@berth/placement/explain/verdict/decide-in-snapshot';
import { explainPlacement } from '@berth/placement/explain/explain-placement';
import type { ControllerEvent } from '../../controllers/events/controller-events.ts';
import type { Narrator } from './narrator.ts';

/** Describes a decision that changed something, with the reason why each cluster was selected or not. */
export function narrateDecision(
  narrator: Narrator,
  event: Extract<ControllerEvent, { kind: 'decided' }>,
): void {
  const { placement, added, removed, snapshot } = event;
  if (added.length === 0 && removed.length === 0) return;
  const [namespace = '', name = ''] = placement.split('/');
  const decision = decideInSnapshot(snapshot, { namespace, name });
  if (decision === undefined) return;
  const { summary, selected, refusals } = explainPlacement(decision.snapshot, decision.decided);
  narrator.print('decide', `${placement}: ${summary}`);
  for (const { cluster, score } of selected) {
    const parts = score.parts.map(
      ({ prioritizer, score: points, weight }) => `${prioritizer} ${points}×${weight}`,
    );
    narrator.detail(
      `+ ${cluster}: rank ${score.rank} of ${score.of} with ${score.total} points (${parts.join(', ')})`,
    );
  }
  for (const { clusters, text } of refusals) narrator.detail(`- ${clusters.join(', ')}: ${text}`);
}
